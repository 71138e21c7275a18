"""Copies the rows of a store to the other side, resumes a killed move, and compares both afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from argot.databases import Connection
from argot.errors import DamagedStore
from argot.service.moving.checkpoint_rows import CheckpointRows, WaitingRows
from argot.service.moving.id_counters import copy_counters
from argot.service.moving.moved_rows import RowDigest, Rows, RowsOfTable, encode_row, split_batches
from argot.service.moving.moved_stores import MovedStore, list_moved_tables
from argot.service.moving.sides import Side

ProgressListener = Callable[[str, int], None]
"""Called with the present step, and the number of rows processed since the last call."""


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """A table that is the same on both sides: `digest` covers all its rows in order."""

    store: str
    name: str
    rows: int
    digest: str


class _SourceChanged(Exception):
    """Error: the target does not match the beginning of the source, which was changed since the move was
    interrupted.
    """


@dataclass(frozen=True, slots=True)
class Copying:
    """Copies one side's stores to the other.

    Args:
        generations: the target's names of the vector generations, by the source's names. The rows of others are left
            behind.
        told: receives progress.
    """

    source: Side
    target: Side
    generations: Mapping[str, str]
    told: ProgressListener

    def copy_store(self, store: MovedStore) -> None:
        """Copy the missing rows. After a kill at any point, it can be called again."""
        self.target.prepare(store)
        try:
            self._check_copied(store)
        except _SourceChanged:
            self.target.empty(store)
            self._check_copied(store)

    def _check_copied(self, store: MovedStore) -> None:
        with self.source.open_to_read(store) as reader:
            for here, there in self._rows_of(store):
                self._copy_rows(reader, store, here, there)
            with self.target.open_to_write(store) as writer:
                copy_counters(reader, writer, list_moved_tables(store))
        self.told(f"index of {store.name}", 0)
        self.target.derive(store)

    def _copy_rows(self, reader: Connection, store: MovedStore, here: Rows, there: Rows) -> None:
        """
        Raises:
            _Changed
        """
        waiting = here.read(reader)
        with self.target.open_to_read(store) as copied:
            for row in there.read(copied):
                mine = next(waiting, None)
                if mine is None or encode_row(here.normalize_row(mine)) != encode_row(there.normalize_row(row)):
                    raise _SourceChanged
                self.told(here.name, 1)
        for batch in split_batches(waiting):
            with self.target.open_to_write(store) as writer:
                there.insert(writer, batch)
            self.told(here.name, len(batch))

    def compare_store(self, store: MovedStore) -> list[ComparedTable]:
        """Compare the tables of a store on both sides.

        Raises:
            DamagedStore: a table is not the same on both sides.
        """
        compared = []
        with self.source.open_to_read(store) as reader, self.target.open_to_read(store) as copied:
            for here, there in self._rows_of(store):
                mine, theirs = self._digest(here, reader), self._digest(there, copied)
                if (mine.rows, mine.text) != (theirs.rows, theirs.text):
                    raise DamagedStore(
                        f"The table '{here.name}' of {self.target.name} has {theirs.rows:,} rows with the digest "
                        f"{theirs.text}, and that of {self.source.name} has {mine.rows:,} with {mine.text}. Empty "
                        "the target, and start again."
                    )
                compared.append(ComparedTable(store.name, here.name, mine.rows, mine.text))
        return compared

    def _rows_of(self, store: MovedStore) -> list[tuple[Rows, Rows]]:
        """Yield, for source and target, everything that a store consists of, in the order in which it can be
        written.
        """
        there = {name: name for name in self.generations.values()}
        return list(zip(rows_of(store, self.generations), rows_of(store, there), strict=True))

    def _digest(self, rows: Rows, connection: Connection) -> RowDigest:
        digest = RowDigest()
        for row in rows.read(connection):
            digest.add(rows.normalize_row(row))
            self.told(f"checking {rows.name}", 1)
        return digest


def count_rows(side: Side, store: MovedStore) -> int:
    with side.open_to_read(store) as connection:
        return sum(rows.count(connection) for rows in rows_of(store, {}))


def rows_of(store: MovedStore, generations: Mapping[str, str]) -> list[Rows]:
    tables: list[Rows] = [
        RowsOfTable(
            table,
            store.generations.get(table.name),
            generations,
            store.own if table.name == "meta" else frozenset(),
            store.on_postgresql.get(table.name, ""),
            store.escaped,
        )
        for table in list_moved_tables(store)
    ]
    return [*tables, CheckpointRows(), WaitingRows()] if store.name == "threads" else tables
