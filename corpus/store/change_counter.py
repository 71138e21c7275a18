"""The version of the documents: cached results of an earlier version are stale."""

from __future__ import annotations

from argot.databases import Connection


def count_change(connection: Connection) -> None:
    connection.execute(
        "INSERT INTO meta (key, value) VALUES ('version', '1') "
        "ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(meta.value AS INTEGER) + 1 AS TEXT)"
    )
