"""Feedback of a turn for those who keep the glossary: the senses that were meant, and the terms that have none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argot.graph.state_records import EXPLAINED_SENSE


@dataclass(frozen=True, slots=True)
class GlossaryFeedback:
    """Findings of one turn about the glossary.

    Attributes:
        question: in the asker's words.
        senses: ids of the senses its terms were read as; empty while a choice is open.
        guessed: terms of which several senses fitted about equally well.
        missed: terms nobody defined, as the asker was told.
        undefined: terms nobody defined, of which the asker was told nothing: the documents speak of them.
    """

    question: str
    senses: tuple[int, ...] = ()
    guessed: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()


def read_feedback(turn: Mapping[str, Any], *, waiting: bool = False) -> GlossaryFeedback:
    """Return what a turn's state tells about the glossary; while it waits for a choice, the missed terms alone."""
    missed = tuple(dict.fromkeys(miss["term"] for miss in (*turn["misses"], *turn["unknown"])))
    # A term read as its best sense for now must not be counted as used in that sense.
    if waiting:
        return GlossaryFeedback(turn["question"], missed=missed)
    readings = turn["readings"]
    senses = dict.fromkeys(one["sense"] for one in readings if one["sense"] != EXPLAINED_SENSE)
    guessed = dict.fromkeys(one["term"] for one in readings if not one["settled"])
    return GlossaryFeedback(turn["question"], tuple(senses), tuple(guessed), missed, _list_undefined(turn))


def _list_undefined(turn: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the terms that were looked up without result and not mentioned to the asker."""
    # With several mentions of one term each is compared by its place, as the readings are.
    looked_up = {one["mention"] for one in turn["readings"] if not one.get("meaning")}
    # What the asker let be ("answer anyway") was told before that.
    told = {miss["term"] for miss in turn["misses"]} | {miss["term"] for miss in turn["unknown"]} | set(turn["let_be"])
    terms = [
        mention["term"] or mention["surface"]
        for place, mention in enumerate(turn["mentions"])
        # What the question explains is no gap: the asker knows it, whether the glossary does or not.
        if place not in looked_up and not mention["explained"]
    ]
    return tuple(dict.fromkeys(term for term in terms if term not in told))
