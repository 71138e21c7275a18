"""Dates as exports write them for people, in the exporter's language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime

_MONTHS_IN_YEAR = 12
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_FORMATS = ("%b %d, %Y", "%d %b, %Y", "%d %b %Y", "%B %d, %Y", "%d %B %Y", "%d.%m.%Y", "%d. %B %Y")
_SLASH_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")


def parse_date(text: str, day_first: bool | None = None) -> str:
    """Return a date as ISO 8601; empty for no date, and for an ambiguous one (3/4/2026) without `day_first`."""
    if found := _ISO_DATE.search(text):
        return _validate_date(found[0])
    plain = " ".join(text.split())
    if slashes := _SLASH_DATE.search(plain):
        first, second, year = (int(one) for one in slashes.groups())
        known = _infer_day_first(first, second) if day_first is None else day_first
        day, month = (first, second) if known else (second, first)
        return "" if known is None and first != second else _validate_date(f"{year:04}-{month:02}-{day:02}")
    for form in _DATE_FORMATS:
        with suppress(ValueError):
            return datetime.strptime(plain, form).date().isoformat()
    return ""


def is_day_first(texts: Iterable[str]) -> bool | None:
    """Return True if the day comes first in the dates of a table, such as 3/4/2026; None if no date shows it."""
    for text in texts:
        found = _SLASH_DATE.search(text)
        is_first = _infer_day_first(int(found[1]), int(found[2])) if found else None
        if is_first is not None:
            return is_first
    return None


def _infer_day_first(first: int, second: int) -> bool | None:
    if first > _MONTHS_IN_YEAR or second > _MONTHS_IN_YEAR:
        return first > _MONTHS_IN_YEAR
    return None


def _validate_date(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""
