"""Two documents that give different numbers for the same thing: shown side by side, so that neither is taken for sure.

Conservative: the two sentences say the same in the same words but for one number, in the same unit, under the same
headings, in documents whose titles tell no two things apart. A year or a revision in a title makes no other thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from argot.tools.answering.quoting import units_of
from argot.tools.text.document_subject import Held, same_thing
from argot.tools.text.quantities import quantities
from argot.tools.text.words import bare, content_stems

FEWEST_STEMS = 3
"""Of both sentences: "Weight: 30 kg" is said of many things."""
_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)]) +")
_NUMBER = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What a sentence of the answer says, and what another passage says instead; with where each stands."""

    said: str
    held: Held
    other: str
    other_held: Held


def disagreements(cited: Sequence[tuple[str, Held]], held: Sequence[Held]) -> Iterator[Disagreement]:
    """
    Args:
        cited: texts of the answer, each with the passage it rests on.
        held: the passages beside which they are put; those of the same document contradict nothing.
    """
    for text, one in cited:
        for other in held:
            if other[1].id == one[1].id or not same_thing(one, other):
                continue
            for said in _sentences(text):
                for rival in _sentences(other[0].text):
                    if _differ_in_a_number(said, rival):
                        yield Disagreement(said, one, rival, other)


def _sentences(text: str) -> list[str]:
    plain = (" ".join(unit.plain.split()) for unit in units_of(text) if unit.kind in ("prose", "item"))
    return [_ITEM.sub("", one) for one in plain]


def _differ_in_a_number(said: str, other: str) -> bool:
    mine, theirs = quantities(said), quantities(other)
    if len(only := mine - theirs) != 1 or len(instead := theirs - mine) != 1:
        return False
    ((number, unit),), ((rival, rival_unit),) = only, instead
    if unit != rival_unit or not (number[:1].isdigit() and rival[:1].isdigit()):
        return False
    # In the very same words: an added one may be the condition under which the other number holds.
    words = _NUMBER.sub(" ", said)
    return bare(words) == bare(_NUMBER.sub(" ", other)) and len(set(content_stems(words))) >= FEWEST_STEMS
