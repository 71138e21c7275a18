"""The record of every change: one row in `changes`, one in `history` for each row it touched.

Rows are buffered and written by the thousands, so that an import of 100,000 senses is fast and needs little memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from argot.clock import timestamp
from argot.jargon_db.store.rows import next_number, store_audience
from argot.jargon_db.store.search_index import forget_words, index_words
from argot.jargon_db.store.search_words import SearchRow
from argot.jargon_db.store.snapshots import Snapshot, dump_snapshot
from argot.jargon_db.store.writing_connection import WritingConnection

ChangeKind = Literal[
    "edit", "draft", "approve", "retire", "import", "accept", "merge", "context", "let stand", "roll back", "baseline"
]
SYSTEM = "argot"
"""The name to which changes that no person made are attributed."""

_BATCH = 2_000
_SEARCH_BATCH = 25_000
"""Larger, because SQLite flushes its full-text index whenever another table with triggers is written."""
_HISTORY = "id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after"
_CHANGE = "INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Heading:
    """The description of a change as a whole. `name` is that of an imported file, or the kind of an accepted conflict;
    `undoes` the change rolled back.
    """

    who: str = SYSTEM
    why: str = ""
    kind: ChangeKind = "edit"
    name: str = ""
    undoes: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a row at one time: the key of its term ("" for a context) and the number of its context."""

    key: str
    context: int


@dataclass(slots=True)
class Journal:
    """The history of one transaction. `finish` comes last in it; without it nothing is recorded."""

    connection: WritingConnection
    heading: Heading
    rows: int = 0
    _change: int | None = None
    _history: list[tuple[object, ...]] = field(default_factory=list)
    _search: dict[int, SearchRow] = field(default_factory=dict)
    _forgotten: list[int] = field(default_factory=list)

    def record(
        self,
        subject: Literal["sense", "context"],
        row: int,
        was: tuple[Place, Snapshot] | None,
        now: tuple[Place, Snapshot] | None,
    ) -> None:
        """Record one row's change; `was` is None for a new row, `now` for a removed one."""
        last = now or was
        assert last is not None
        first = was or last
        audience = store_audience(frozenset(last[1]["audience"]))
        audience_was = audience if was is None else store_audience(frozenset(first[1]["audience"]))
        self._history.append(
            (
                self.change,
                subject,
                row,
                last[0].key,
                first[0].key if first[0].key != last[0].key else None,
                last[0].context,
                first[0].context if first[0].context != last[0].context else None,
                audience,
                # Null if nothing changed: searches for hidden rows look for the other values.
                audience_was if audience_was != audience else None,
                dump_snapshot(was[1] if was else None),
                dump_snapshot(now[1] if now else None),
            )
        )
        self.rows += 1
        if len(self._history) >= _BATCH:
            self._write_history()

    def index(self, row: SearchRow) -> None:
        """Add a new sense to the index of the search box."""
        self._search[row[0]] = row
        if len(self._search) + len(self._forgotten) >= _SEARCH_BATCH:
            self._write_index()

    def forget(self, sense: int) -> None:
        """Remove a sense from that index."""
        # It may still be in the buffer.
        self._search.pop(sense, None)
        self._forgotten.append(sense)
        if len(self._search) + len(self._forgotten) >= _SEARCH_BATCH:
            self._write_index()

    @property
    def change(self) -> int:
        """The number of this change: no other can take it, because the transaction holds the write lock."""
        if self._change is None:
            self._change = int(self.connection.execute(f"SELECT {next_number('changes')}").fetchone()[0])
        return self._change

    def finish(self, at: str | None = None) -> int | None:
        """Write the buffered rows, and increment the version once. Return the change's number; None if there was
        none.
        """
        self._write_history()
        self._write_index()
        # A save without changes makes no version, so that no view is rebuilt for it.
        if not self.rows:
            return None
        # Last, when the number of rows is known; they already use its number.
        heading = self.heading
        values = (
            self.change,
            at or timestamp(),
            heading.who,
            heading.why,
            heading.kind,
            heading.name,
            self.rows,
            heading.undoes,
        )
        self.connection.execute(_CHANGE, values)
        self.connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'version'")
        return self.change

    def _write_history(self) -> None:
        if not self._history:
            return
        first = int(self.connection.execute(f"SELECT {next_number('history')}").fetchone()[0])
        rows = ((number, *row) for number, row in enumerate(self._history, first))
        self.connection.add_rows("history", _HISTORY, rows)
        self._history.clear()

    def _write_index(self) -> None:
        # Sorted: SQLite's full-text index flushes whenever a number is less than the previous one.
        forget_words(self.connection, sorted(self._forgotten))
        index_words(self.connection, sorted(self._search.values()))
        self._forgotten.clear()
        self._search.clear()
