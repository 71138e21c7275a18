"""A glossary on PostgreSQL as an SQLite file, in which a change can be tried."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from argot.databases import Connection
from argot.jargon_db.store.sqlite_connections import SqliteConnections, prepare

_TABLES = (
    "contexts", "terms", "senses", "aliases", "changes", "history", "accepted_conflicts", "misses", "miss_questions",
    "proposals", "uses", "mined", "import_columns",
)  # fmt: skip
"""In an order in which the rows that each row refers to come first."""


def copy_to_sqlite(source: Connection, path: Path) -> None:
    """Copy all rows that a transaction sees into a new file; the search box's index is derived, and left out."""
    prepare(path)
    with closing(SqliteConnections(path)) as target, target.writing() as connection:
        for table in _TABLES:
            found = source.execute(f"SELECT * FROM {table} ORDER BY 1")  # noqa: S608
            connection.add_rows(table, ", ".join(column[0] for column in found.description), found)
        (version,) = source.execute("SELECT value FROM meta").fetchone()
        connection.execute("UPDATE meta SET value = ?", (version,))
