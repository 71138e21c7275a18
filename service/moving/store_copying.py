"""Copies the rows of a store to the other side, goes on where a killed move stopped, and compares both afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from argot.databases import Connection
from argot.errors import DamagedStore
from argot.service.moving.checkpoint_rows import CheckpointRows, WaitingRows
from argot.service.moving.id_counters import copy_counters
from argot.service.moving.moved_rows import RowDigest, Rows, RowsOfTable, row_batches, row_bytes
from argot.service.moving.moved_stores import MovedStore, moved_tables
from argot.service.moving.sides import Side

Told = Callable[[str, int], None]
"""Called with what is done, and how many rows were dealt with since the last call."""
Renamed = Mapping[str, str]
"""What the generations of the vectors are called on the other side."""
_GENERATION = {"generations": "name", "vectors": "generation", "vector_deletions": "generation"}
"""The column of a table that names one."""


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """A table that is the same on both sides: `digest` is of all its rows in their order."""

    store: str
    name: str
    rows: int
    digest: str


class _Changed(Exception):
    """What is on the other side is not the beginning of what is here: it was changed since the move was cut off."""


def rows_of(store: MovedStore, renamed: Renamed) -> list[Rows]:
    """All that a store consists of, in the order in which it can be written."""
    tables: list[Rows] = []
    for table in moved_tables(store):
        column = _GENERATION.get(table.name) if store.name == "corpus" else None
        tables.append(RowsOfTable(table, column, renamed))
    return [*tables, CheckpointRows(), WaitingRows()] if store.name == "threads" else tables


def count_rows(side: Side, store: MovedStore) -> int:
    with side.reading(store) as connection:
        return sum(rows.count(connection) for rows in rows_of(store, {}))


def copy_store(source: Side, target: Side, store: MovedStore, renamed: Renamed, told: Told) -> None:
    """Copy what is not there yet. Killed at any point, it can be called again."""
    target.prepare(store)
    try:
        _copied(source, target, store, renamed, told)
    except _Changed:
        target.empty(store)
        _copied(source, target, store, renamed, told)


def _copied(source: Side, target: Side, store: MovedStore, renamed: Renamed, told: Told) -> None:
    with source.reading(store) as reader:
        for rows in rows_of(store, renamed):
            _copy_rows(reader, target, store, rows, told)
        with target.writing(store) as writer:
            copy_counters(reader, writer, moved_tables(store))
    told(f"index of {store.name}", 0)
    with target.writing(store) as writer:
        store.derive(writer)


def _copy_rows(reader: Connection, target: Side, store: MovedStore, rows: Rows, told: Told) -> None:
    """
    Raises:
        _Changed
    """
    waiting = rows.read(reader)
    with target.reading(store) as there:
        for row in rows.read(there):
            here = next(waiting, None)
            if here is None or row_bytes(here) != row_bytes(row):
                raise _Changed
            told(rows.name, 1)
    for batch in row_batches(waiting):
        with target.writing(store) as writer:
            rows.insert(writer, batch)
        told(rows.name, len(batch))


def compare_store(source: Side, target: Side, store: MovedStore, renamed: Renamed, told: Told) -> list[ComparedTable]:
    """
    Raises:
        DamagedStore: a table is not the same on both sides.
    """
    compared = []
    with source.reading(store) as here, target.reading(store) as there:
        for rows in rows_of(store, renamed):
            mine, theirs = _digest(rows, here, told), _digest(rows, there, told)
            if (mine.rows, mine.text) != (theirs.rows, theirs.text):
                raise DamagedStore(
                    f"The table '{rows.name}' of {target.name} has {theirs.rows:,} rows with the digest {theirs.text},"
                    f" and that of {source.name} has {mine.rows:,} with {mine.text}. Empty the target, and begin again."
                )
            compared.append(ComparedTable(store.name, rows.name, mine.rows, mine.text))
    return compared


def _digest(rows: Rows, connection: Connection, told: Told) -> RowDigest:
    digest = RowDigest()
    for row in rows.read(connection):
        digest.add(row)
        told(f"checking {rows.name}", 1)
    return digest
