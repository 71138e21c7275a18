"""Connections to glossary.db: one for writing and one for reading per thread, and the check when it is opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argot.databases import SQLITE
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.rows import Row
from argot.jargon_db.store.schema import MIGRATIONS, NAMES
from argot.jargon_db.store.writing_connection import SqliteWriter
from argot.remedies import build_damage_error
from argot.sqlite import (
    PerThread,
    check_every_page,
    convert_open_errors,
    open_connection,
    open_database,
    read_schema_version,
    transaction,
)

if TYPE_CHECKING:
    from sqlite_utils import Database

BUSY_SECONDS = 30.0
"""Longer than elsewhere: an import of 100,000 senses is one transaction."""


class SqliteConnections(Connections):
    """The connections to one file, opened when a thread first needs one, closed all together."""

    dialect = SQLITE

    def __init__(self, path: Path) -> None:
        self.path = path
        self._readers = PerThread(lambda: open_connection(path, mode="ro", timeout=BUSY_SECONDS))
        self._writers = PerThread(lambda: open_connection(path, timeout=BUSY_SECONDS))

    def reader(self) -> sqlite3.Connection:
        return self._readers.get()

    @contextmanager
    def writing(self) -> Iterator[SqliteWriter]:
        db = _wrap(self._writers.get())
        # SQLite has no nested transactions; a savepoint replaces the inner one.
        with db.atomic() if db.conn.in_transaction else transaction(db.conn):
            yield SqliteWriter(db.conn)

    def stream(self, sql: str, **values: Any) -> Iterator[Row]:
        # SQLite computes each row on demand.
        return self.select(sql, **values)

    def scrub(self) -> bool:
        # Deleted rows stay readable in the log until it is truncated. The first column is 1 if that failed.
        return not self._writers.get().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    def copy_to(self, path: Path) -> None:
        with (
            closing(open_connection(self.path, mode="ro")) as source,
            closing(open_connection(path, mode="rwc")) as target,
        ):
            # SQLite's own backup: a copied file would lack the data that are still in the log.
            source.backup(target)

    def close(self) -> None:
        self._readers.close()
        self._writers.close()


def _wrap(connection: sqlite3.Connection) -> Database:
    # Imported here because most commands only read, and it takes longer to import than the glossary.
    from sqlite_utils import Database

    # Without plug-ins: packages installed beside Argot could otherwise change its connections.
    return Database(connection, execute_plugins=False)


def prepare(path: Path) -> None:
    """Create the database if there is none, check it if there is, and migrate it.

    Raises:
        DamagedStore: the file is no intact database of this program; the message ends with the repair command.
        StoreUnavailable: the system does not let it be opened, or created.
    """
    # A missing file is created below; only an existing one can be damaged.
    if path.exists():
        with convert_open_errors(path):
            _check(path)
    open_database(path, MIGRATIONS, NAMES, timeout=BUSY_SECONDS).close()


def _check(path: Path) -> None:
    # SQLite treats an empty file as a new database, and would begin an empty glossary.
    if path.stat().st_size == 0:
        raise build_damage_error(path, "the file is empty")
    with closing(open_connection(path, timeout=BUSY_SECONDS)) as connection:
        # Every page at each start, at some 5 ms for each megabyte.
        check_every_page(connection, path)
        # A sound database of another program, which must not be migrated.
        if not read_schema_version(connection, NAMES):
            raise build_damage_error(path, "it is no glossary")
