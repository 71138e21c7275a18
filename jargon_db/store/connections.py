"""Connections to glossary.db: one to write and one to read per thread, and the check when it is opened.

All parts of a glossary share one `Connections`, and read and write through it alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from argot.jargon_db.store.glossary_writer import Writer
from argot.jargon_db.store.journal import ChangeKind
from argot.jargon_db.store.rows import Row, select
from argot.jargon_db.store.schema import MIGRATIONS, NAMES
from argot.remedies import damaged_store
from argot.sqlite import (
    PerThread,
    check_every_page,
    open_connection,
    open_database,
    opening,
    schema_version,
    transaction,
)
from argot.types import Principal

BUSY_SECONDS = 30.0
"""Longer than elsewhere: an import of 100,000 senses is one transaction."""


class Connections:
    """The connections of one glossary, made when a thread first asks, closed all together.

    Readers cannot write, whatever statement they are given.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._readers = PerThread(lambda: open_connection(path, mode="ro", timeout=BUSY_SECONDS))
        # Without plug-ins: packages installed beside Argot could otherwise change its connections.
        self._writers = PerThread(lambda: Database(open_connection(path, timeout=BUSY_SECONDS), execute_plugins=False))

    def reader(self) -> sqlite3.Connection:
        return self._readers.get()

    def writer(self) -> Database:
        return self._writers.get()

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """One transaction. `Database.atomic()` nests in it as a savepoint; a `writing` inside a `writing` joins it."""
        db = self.writer()
        # SQLite has no transactions within transactions; a savepoint stands for the inner one.
        with db.atomic() if db.conn.in_transaction else transaction(db.conn):
            yield db

    def select(self, sql: str, **values: Any) -> Iterator[Row]:
        """The rows of a statement, read by this thread's own reader."""
        return select(self.reader(), sql, values)

    @contextmanager
    def changing(
        self, by: Principal | None, kind: ChangeKind, *, why: str = "", name: str = "", undoes: int | None = None
    ) -> Iterator[Writer]:
        """A transaction, and the change made in it: all of it or nothing."""
        with self.writing() as db:
            writer = Writer.on_behalf(db, by, kind, why=why, name=name, undoes=undoes)
            yield writer
            # Not in a `finally`: after an error there is no change to close, for all of it is undone.
            writer.finish()

    def close(self) -> None:
        self._readers.close()
        self._writers.close()


def prepare(path: Path) -> None:
    """Makes the database if there is none, checks it if there is, and migrates it.

    Raises:
        DamagedStore: the file is no whole database of this program; the message ends with the mending command.
        StoreUnavailable: the system does not let it be opened, or made.
    """
    # What is missing is made below; only what is there can be damaged.
    if path.exists():
        with opening(path):
            _check(path)
    open_database(path, MIGRATIONS, NAMES, timeout=BUSY_SECONDS).close()


def _check(path: Path) -> None:
    # SQLite takes an empty file for a new database, and would begin an empty glossary.
    if path.stat().st_size == 0:
        raise damaged_store(path, "the file is empty")
    with closing(open_connection(path, timeout=BUSY_SECONDS)) as connection:
        # Every page at each start, at some 5 ms for each megabyte.
        check_every_page(connection, path)
        # A sound database of another program, which must not be migrated.
        if not schema_version(connection, NAMES):
            raise damaged_store(path, "it is no glossary")
