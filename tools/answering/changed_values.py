"""Sentences of one document that replace a number of another: "The rate goes up from 45p to 52p per mile" where a
handbook still has "mileage at 45p per mile".

Announcements and minutes rarely repeat the rule that they change, so their wording is unlike the question's, and the
old rule is found first (*Trustworthy Answers, Messier Data*).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from argot.languages.detection import identify_listed_language
from argot.languages.language_data import LISTED_LANGUAGES, read_language_file
from argot.tools.answering.quoting import Unit, find_heads, find_needed, find_ordering_units, read_units
from argot.tools.answering.succession import is_preferred
from argot.tools.text.document_subject import PassageInDocument
from argot.tools.text.units import find_unit
from argot.tools.text.words import NUMBER_WORDS, content_stems, read_number

MIN_SHARED_STEMS = 2
"""Words, beside numbers and units of time, that a change and the old rule must share: "from 21 to 28" and "24 hours"
may be about anything."""
_TIMES = frozenset({"s", "min", "h", "day", "week", "month", "year"})
_WORDS = "|".join(word for word in NUMBER_WORDS if word not in ("zero", "one"))  # "one" is usually a pronoun
_CURRENCY = "£€$"
_NUMBER = rf"[{_CURRENCY}]?(?:\d+(?:[.,:]\d+)*|(?:{_WORDS})\b)"
_BARE_NUMBER = re.compile(rf"(?<![\w.,:/-]){_NUMBER}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A sentence or item that replaces a number.

    Attributes:
        held: its passage and document.
        numbers: of its unit in the passage, and of those that it needs to make sense.
        text: the unit as plain text.
    """

    held: PassageInDocument
    numbers: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class _Change:
    """A unit that replaces numbers; `stems`: of its paragraph in the passage's language, without numbers and times."""

    unit: Unit
    old: frozenset[str]
    stems: frozenset[str]
    language: str


def find_changed_values(text: str, held: PassageInDocument, others: Sequence[PassageInDocument]) -> list[ChangedValue]:
    """Return the sentences of other documents that replace a number of this text.

    Args:
        text: a sentence, item or table of an answer.
        held: the passage that it rests on.
        others: passages found for the same question.
    """
    passage, document = held
    stated = {read_number(found.lstrip(_CURRENCY)) for found in _BARE_NUMBER.findall(text)}
    if not stated:
        return []
    about = f"{text} {' '.join(passage.heading_path[-1:])}"
    return [
        ChangedValue(other, tuple(find_needed(change.unit, read_units(other[0].with_columns))), change.unit.plain)
        for other in others
        if other[1].id != document.id
        for change in _list_changes(other[0].with_columns)
        if change.old & stated
        and len(change.stems & _list_word_stems(about, change.language)) >= MIN_SHARED_STEMS
        and not is_preferred(document, other[1])
    ]


@lru_cache(maxsize=2_000)
def _list_changes(text: str) -> tuple[_Change, ...]:
    units, silent = read_units(text), find_ordering_units(text)
    language = identify_listed_language(text)
    return tuple(
        _Change(unit, old, _list_word_stems(_join_paragraph(unit, units), language), language)
        for unit in units
        if unit.kind in ("prose", "item") and unit.number not in silent
        if (old := frozenset(_find_old_numbers(unit.plain)))
    )


def _find_old_numbers(sentence: str) -> Iterator[str]:
    """Yield the numbers that a sentence says are replaced."""
    for pattern in _compile_changes():
        for found in pattern.finditer(sentence):
            yield read_number(found["old"].lstrip(_CURRENCY))


@cache
def _compile_changes() -> list[re.Pattern[str]]:
    old = rf"(?P<old>{_NUMBER})"
    return [
        re.compile(pattern.replace("OLD", old).replace("NEW", _NUMBER), re.IGNORECASE)
        for code in LISTED_LANGUAGES
        for pattern in read_language_file(code)["quoted"]["changes"]
    ]


def _join_paragraph(unit: Unit, units: Sequence[Unit]) -> str:
    """Join the text of a unit with that of its paragraph above it, or with the line that introduces its list."""
    first = unit.number
    while unit.kind == "prose" and first > 0 and not units[first].apart and units[first - 1].kind == "prose":
        first -= 1
    return " ".join(units[number].plain for number in (*find_heads(unit, units), *range(first, unit.number + 1)))


def _list_word_stems(text: str, language: str) -> frozenset[str]:
    words = " ".join(word for word in re.findall(r"[\w'’-]+", text) if find_unit(word) not in _TIMES)
    return frozenset(
        stem for stem in content_stems(words, language) if not any(map(str.isdigit, stem)) and stem not in NUMBER_WORDS
    )
