"""The readings of passages for the several wordings of a question, and chances as log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np

from argot.protocols import PassageReader, PassageReading
from argot.types import Passage

FIRST_PASSAGES = 3
SURE_RELEVANCE = 0.9
"""Number of the passages that are always read closely, and the relevance of one of them from which the others are not.
Chosen on the validation questions of `lay_train`."""
_LEAST_CHANCE = 1e-6  # stands for a chance of 0, whose log-odds are infinite


def read_best_wordings(
    reader: PassageReader, wordings: Sequence[tuple[str, float]], passages: Sequence[Passage]
) -> list[PassageReading]:
    """Read each passage for the wording of the question, with its weight, that it answers best: a passage may only have
    the abbreviation of a term. The weight counts in the relevance.

    The first passages are read closely. The others are, too, unless one of the first surely answers: a close reading
    takes half of the time of a question, and then hardly ever changes the answer.
    """
    quick = _weigh_readings([reader.read_passages(text, passages) for text, _ in wordings], wordings)
    best = [
        max(range(len(wordings)), key=lambda number: quick[number][place].relevance) for place in range(len(passages))
    ]
    readings = [quick[number][place] for place, number in enumerate(best)]
    for places in (range(len(passages))[:FIRST_PASSAGES], range(len(passages))[FIRST_PASSAGES:]):
        if any(one.relevance >= SURE_RELEVANCE for one in readings[: places.start]):
            break
        for number, (text, weight) in enumerate(wordings):
            chosen = [place for place in places if best[place] == number]
            close = reader.read_closely(text, [passages[place] for place in chosen])
            for place, one in zip(chosen, close, strict=True):
                readings[place] = _weigh_reading(one, weight)
    return readings


def _weigh_readings(
    of_wordings: Sequence[Sequence[PassageReading]], wordings: Sequence[tuple[str, float]]
) -> list[list[PassageReading]]:
    return [
        [_weigh_reading(one, weight) for one in readings]
        for readings, (_, weight) in zip(of_wordings, wordings, strict=True)
    ]


def _weigh_reading(reading: PassageReading, weight: float) -> PassageReading:
    return PassageReading(weight * reading.relevance, reading.units)


def to_chance(logits: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(logits, -30, 30)))


def to_log_odds(chance: float) -> float:
    return log(max(chance, _LEAST_CHANCE) / max(1 - chance, _LEAST_CHANCE))
