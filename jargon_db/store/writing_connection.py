"""A connection for writing a glossary, and SQLite's implementation."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from argot.databases import SQLITE, Connection, Cursor, Dialect


class WritingConnection(Connection, Protocol):
    """A connection within a transaction, for one thread."""

    @property
    def dialect(self) -> Dialect: ...

    def add_rows(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        """Add many new rows to a table, as fast as the engine can. `columns`: their names, separated by commas."""


class SqliteWriter:
    """A `WritingConnection` to glossary.db."""

    dialect = SQLITE

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        return self._connection.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Cursor:
        return self._connection.executemany(sql, parameters)

    def add_rows(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        places = ", ".join("?" for _ in columns.split(","))
        self._connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)  # noqa: S608
