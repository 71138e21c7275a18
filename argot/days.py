"""Days that a text names, whichever way it writes them: "17 May", "May 17th, 2025", "17. Mai", "2025-05-17",
"17.05.2025".
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from argot.languages.language_data import ENGLISH, LISTED_LANGUAGES, read_language_file

MONTH_NAMES: tuple[str, ...] = tuple(read_language_file(ENGLISH)["months"].split())
"""The English names of the months, in order and in small letters."""
_MONTHS = {name[:3]: number for number, name in enumerate(MONTH_NAMES, start=1)} | {
    name: number
    for code in LISTED_LANGUAGES
    for number, name in enumerate(read_language_file(code)["months"].split(), start=1)
}
_NAME = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_IN_NUMBERS = (
    re.compile(rf"(?<![\w.-]){_YEAR}-(?P<month>0[1-9]|1[0-2])-(?P<day>\d{{2}})(?![\w-])"),
    re.compile(rf"(?<![\w./])(?P<day>\d{{1,2}})[./]\s?(?P<month>0?[1-9]|1[0-2])[./]\s?{_YEAR}(?!\w|\.\d)"),
)
_IN_WORDS = (
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?(?: of| de)? (?P<name>{_NAME})\b\.?(?:,? {_YEAR})?", re.IGNORECASE
    ),
    re.compile(rf"\b(?P<name>{_NAME})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? {_YEAR})?", re.IGNORECASE),
)


class Day(NamedTuple):
    """A day of the calendar; `year` is empty where the text names none."""

    month: int
    day: int
    year: str

    def is_same(self, other: Day) -> bool:
        """Return whether both can be one day."""
        return self[:2] == other[:2] and self.year in ("", other.year or self.year)


@lru_cache(maxsize=4_000)
def find_days(text: str) -> frozenset[Day]:
    """Return the days that a text names; of "03/05/2025" the third of May, as everywhere but in the USA."""
    return frozenset(
        Day(_read_month(found), int(found["day"]), found["year"] or "")
        for pattern in (*_IN_NUMBERS, *_IN_WORDS)
        for found in pattern.finditer(text)
    )


def _read_month(found: re.Match[str]) -> int:
    named = found.groupdict()
    return _MONTHS[named["name"].lower()] if named.get("name") else int(named["month"])


def name_month(day: Day) -> str:
    """Return the English name of a day's month: "May"."""
    return MONTH_NAMES[day.month - 1].title()


def remove_days(text: str) -> str:
    """Return the text without its days, whose numbers are no amounts."""
    for pattern in (*_IN_NUMBERS, *_IN_WORDS):
        text = pattern.sub(" ", text)
    return text


def spell_out_days(text: str) -> str:
    """Return the text with days of numbers alone in words: "24 April 2025" for "2025-04-24"."""
    for pattern in _IN_NUMBERS:
        text = pattern.sub(_spell_out, text)
    return text


def _spell_out(found: re.Match[str]) -> str:
    day = Day(int(found["month"]), int(found["day"]), found["year"])
    return f"{day.day} {name_month(day)} {day.year}"
