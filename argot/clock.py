"""The current time, in UTC, and its written form: ISO 8601, which sorts as text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, TypeAlias

Precision: TypeAlias = Literal["seconds", "milliseconds"]
"""Rows of senses, misses and documents have seconds, all others milliseconds; they are compared as text, so that one
column has one format.
"""


def utc_now() -> datetime:
    # The only place where the time is read, so that tests can set it.
    return datetime.now(UTC)


def timestamp(precision: Precision = "milliseconds") -> str:
    """Return the current time as text."""
    return format_utc(utc_now(), precision)


def format_utc(moment: datetime, precision: Precision = "milliseconds") -> str:
    return moment.astimezone(UTC).isoformat(timespec=precision)


def format_time_left(seconds: float) -> str:
    """Format a remaining time, as in 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
