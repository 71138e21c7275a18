"""The rows of a table, read and written alike on both engines, and the rules for comparing them."""

# ruff: noqa: S608  only names of our own tables and columns are put into SQL
from __future__ import annotations

import hashlib
import itertools
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from argot.databases import Connection, replace_nul
from argot.errors import DamagedStore
from argot.jargon_db.store.nul_texts import escape, unescape
from argot.service.moving.moved_stores import MovedTable

Row: TypeAlias = tuple[Any, ...]

BATCH_BYTES = 2 * 1024 * 1024
"""Approximate bytes read and written at a time."""
MAX_BATCH_ROWS = 1000
_FEW_ROWS = 16
_cursors = itertools.count()


class Rows(Protocol):
    """Rows that are copied individually: a table, or its counterpart.

    Attributes:
        name: used in messages and the report.
    """

    @property
    def name(self) -> str: ...

    def read(self, connection: Connection) -> Iterator[Row]:
        """Yield all rows in the order of their keys, with the same values on either engine."""
        ...

    def insert(self, connection: Connection, rows: Sequence[Row]) -> None: ...

    def normalize_row(self, row: Row) -> Row:
        """Return a row in a form that is the same for the same content."""
        ...

    def count(self, connection: Connection) -> int: ...


# -- what a row is ----------------------------------------------------------------------------------------------------


def convert_row(row: Iterable[Any]) -> Row:
    """Return the values in SQLite's types: None, int, float, str, bytes."""
    return tuple(_convert_value(value) for value in row)


def _convert_value(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return bytes(value) if isinstance(value, bytearray | memoryview) else value


def encode_row(row: Row) -> bytes:
    """Return the same bytes for the same values, and different ones for different values, on either engine.

    Each value with its kind and length: 1, 1.0 and "1" differ, and so do ("a", "bc") and ("ab", "c").
    """
    parts = []
    for value in row:
        kind, data = _encode_value(value)
        parts.append(b"%s%d:" % (kind, len(data)) + data)
    return b"".join(parts)


def _encode_value(value: Any) -> tuple[bytes, bytes]:
    match value:
        case None:
            return b"N", b""
        case int():
            return b"I", b"%d" % value
        case float():
            return b"F", struct.pack(">d", value)
        case str():
            return b"T", value.encode()
        case bytes():
            return b"B", value
    raise TypeError(f"A value of {type(value).__name__} cannot be copied.")


class RowDigest:
    """The number of rows, and one digest (BLAKE2b, 16 bytes) of all in their order."""

    def __init__(self) -> None:
        self.rows = 0
        self._digest = hashlib.blake2b(digest_size=16)

    def add(self, row: Row) -> None:
        data = encode_row(row)
        self._digest.update(b"%d:" % len(data) + data)
        self.rows += 1

    @property
    def text(self) -> str:
        return self._digest.hexdigest()


# -- a table ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RowsOfTable:
    """The rows of one table.

    Args:
        column: the column whose values differ on the other side; None: none.
        names: their new values by the old ones. Rows with a value that is not among them are left out.
        own: keys of rows that are left out.
        on_postgresql: the table's name there.
        escaped: its texts are stored there with U+0000 escaped. In those of other tables U+FFFD replaces it.
    """

    table: MovedTable
    column: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    on_postgresql: str = ""
    escaped: bool = False

    @property
    def name(self) -> str:
        return self.table.name

    def _find_name(self, connection: Connection) -> str:
        there = not isinstance(connection, sqlite3.Connection)
        return quote_name(self.on_postgresql if there and self.on_postgresql else self.name)

    def _has_changes(self, connection: Connection) -> bool:
        return self.escaped and not isinstance(connection, sqlite3.Connection)

    def read(self, connection: Connection) -> Iterator[Row]:
        table, key = self._find_name(connection), _join_columns(self.table.key)
        sql = f"SELECT {_join_columns(self.table.columns)} FROM {table} ORDER BY {key}"
        rows: Iterator[Row] = map(convert_row, fetch_rows(connection, sql))
        if self._has_changes(connection):
            rows = (_map_texts(row, unescape) for row in rows)
        elif not self.escaped:
            rows = (_map_texts(row, replace_nul) for row in rows)
        if self.own:
            place = self.table.columns.index(self.table.key[0])
            rows = filter(lambda row: row[place] not in self.own, rows)
        return rows if self.column is None else self._name_rows(rows, self.table.columns.index(self.column))

    def _name_rows(self, rows: Iterator[Row], place: int) -> Iterator[Row]:
        for row in rows:
            if (name := self.names.get(row[place])) is not None:
                yield (*row[:place], name, *row[place + 1 :])

    def insert(self, connection: Connection, rows: Sequence[Row]) -> None:
        columns = self.table.columns
        marks = ", ".join("?" for _ in columns)
        if self._has_changes(connection):
            rows = [_map_texts(row, escape) for row in rows]
        table = self._find_name(connection)
        connection.executemany(f"INSERT INTO {table} ({_join_columns(columns)}) VALUES ({marks})", rows)

    def normalize_row(self, row: Row) -> Row:
        return row

    def count(self, connection: Connection) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {self._find_name(connection)}").fetchone()[0])


def _map_texts(row: Row, changed: Callable[[str], str]) -> Row:
    return tuple(changed(value) if isinstance(value, str) else value for value in row)


def quote_name(name: str) -> str:
    """Some of Argot's columns have names that are words of SQL ('end', 'user')."""
    return f'"{name}"'


def _join_columns(columns: Iterable[str]) -> str:
    return ", ".join(map(quote_name, columns))


def fetch_rows(connection: Connection, sql: str) -> Iterator[Any]:
    """Yield the rows of a statement, a few at a time: never more in memory than a batch, however many there are."""
    if isinstance(connection, sqlite3.Connection):
        cursor = connection.cursor()
        cursor.row_factory = None
        cursor.execute(sql)
        while rows := _fetch_batch(cursor):
            yield from rows
        return
    # A cursor that is not read to its end is closed with the transaction.
    name = f"moved_{next(_cursors)}"
    connection.execute(f"DECLARE {name} NO SCROLL CURSOR FOR {sql}")
    limit = _FEW_ROWS
    while rows := connection.execute(f"FETCH {limit} FROM {name}").fetchall():
        yield from rows
        limit = min(MAX_BATCH_ROWS, max(1, BATCH_BYTES * len(rows) // (1 + sum(map(estimate_size, rows)))))
    connection.execute(f"CLOSE {name}")


def _fetch_batch(cursor: sqlite3.Cursor) -> list[Any]:
    try:
        return cursor.fetchmany(_FEW_ROWS)
    except sqlite3.OperationalError as error:
        if "decode to UTF-8" in str(error):
            raise DamagedStore(f"A text is not valid UTF-8 ({error}), so PostgreSQL cannot store it.") from error
        raise


def estimate_size(row: Iterable[Any]) -> int:
    """Return about how many bytes its values take."""
    return sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)


def split_batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield lists of rows of about `BATCH_BYTES` each."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += estimate_size(row)
        if size >= BATCH_BYTES or len(batch) >= MAX_BATCH_ROWS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
