"""The automatic numbers of tables, which must not be reused on the other side either."""

# ruff: noqa: S608  only names of our own tables and columns are put into SQL
from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from argot.databases import Connection
from argot.service.moving.moved_rows import quote_name
from argot.service.moving.moved_stores import MovedTable

_IDENTITY = "SELECT CAST(attname AS text) FROM pg_attribute WHERE attrelid = to_regclass(?) AND attidentity != ''"


def copy_counters(source: Connection, target: Connection, tables: Sequence[MovedTable]) -> None:
    """Set each table's counter to its source value, or after its highest number if that is greater."""
    for table in tables:
        _set_counter(target, table.name, _read_counter(source, table.name))


def _read_counter(connection: Connection, table: str) -> int:
    """Return the highest number ever assigned; 0 if it is not recorded."""
    if isinstance(connection, sqlite3.Connection):
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'").fetchone():
            return 0
        row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        return int(row[0]) if row else 0
    counters = [_find_sequence(connection, table, column) for (column,) in _find_identity(connection, table)]
    counts = [connection.execute(f"SELECT last_value, is_called FROM {name}").fetchone() for name in counters]
    return max((int(last) for last, called in counts if called), default=0)


def _set_counter(connection: Connection, table: str, least: int) -> None:
    if isinstance(connection, sqlite3.Connection):
        # SQLite has a row for each table that counts, as soon as a number was assigned.
        if least and _has_counter(connection, table):
            connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, least))
        return
    for (column,) in _find_identity(connection, table):
        sql = f"SELECT coalesce(max({quote_name(column)}), 0) FROM {quote_name(table)}"
        highest = connection.execute(sql).fetchone()[0]
        if last := max(least, int(highest)):
            connection.execute(
                "SELECT setval(CAST(? AS regclass), ?)", (_find_sequence(connection, table, column), last)
            )


def _has_counter(connection: Connection, table: str) -> bool:
    sql = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
    row = connection.execute(sql, (table,)).fetchone()
    return row is not None and "AUTOINCREMENT" in row[0]


def _find_identity(connection: Connection, table: str) -> Sequence[tuple[str]]:
    return [(row[0],) for row in connection.execute(_IDENTITY, (quote_name(table),)).fetchall()]


def _find_sequence(connection: Connection, table: str, column: str) -> str:
    return str(connection.execute("SELECT pg_get_serial_sequence(?, ?)", (quote_name(table), column)).fetchone()[0])
