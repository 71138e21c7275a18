"""Two documents that give different numbers for the same thing: shown side by side, so that neither is taken for sure.

Conservative: the two sentences say the same in the same words but for one number, in the same unit, under the same
headings, in documents whose titles tell no two things apart. A year or a revision in a title makes no other thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from argot.tools.answering.quoting import units_of
from argot.tools.text.quantities import quantities
from argot.tools.text.words import bare, content_stems
from argot.types import Document, Passage

Held = tuple[Passage, Document]
FEWEST_STEMS = 3
"""Of both sentences: "Weight: 30 kg" is said of many things."""
_REVISION = re.compile(
    r"\b(?:(?:rev(?:ision)?|v(?:ersion)?|ed(?:ition)?)\.? ?\d[\d.]*|(?:19|20)\d\d(?:[-.]\d\d){0,2}"
    r"|draft|final|old|new|copy|updated|revised|superseded|obsolete|current)\b"
)
_SECTION = re.compile(r"^\s*(?:\d+|[a-z])(?:\.\d+)*[.)]?\s+")
_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)]) +")
_NUMBER = re.compile(r"\d[\d.,]*")
_MODEL = re.compile(r"[a-z]*\d[a-z\d]*")
_SAME_FIELDS = frozenset({"region", "country", "product", "model", "audience", "site", "language", "department"})
"""Where two documents give other values for one of these, they speak of other things."""


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
            if other[1].id == one[1].id or not _same_thing(one, other):
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


def _same_thing(one: Held, other: Held) -> bool:
    for name in _SAME_FIELDS:
        mine, theirs = one[1].values(name), other[1].values(name)
        if mine and theirs and set(mine) != set(theirs):
            return False
    return _subject(*one) == _subject(*other)


def _subject(passage: Passage, document: Document) -> tuple[str, tuple[str, ...], frozenset[str]]:
    """The title without its year or revision, the headings below it, and the models that the file's name names."""
    title = _without_revision(document.title)
    headings = tuple(_without_revision(_SECTION.sub("", heading.casefold())) for heading in passage.heading_path)
    stem = re.sub(r"[_\W]+", " ", PurePosixPath(document.name).stem.casefold())
    models = frozenset(_MODEL.findall(_REVISION.sub(" ", stem)))
    return title, tuple(heading for heading in headings if heading != title), models


def _without_revision(text: str) -> str:
    return bare(_REVISION.sub(" ", text.casefold()))
