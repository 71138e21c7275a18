"""Counts of the use of senses by week: the weeks of ISO 8601, in UTC ("2027-W05")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from argot.clock import utc_now
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.rows import readable
from argot.types import Principal

if TYPE_CHECKING:
    from argot.jargon_db.store.connections import Connections

_ADD = """
INSERT INTO uses (week, sense, count) VALUES (?, ?, ?)
ON CONFLICT (week, sense) DO UPDATE SET count = uses.count + excluded.count
"""
_KNOWN = "SELECT 1 FROM senses WHERE id = ?"
_USES = """
SELECT uses.week, uses.count, sense_rows.*
FROM uses JOIN sense_rows ON sense_rows.id = uses.sense
WHERE CAST(:key AS TEXT) IS NULL OR sense_rows.key = :key
ORDER BY uses.week, sense_rows.key, sense_rows.context_name, sense_rows.id
"""


@dataclass(frozen=True, slots=True)
class WeekOfUse:
    """The number of a week's questions in which a sense was meant."""

    week: str
    term: str
    context: str
    sense_id: int
    count: int


class SenseUsage:
    """Counts the questions in which each sense was meant."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def record(self, sense_ids: Iterable[int], moment: datetime | None = None) -> None:
        """Count each of these senses once more, all in one transaction. Ids of no sense are not counted."""
        week = format_week(moment or utc_now())
        counts = Counter(sense_ids)
        if not counts:
            return
        with self._connections.writing() as connection:
            # The glossary may have been replaced by a backup since the question was asked.
            known = [sense for sense in counts if connection.execute(_KNOWN, (sense,)).fetchone()]
            connection.executemany(_ADD, [(week, sense, counts[sense]) for sense in known])

    def by_week(self, principal: Principal, term: str | None = None) -> list[WeekOfUse]:
        """Return the use of the senses the principal may read, by week; of one term, or of all."""
        rows = readable(self._connections.select(_USES, key=None if term is None else normalise(term)), principal)
        return [WeekOfUse(row["week"], row["spelling"], row["context_name"], row["id"], row["count"]) for row in rows]


def format_week(moment: datetime) -> str:
    """Return the ISO week of a moment; one without a time zone is read as UTC."""
    at = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    # The ISO year: 1 January may belong to the last week of the previous year.
    year, week, _ = at.isocalendar()
    return f"{year}-W{week:02}"
