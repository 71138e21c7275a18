"""Entries of the history as values, and who may read one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argot.jargon_db.store.rows import Row, may_read
from argot.jargon_db.store.snapshots import Snapshot, load_snapshot
from argot.types import Principal

GUARDS = (
    "audience",
    "audience_was",
    "context_audience",
    "context_was_audience",
    "audience_now",
    "context_audience_now",
)
"""Columns of `history_rows`: the audiences that guarded an entry at that time, and those of its sense and context
now."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One row of one change. `before` is None if it was added, `after` if it was removed.

    `kind` is the change's ("edit", "import", "roll back", ...). `sense_id` is None if a context was changed.
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
    """All rows that one action changed. `rows` counts those the reader may read; `name` is that of an imported file, or
    the kind of an accepted conflict.

    `undoes` is the change this one rolled back, `undone_by` the last one that rolled this one back. `about` are the
    first terms (or contexts) it changed that the reader may read.
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


def may_read_entry(principal: Principal, row: Row) -> bool:
    """Return whether all audiences that guarded the row then, and guard its sense and context now, include the
    principal.
    """
    return may_read(principal, *(row[name] for name in GUARDS if row[name] is not None))


def build_entry(row: Row) -> HistoryEntry:
    before, after = load_snapshot(row["before"]), load_snapshot(row["after"])
    # By its present name: a renamed term is listed under the new one.
    snapshot: dict[str, Any] = after or before or {}
    return HistoryEntry(
        change=row["change"],
        at=row["at"],
        who=row["who"],
        why=row["why"],
        kind=row["kind"],
        term=snapshot.get("term", ""),
        context=snapshot["context"],
        before=before,
        after=after,
        sense_id=row["row"] if row["subject"] == "sense" else None,
    )
