"""The readings of passages for several wordings of a question, and conversion between chances and log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np

from argot.protocols import PassageReader, PassageReading
from argot.types import Passage

_MIN_CHANCE = 1e-6  # stands for a chance of 0, whose log-odds are infinite


def read_best_wordings(
    reader: PassageReader, wordings: Sequence[tuple[str, float]], passages: Sequence[Passage]
) -> list[PassageReading]:
    """Read each passage closely for the wording of the question, with its weight, that it answers best: a passage may
    only have the abbreviation of a term. The weight counts in the relevance.
    """
    quick = [[weight * one.relevance for one in reader.read_passages(text, passages)] for text, weight in wordings]
    best = [max(range(len(wordings)), key=lambda number: quick[number][place]) for place in range(len(passages))]
    read: dict[int, PassageReading] = {}
    for number, (text, weight) in enumerate(wordings):
        places = [place for place, chosen in enumerate(best) if chosen == number]
        for place, one in zip(places, reader.read_closely(text, [passages[place] for place in places]), strict=True):
            read[place] = PassageReading(weight * one.relevance, one.units)
    return [read[place] for place in range(len(passages))]


def to_chance(logits: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(logits, -30, 30)))


def to_log_odds(chance: float) -> float:
    return log(max(chance, _MIN_CHANCE) / max(1 - chance, _MIN_CHANCE))
