"""Definitions of an abbreviation in documents, if its meaning is asked for and the glossary lacks it.

A passage that only uses the abbreviation does not define it, however often it occurs there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from argot.jargon_db.lookup.normalise import list_variants
from argot.tools.answering.quoting import Unit, find_needed, read_units, split_cells
from argot.tools.reading.abbreviation_shapes import ALL_CAPITALS
from argot.tools.reading.definition_questions import find_asked_meanings
from argot.tools.reading.unknown_terms import identify_terms, merge_mentions
from argot.types import Mention, Passage, ReadTerm

if TYPE_CHECKING:
    from argot.jargon_db.mining import DefinitionKind, FoundDefinition

# Words that happen to begin with the letters, and "X is a ...", do not spell it out.
_SPELLS_OUT: tuple[DefinitionKind, ...] = ("table", "list", "brackets", "said")
_CAPITALS = re.compile(rf"\b{ALL_CAPITALS.pattern}\b")
_LEAD = re.compile(r"^\W*(?:\d{1,3}[.)]\s*)?(?:the|an?)?\W*", re.IGNORECASE)
_TELLS = re.compile(r"\W*(?:is|are|means?|refers? to|denotes?|stands? for|[:=–—-])\W", re.IGNORECASE)


def find_term_to_define(question: str, terms: Sequence[ReadTerm]) -> str:
    """Return the abbreviation whose meaning the question asks for, if the glossary lacks it; else empty."""
    known = {term.mention.surface for term in terms}
    # Includes widely known ones ("CFO"): an asker who asks for the meaning does not know it.
    capitals = [] if question.isupper() else _CAPITALS.finditer(question)
    found = merge_mentions(identify_terms(question, []), (Mention(one[0], *one.span()) for one in capitals))
    asked = [one.surface for one in find_asked_meanings(question, found)]
    # Glossary terms, and codes such as P1, are answered from the best-fitting text.
    return next((one for one in asked if ALL_CAPITALS.fullmatch(one)), "") if not known.intersection(asked) else ""


def find_spelling_out(term: str, passage: Passage) -> list[int]:
    """Return the numbers of the passage's units that spell the term out, with the units they need; empty if none do."""
    text = passage.with_columns
    found = [one for one in _find_definitions(term, text, passage.header) if one.kind in _SPELLS_OUT and one.expansion]
    if not found:
        return []
    best, units = max(found, key=lambda one: one.score), read_units(text)
    said = [unit for unit in units if unit.start < best.end and best.start < unit.end and unit.kind != "heading"]
    return sorted({number for unit in said for number in find_needed(unit, units)})


def is_about(term: str, passage: Passage) -> bool:
    """Return whether the term is the heading of a passage, or begins a sentence, item or row that defines it."""
    names = set(list_variants(term))
    if any(_is_name(heading, names) for heading in passage.heading_path):
        return True
    text = passage.with_columns
    return any(one.kind in ("sentence", *_SPELLS_OUT) for one in _find_definitions(term, text, passage.header)) or any(
        _is_definition(unit, names) for unit in read_units(text)
    )


def _find_definitions(term: str, text: str, heading: str) -> Iterator[FoundDefinition]:
    from argot.jargon_db.mining import find_definitions

    names = set(list_variants(term))
    return (one for one in find_definitions(text, heading) if names & set(list_variants(one.term)))


def _is_name(text: str, names: set[str]) -> bool:
    return bool(names & set(list_variants(_LEAD.sub("", text).strip(" ?.!:"))))


def _is_definition(unit: Unit, names: set[str]) -> bool:
    if unit.kind == "row":
        return _is_name(next(iter(split_cells(unit.text)), ""), names)
    said = _LEAD.sub("", unit.plain)
    first, _, rest = said.partition(" ")
    return _is_name(first, names) and _TELLS.match(f" {rest} ") is not None
