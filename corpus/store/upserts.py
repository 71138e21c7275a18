"""Statements built from names, in SQL that every engine accepts."""

from __future__ import annotations

from collections.abc import Sequence


def upsert(table: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """Return the INSERT of one row by position, which replaces the row with its key. The names are constants of
    Argot's, never a user's.
    """
    rest = [column for column in columns if column not in key]
    marks = ", ".join("?" * len(columns))
    changed = ", ".join(f"{column} = excluded.{column}" for column in rest)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) "  # noqa: S608
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changed}"
    )
