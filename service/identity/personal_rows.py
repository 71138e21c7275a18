"""The rows of people.db that belong to one person: listing and erasing them.

Each table is listed with the column that contains the person's name. A test fails for a table that is missing here, so
that none is forgotten when one is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from argot.databases import Connection, Dialect

PERSONAL: dict[str, str] = {
    "users": "name",
    "memberships": "user",
    "managed": "user",
    "sessions": "user",
    "notices": "person",
    "keys": "user",
    "provider_links": "user",
    "provisioned_people": "user",
    "provisioned_members": "user",
    "slack_people": "user",
    "slack_threads": "owner",
}
"""Table and column. `users` is erased last, because others refer to it."""
IMPERSONAL = frozenset({"provisioned_groups", "slack_channels", "slack_views", "slack_events", "sqlite_sequence"})
"""Tables without names, or with names only until their pending action is done."""
_SECRET = frozenset({"hash", "password", "refresh_token"})


def list_tables(connection: Connection, dialect: Dialect) -> set[str]:
    return {str(row[0]) for row in connection.execute(dialect.tables)}


def list_personal_rows(
    connection: Connection, dialect: Dialect, names: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return every row of these names, by table, without hashes of passwords, sessions and keys, and without tokens."""
    there = list_tables(connection, dialect)
    kept: dict[str, list[dict[str, Any]]] = {}
    for table, column in PERSONAL.items():
        if table in there and (rows := _list_rows(connection, table, column, names)):
            kept[table] = rows
    return kept


def erase(connection: Connection, dialect: Dialect, names: Sequence[str]) -> int:
    """Delete these rows, within the caller's transaction; return how many there were."""
    there, gone = list_tables(connection, dialect), 0
    # In reverse order, so that `users`, to which they refer, is last.
    for table, column in reversed(PERSONAL.items()):
        if table in there:
            for name in names:
                gone += connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (name,)).rowcount  # noqa: S608
    return gone


def _list_rows(connection: Connection, table: str, column: str, names: Sequence[str]) -> list[dict[str, Any]]:
    # Lists cannot be bound; the names of tables and columns are constants of Argot's.
    marks = ", ".join("?" * len(names))
    found = connection.execute(f"SELECT * FROM {table} WHERE {column} IN ({marks})", tuple(names))  # noqa: S608
    columns = [one[0] for one in found.description]
    return [{key: value for key, value in zip(columns, row, strict=True) if key not in _SECRET} for row in found]
