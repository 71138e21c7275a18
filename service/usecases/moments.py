"""Dates and times as parameters."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator

from argot.clock import format_utc
from argot.service.usecases.usecase_registry import Text

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?", re.ASCII)
_FIRST_DAY = "0000-01-01"


def is_partial_date(text: str) -> bool:
    """Return whether it is a day, month or year as 2025-03-01, 2025-03 or 2025, which sort as texts."""
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text + _FIRST_DAY[len(text) :])
    except ValueError:
        return False
    return True


def _check_moment(text: str) -> str:
    text = text.strip()
    if not text or is_partial_date(text):
        return text
    try:
        # In an address, `+` means a space.
        moment_time = datetime.fromisoformat(re.sub(r" (\d\d:?\d\d)$", r"+\1", text))
    except ValueError:
        raise ValueError("it is not a date or time; write it as 2025-03-01 or 2025-03-01T09:30:00Z") from None
    return format_utc(moment_time if moment_time.tzinfo else moment_time.replace(tzinfo=UTC), "seconds")


Moment = Annotated[Text, AfterValidator(_check_moment)]
"""A date (2025-03-01, 2025-03, 2025) or a time in ISO 8601, as a text that sorts among stored times; may be empty."""
