"""Invitations and calendars (RFC 5545) as text: subject, place, time, people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

MAX_EVENTS = 1_000
_EVENT_KINDS = ("VEVENT", "VTODO", "VJOURNAL")
_TIME_LABELS = {"DTSTART": "Start", "DTEND": "End", "DUE": "Due"}
_TEXT_LABELS = {"LOCATION": "Place", "STATUS": "Status", "URL": "Address"}
_METHOD_LABELS = {"CANCEL": "Cancelled", "REPLY": "Reply"}


def render_calendar(text: str) -> str:
    """Return the events of a calendar as lists of their properties.

    Raises:
        ValueError: it is no calendar.
    """
    from icalendar import Calendar

    calendars = Calendar.from_ical(text, multiple=True)
    if not calendars:
        raise ValueError("no calendar")
    parts = [part for calendar in calendars for part in _render_events(calendar)]
    more = len(parts) - MAX_EVENTS
    remainder = [f"{more:,} more events are not shown."] if more > 0 else []
    return "\n\n".join([*parts[:MAX_EVENTS], *remainder])


def _render_events(calendar: Any) -> Iterator[str]:
    method = _METHOD_LABELS.get(str(calendar.get("METHOD", "")).upper(), "")
    for event in calendar.walk():
        if event.name in _EVENT_KINDS:
            yield "\n\n".join(filter(None, ["\n".join(_render_lines(event, method)), _read_text(event, "DESCRIPTION")]))


def _render_lines(event: Any, method: str) -> Iterator[str]:
    summary = _read_line(event, "SUMMARY") or "Event"
    yield f"- {f'{method}: ' if method else ''}{summary}"
    for name, label in _TIME_LABELS.items():
        if name in event:
            yield f"- {label}: {_render_moment(event, name)}"
    if "DURATION" in event:
        yield f"- Duration: {_read_value(event, 'DURATION')}"
    if "RRULE" in event:
        yield f"- Repeats: {_render_rule(event)}"
    for name in ("EXDATE", "RDATE"):
        if name in event:
            yield f"- {'Not on' if name == 'EXDATE' else 'Also on'}: {_render_dates(event[name])}"
    for name, label in _TEXT_LABELS.items():
        if line := _read_line(event, name):
            yield f"- {label}: {line}"
    for name, label in {"ORGANIZER": "Organiser", "ATTENDEE": "Invited"}.items():
        if people := ", ".join(_render_person(one) for one in _make_list(event.get(name))):
            yield f"- {label}: {people}"


def _make_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _render_moment(event: Any, name: str) -> str:
    one = _make_list(event[name])[0]
    found = _parse_date(one)
    zone = str(getattr(one, "params", {}).get("TZID", ""))
    return _write_date(found, zone) if isinstance(found, date) else str(_read_value(event, name))


def _parse_date(one: Any) -> date | None:
    """Return the day or the moment; None for an invalid one, which is then shown unchanged."""
    try:
        found = one.dt
    except Exception:  # the library raises errors of several kinds for unreadable values
        return None
    return found if isinstance(found, date) else None


def _write_date(found: date, zone: str = "") -> str:
    if not isinstance(found, datetime):
        return f"{found:%A}, {found.day} {found:%B %Y}"
    place = zone or (str(found.tzname() or "") if found.tzinfo else "")
    return f"{found:%A}, {found.day} {found:%B %Y} {found:%H:%M} {place}".rstrip()


def _render_dates(value: Any) -> str:
    found = [_parse_date(one) for each in _make_list(value) for one in getattr(each, "dts", [])]
    return "; ".join(_write_date(one) for one in found if one is not None)


def _render_rule(event: Any) -> str:
    """Return the rule of a repetition as the calendar has it: FREQ=WEEKLY;BYDAY=MO."""
    return "; ".join(one.to_ical().decode("utf-8", "replace") for one in _make_list(event["RRULE"]))


def _render_person(one: Any) -> str:
    address = str(one)
    address = address[7:] if address.lower().startswith("mailto:") else address
    name = str(getattr(one, "params", {}).get("CN", ""))
    return f"{name} <{address}>" if name and name != address else address


def _read_value(event: Any, name: str) -> Any:
    one = _make_list(event[name])[0]
    return one.to_ical().decode("utf-8", "replace") if hasattr(one, "to_ical") else one


def _read_text(event: Any, name: str) -> str:
    return "\n\n".join(str(one).replace("\r", "").strip() for one in _make_list(event.get(name)))


def _read_line(event: Any, name: str) -> str:
    return " ".join(_read_text(event, name).split())
