"""Invitations and calendars (RFC 5545) as text: what, where, when, who."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

MOST_EVENTS = 1_000
_KINDS = ("VEVENT", "VTODO", "VJOURNAL")
_TIMES = {"DTSTART": "Start", "DTEND": "End", "DUE": "Due"}
_TEXTS = {"LOCATION": "Place", "STATUS": "Status", "URL": "Address"}
_METHODS = {"CANCEL": "Cancelled", "REPLY": "Reply"}


def calendar_markdown(text: str) -> str:
    """Return the events of a calendar as lists of what is said of them.

    Raises:
        ValueError: it is no calendar.
    """
    from icalendar import Calendar

    calendars = Calendar.from_ical(text, multiple=True)
    if not calendars:
        raise ValueError("no calendar")
    parts = [part for calendar in calendars for part in _events(calendar)]
    more = len(parts) - MOST_EVENTS
    told = [f"{more:,} more events are not shown."] if more > 0 else []
    return "\n\n".join([*parts[:MOST_EVENTS], *told])


def _events(calendar: Any) -> Iterator[str]:
    method = _METHODS.get(str(calendar.get("METHOD", "")).upper(), "")
    for event in calendar.walk():
        if event.name in _KINDS:
            yield "\n\n".join(filter(None, ["\n".join(_lines(event, method)), _text(event, "DESCRIPTION")]))


def _lines(event: Any, method: str) -> Iterator[str]:
    summary = _one_line(event, "SUMMARY") or "Event"
    yield f"- {f'{method}: ' if method else ''}{summary}"
    for name, label in _TIMES.items():
        if name in event:
            yield f"- {label}: {_moment(event, name)}"
    if "DURATION" in event:
        yield f"- Duration: {_value(event, 'DURATION')}"
    if "RRULE" in event:
        yield f"- Repeats: {_rule(event)}"
    for name in ("EXDATE", "RDATE"):
        if name in event:
            yield f"- {'Not on' if name == 'EXDATE' else 'Also on'}: {_dates(event[name])}"
    for name, label in _TEXTS.items():
        if said := _one_line(event, name):
            yield f"- {label}: {said}"
    for name, label in {"ORGANIZER": "Organiser", "ATTENDEE": "Invited"}.items():
        if people := ", ".join(_person(one) for one in _as_list(event.get(name))):
            yield f"- {label}: {people}"


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _moment(event: Any, name: str) -> str:
    one = _as_list(event[name])[0]
    found = _parse_date(one)
    zone = str(getattr(one, "params", {}).get("TZID", ""))
    return _write_date(found, zone) if isinstance(found, date) else str(_value(event, name))


def _parse_date(one: Any) -> date | None:
    """Return the day or the moment; None for what is none, which is then shown as it stands."""
    try:
        found = one.dt
    except Exception:  # the library raises errors of several kinds for what it could not read
        return None
    return found if isinstance(found, date) else None


def _write_date(found: date, zone: str = "") -> str:
    if not isinstance(found, datetime):
        return f"{found:%A}, {found.day} {found:%B %Y}"
    place = zone or (str(found.tzname() or "") if found.tzinfo else "")
    return f"{found:%A}, {found.day} {found:%B %Y} {found:%H:%M} {place}".rstrip()


def _dates(value: Any) -> str:
    found = [_parse_date(one) for each in _as_list(value) for one in getattr(each, "dts", [])]
    return "; ".join(_write_date(one) for one in found if one is not None)


def _rule(event: Any) -> str:
    """Return the rule of a repetition as the calendar has it: FREQ=WEEKLY;BYDAY=MO."""
    return "; ".join(one.to_ical().decode("utf-8", "replace") for one in _as_list(event["RRULE"]))


def _person(one: Any) -> str:
    address = str(one)
    address = address[7:] if address.lower().startswith("mailto:") else address
    name = str(getattr(one, "params", {}).get("CN", ""))
    return f"{name} <{address}>" if name and name != address else address


def _value(event: Any, name: str) -> Any:
    one = _as_list(event[name])[0]
    return one.to_ical().decode("utf-8", "replace") if hasattr(one, "to_ical") else one


def _text(event: Any, name: str) -> str:
    return "\n\n".join(str(one).replace("\r", "").strip() for one in _as_list(event.get(name)))


def _one_line(event: Any, name: str) -> str:
    return " ".join(_text(event, name).split())
