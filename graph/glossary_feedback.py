"""Feedback of a turn for glossary managers: the senses that were meant, and the terms that have none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argot.graph.state_records import EXPLAINED_SENSE


@dataclass(frozen=True, slots=True)
class GlossaryFeedback:
    """Findings of one turn about the glossary.

    Attributes:
        question: in the asker's words; `meant`: as it was understood, by itself.
        senses: ids of the senses its terms were read as; empty while a choice is open.
        guessed: terms for which several senses fitted about equally well.
        missed: undefined terms that the asker was informed about.
        undefined: undefined terms that the asker was not informed about, because the documents mention them.
    """

    question: str
    senses: tuple[int, ...] = ()
    guessed: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()
    meant: str = ""


def read_feedback(turn: Mapping[str, Any], *, waiting: bool = False) -> GlossaryFeedback:
    """Return the glossary feedback in a turn's state; while the turn waits for a choice, only the missed terms."""
    missed = tuple(dict.fromkeys(miss["term"] for miss in (*turn["misses"], *turn["unknown"])))
    # A term that is provisionally read as its best sense must not be counted as used in that sense.
    if waiting:
        return GlossaryFeedback(turn["question"], missed=missed)
    readings = turn["readings"]
    senses = dict.fromkeys(one["sense"] for one in readings if one["sense"] != EXPLAINED_SENSE)
    guessed = dict.fromkeys(one["term"] for one in readings if not one["settled"])
    undefined, meant = _list_undefined(turn), turn["stand_alone_question"]
    return GlossaryFeedback(turn["question"], tuple(senses), tuple(guessed), missed, undefined, meant)


def _list_undefined(turn: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the terms that were looked up without result and not mentioned to the asker."""
    # With several mentions of one term, each is compared by its position, as the readings are.
    looked_up = {one["mention"] for one in turn["readings"] if not one.get("meaning")}
    # A term that the asker skipped ("answer anyway") was mentioned before that.
    mentioned = (
        {miss["term"] for miss in turn["misses"]} | {miss["term"] for miss in turn["unknown"]} | set(turn["let_be"])
    )
    # Doubtful terms are in the glossary, though not in the documents' sense.
    mentioned |= {doubt["term"] for doubt in turn.get("doubted", ()) if doubt["senses"]}
    terms = [
        mention["term"] or mention["surface"]
        for place, mention in enumerate(turn["mentions"])
        # A term that the question explains is no gap: the asker knows it, whether or not the glossary does.
        if place not in looked_up and not mention["explained"]
    ]
    return tuple(dict.fromkeys(term for term in terms if term not in mentioned))
