"""Many rows in one statement, or in one call, whichever is faster on the engine."""

# ruff: noqa: S608  only our own names and types are put into SQL
from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from argot.databases import Connection


def insert_many(
    connection: Connection,
    table: str,
    columns: Mapping[str, str],
    rows: Sequence[Sequence[Any]],
    conflict: str = "",
) -> None:
    """Insert rows within the caller's transaction.

    Args:
        columns: their names, and PostgreSQL's types. Names and types are constants of Argot's, never a user's.
        conflict: the action for existing rows, as written after ON CONFLICT. No two rows are the same.
    """
    if not rows:
        return
    begin = f"INSERT INTO {table} ({', '.join(columns)}) "
    end = f" ON CONFLICT {conflict}" if conflict else ""
    if isinstance(connection, sqlite3.Connection):
        connection.executemany(f"{begin}VALUES ({', '.join('?' * len(columns))}){end}", rows)
    else:
        # One statement for all: each alone would be a round trip, or at least a plan to start and end.
        lists = ", ".join(f"CAST(? AS {type_}[])" for type_ in columns.values())
        connection.execute(
            f"{begin}SELECT * FROM unnest({lists}){end}", [list(column) for column in zip(*rows, strict=True)]
        )
