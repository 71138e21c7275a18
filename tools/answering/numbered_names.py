"""Names of a noun and a number in all spellings: "Q3", "third quarter", "3rd quarter", "Quarter 3". English."""

from __future__ import annotations

import re
from typing import NamedTuple

from argot.tools.text.words import content_stems, stem

_ORDINALS = dict(
    zip(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
        map(str, range(1, 11)),
        strict=True,
    )
)
_LETTERS = {"q": "quarter", "h": "half"}
_ORDINAL = rf"(?P<ordinal>{'|'.join(_ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th))"
_NAME = re.compile(
    rf"\b{_ORDINAL} (?P<behind>[a-z]+)\b|\b(?P<letter>[qh])(?P<digit>\d)\b"
    r"|\b(?P<before>[a-z]+) (?P<number>\d{1,2})\b",
    re.IGNORECASE,
)
_BARE = re.compile(rf"(?:{_ORDINAL}|(?P<number>\d{{1,2}}))\.?", re.IGNORECASE)


class NumberedName(NamedTuple):
    """The stem of a noun, and its number in digits."""

    noun: str
    number: str


def find_numbered_names(text: str) -> frozenset[NumberedName]:
    """Return the numbered names in a text."""
    return frozenset(map(_read_name, _NAME.finditer(text)))


def read_numbered_name(cell: str, column: str) -> NumberedName | None:
    """Return the numbered name that a table's cell is, a bare number by the name of its column; None if it is more."""
    text = cell.strip()
    if found := _NAME.fullmatch(text):
        return _read_name(found)
    bare, nouns = _BARE.fullmatch(text), content_stems(column)
    if bare is None or len(nouns) != 1:
        return None
    return NumberedName(nouns[0], _read_number(bare["ordinal"] or bare["number"]))


def _read_name(found: re.Match[str]) -> NumberedName:
    if found["letter"]:
        return NumberedName(stem(_LETTERS[found["letter"].casefold()]), found["digit"])
    noun = (found["behind"] or found["before"]).casefold()
    return NumberedName(stem(noun), _read_number(found["ordinal"] or found["number"]))


def _read_number(text: str) -> str:
    word = text.casefold()
    return _ORDINALS.get(word) or word.rstrip("stndrh").lstrip("0")
