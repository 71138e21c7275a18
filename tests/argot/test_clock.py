"""Timestamps are written in UTC in one format, so that they sort as text in the order of time."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from argot import clock


def test_timestamps_are_utc_and_sort_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    noon = datetime(2026, 5, 1, 12, 0, 0, 7_000, UTC)
    monkeypatch.setattr(clock, "utc_now", lambda: noon)
    assert clock.timestamp() == "2026-05-01T12:00:00.007+00:00"
    assert clock.timestamp("seconds") == "2026-05-01T12:00:00+00:00"
    elsewhere = (noon + timedelta(seconds=1)).astimezone(timezone(timedelta(hours=-9)))
    assert clock.format_utc(elsewhere) == "2026-05-01T12:00:01.007+00:00" > clock.timestamp()
