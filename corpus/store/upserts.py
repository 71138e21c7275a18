"""Statements that are made of names, in words that every engine knows."""

from __future__ import annotations

from collections.abc import Sequence


def upsert(table: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """INSERT of one row by place, which takes the place of the one with its key. The names are ours, never a user's."""
    rest = [column for column in columns if column not in key]
    marks = ", ".join("?" * len(columns))
    changed = ", ".join(f"{column} = excluded.{column}" for column in rest)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) "  # noqa: S608
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changed}"
    )
