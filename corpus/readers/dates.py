"""The dates that files declare, as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

DATE_NAMES = (
    "updated",
    "last_updated",
    "revised",
    "last_revised",
    "revision_date",
    "date_of_revision",
    "lastmod",
    "modified",
    "last_modified",
    "last_reviewed",
    "date",
    "created",
)
"""Field names of a file's date; those of the last change come first."""
_PROGRAM_DATES = {"1970-01-01", "1980-01-01", "2000-01-01", "2013-01-27", "2013-12-23"}
"""Dates that programs write for reproducible files, and the dates of their templates."""
_ISO_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?![\d/])")
_YEAR_FIRST_DATE = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?!\d)")
_COMPACT_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})(?!\d)")
_NUMERIC_DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?!\d)")
_DAY_FIRST_DATE = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\.?[ -]([A-Za-z]{3,9})\.?,?[ -](\d{4})(?!\d)")
_MONTH_FIRST_DATE = re.compile(r"([A-Za-z]{3,9})\.? (?:(\d{1,2})(?:st|nd|rd|th)?,? )?(\d{4})(?!\d)")
_WEEKDAY = re.compile(r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? ", re.IGNORECASE)
_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip


def find_date(*said: str | None) -> str | None:
    """Return the first date that one of these texts begins with, in ISO form; a month or a year alone counts."""
    return next((found for text in said if text and (found := _read_document_date(text))), None)


def warn_of_date(*said: str | None) -> tuple[str, ...]:
    """Return a warning that names the first of these texts, if none of them begins with a date."""
    texts = [text.strip() for text in said if text and text.strip()]
    if not texts or any(_parse_date(text) for text in texts):
        return ()
    return (f"date '{texts[0][:60]}' was not understood: write it as 2025-03-01",)


def _read_document_date(text: str) -> str | None:
    found = _parse_date(text)
    return found if found and "1900" < found < "2200" and found not in _PROGRAM_DATES else None


def _parse_date(text: str) -> str | None:
    bare = _WEEKDAY.sub("", " ".join(text.split()), count=1)
    for year, month, day in _parse_candidates(bare):
        try:
            date(year, month or 1, day or 1)
        except ValueError:
            continue
        return f"{year:04}" + (f"-{month:02}" if month else "") + (f"-{day:02}" if day else "")
    return None


def _parse_candidates(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the possible readings as year, month and day; 0 for a missing part."""
    for form in (_ISO_DATE, _YEAR_FIRST_DATE, _COMPACT_DATE):
        if found := form.match(text):
            year, month, day = (int(part or 0) for part in found.groups())
            yield year, month, day
    if found := _NUMERIC_DATE.match(text):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        # In 5/4/2024 the month is ambiguous.
        if first > 12 or first == second:
            yield year, second, first
        elif second > 12:
            yield year, first, second
    if (found := _DAY_FIRST_DATE.match(text)) and (month := _number_month(found[2])):
        yield int(found[3]), month, int(found[1])
    if (found := _MONTH_FIRST_DATE.match(text)) and (month := _number_month(found[1])):
        yield int(found[3]), month, int(found[2] or 0)


def _number_month(name: str) -> int:
    """Return the number of a month from 1; 0 where the name is no month's."""
    return next((number for number, month in enumerate(_MONTH_NAMES, start=1) if month.startswith(name.lower())), 0)
