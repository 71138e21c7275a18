"""Reads the history: who changed what, when and why, as far as the principal may know it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from argot.jargon_db.base import Store
from argot.jargon_db.normalise import normalise
from argot.jargon_db.rows import Row, may_read
from argot.jargon_db.snapshots import Snapshot, loaded
from argot.types import Principal

_ALL = "SELECT * FROM history_rows ORDER BY id DESC"
_OF_ROW = "SELECT * FROM history_rows WHERE subject = :subject AND row = :row ORDER BY id DESC"
_OF_CHANGE = "SELECT * FROM history_rows WHERE change = :change ORDER BY id"
_OF_TERM = """
SELECT * FROM history_rows
WHERE subject = 'sense' AND row IN (
    SELECT row FROM history WHERE subject = 'sense' AND key = :key
    UNION SELECT row FROM history WHERE subject = 'sense' AND key_was = :key
) ORDER BY id DESC
"""
_CHANGES = """
SELECT changes.*, (SELECT max(later.id) FROM changes AS later WHERE later.undoes = changes.id) AS undone_by
FROM changes ORDER BY id DESC
"""
_GUARDS = (
    "audience",
    "audience_was",
    "context_audience",
    "context_was_audience",
    "audience_now",
    "context_audience_now",
)
_READABLE_ROWS = f"""
SELECT count(*) AS rows, {", ".join(_GUARDS)} FROM history_rows WHERE change = :change GROUP BY {", ".join(_GUARDS)}
"""  # noqa: S608
_NAMED = 3
"""Terms named with a change."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One row of one change. `before` is None where it was added, `after` where it was removed.

    `kind` is the change's ("edit", "import", "roll back", ...). `sense_id` is None where a context was changed.
    """

    change: int
    at: str
    who: str
    why: str
    kind: str
    term: str
    context: str
    before: Snapshot | None
    after: Snapshot | None
    sense_id: int | None = None


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """All that was changed in one go. `rows` counts those one may read; `name` is that of an imported file, or
    the kind of a conflict that is let stand.

    `undoes` is the change this one rolled back, `undone_by` the last one that rolled this one back. `about` are the
    first terms (or contexts) it changed, as far as one may read them.
    """

    id: int
    at: str
    who: str
    why: str
    kind: str
    name: str
    rows: int
    undoes: int | None = None
    undone_by: int | None = None
    about: tuple[str, ...] = ()


class HistoryReading(Store):
    """The part of `Glossary` that tells of changes."""

    def history(
        self,
        principal: Principal,
        *,
        term: str | None = None,
        sense_id: int | None = None,
        context_id: int | None = None,
        change: int | None = None,
        limit: int | None = 200,
    ) -> list[HistoryEntry]:
        """What happened, newest first: to every sense that ever had this term, to one sense, to one context, in one
        change, or at all.

        An entry is for those who may read the sense and its context, as they are guarded now and as they were then.
        """
        found: list[HistoryEntry] = []
        for row in self._history_rows(term, sense_id, context_id, change):
            if limit is not None and len(found) >= limit:
                break
            if may_read_entry(principal, row):
                found.append(entry_of(row))
        return found

    def changes(self, principal: Principal, limit: int = 50) -> list[ChangeSet]:
        """The changes of which the principal may read at least one row, newest first."""
        found: list[ChangeSet] = []
        for row in self._select(_CHANGES):
            if len(found) >= limit:
                break
            rows = row["rows"] if principal.sees_all else self._readable_rows(principal, row["id"])
            if rows:
                found.append(ChangeSet(**{**row, "rows": rows}, about=self._about(principal, row["id"])))
        return found

    def _about(self, principal: Principal, change: int) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for row in self._select(_OF_CHANGE, change=change):
            if len(names) >= _NAMED:
                break
            if may_read_entry(principal, row):
                entry = entry_of(row)
                names[entry.term or entry.context] = None
        return tuple(names)

    def _history_rows(
        self, term: str | None, sense_id: int | None, context_id: int | None, change: int | None
    ) -> Iterator[Row]:
        if change is not None:
            return self._select(_OF_CHANGE, change=change)
        if sense_id is not None:
            return self._select(_OF_ROW, subject="sense", row=sense_id)
        if context_id is not None:
            return self._select(_OF_ROW, subject="context", row=context_id)
        return self._select(_ALL) if term is None else self._select(_OF_TERM, key=normalise(term))

    def _readable_rows(self, principal: Principal, change: int) -> int:
        groups = self._select(_READABLE_ROWS, change=change)
        return sum(row["rows"] for row in groups if may_read_entry(principal, row))


def may_read_entry(principal: Principal, row: Row) -> bool:
    """Whether everything that guarded the row then, and guards its sense and context now, lets the principal pass."""
    return may_read(principal, *(row[name] for name in _GUARDS if row[name] is not None))


def entry_of(row: Row) -> HistoryEntry:
    before, after = loaded(row["before"]), loaded(row["after"])
    told: dict[str, Any] = after or before or {}
    return HistoryEntry(
        change=row["change"],
        at=row["at"],
        who=row["who"],
        why=row["why"],
        kind=row["kind"],
        term=told.get("term", ""),
        context=told["context"],
        before=before,
        after=after,
        sense_id=row["row"] if row["subject"] == "sense" else None,
    )
