"""Dates, times of day and durations as a spreadsheet shows them."""

from __future__ import annotations

import datetime
import re

_LITERALS = re.compile(r'"[^"]*"|\\.|_.|\*.|\[\$[^\]]*\]')
_DURATION = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_DAY_CODE = re.compile(r"[dy]", re.IGNORECASE)
_MONTH_NAME_CODE = re.compile(r"m{3,}", re.IGNORECASE)
_HALF_DAY = re.compile(r"am/pm|a/p", re.IGNORECASE)
_EPOCH = datetime.datetime(1899, 12, 30)


def format_moment(value: datetime.datetime | datetime.time | datetime.timedelta, number_format: str) -> str:
    """Return a date as 2024-05-01, and a time of day or a duration as the format shows it.

    A date keeps its time if it has one, whatever the format: no stored value may be rounded away.
    """
    plain = _LITERALS.sub("", number_format.partition(";")[0])
    if isinstance(value, datetime.timedelta) or _DURATION.search(plain):
        return _format_duration(value, plain)
    if isinstance(value, datetime.datetime):
        value = _round_to_seconds(value)
        names_day = _DAY_CODE.search(_HALF_DAY.sub("", plain)) or _MONTH_NAME_CODE.search(plain)
        names_time = re.search("[hs]", plain, re.IGNORECASE)
        # Excel stores a date as midnight of that day.
        if not names_time or names_day:
            return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
        return _format_time(value.time(), plain)
    return _format_time(_round_to_seconds(datetime.datetime.combine(_EPOCH, value)).time(), plain)


def _round_to_seconds(value: datetime.datetime) -> datetime.datetime:
    # Fractions of a day do not meet whole seconds exactly.
    return (value + datetime.timedelta(microseconds=500_000)).replace(microsecond=0)


def _format_time(value: datetime.time, plain: str) -> str:
    shows_seconds = value.second or re.search("s", plain, re.IGNORECASE)
    seconds = f":{value.second:02}" if shows_seconds else ""
    if _HALF_DAY.search(plain):
        return f"{value.hour % 12 or 12}:{value.minute:02}{seconds} {'AM' if value.hour < 12 else 'PM'}"
    return f"{value.hour:02}:{value.minute:02}{seconds}"


def _format_duration(value: datetime.datetime | datetime.time | datetime.timedelta, plain: str) -> str:
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(_EPOCH, value)
    length = value - _EPOCH if isinstance(value, datetime.datetime) else value
    total = round(abs(length).total_seconds())
    sign = "-" if length < datetime.timedelta() else ""
    found = _DURATION.search(plain)
    unit = found[1][0].lower() if found else "h"
    shows_seconds = total % 60 or re.search(r"s", plain, re.IGNORECASE)
    if unit == "s":
        return f"{sign}{total}"
    minutes, seconds = divmod(total, 60)
    ending = f":{seconds:02}" if shows_seconds else ""
    if unit == "m":
        return f"{sign}{minutes}{ending}"
    return f"{sign}{minutes // 60}:{minutes % 60:02}{ending}"
