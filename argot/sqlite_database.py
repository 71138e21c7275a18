"""A store in a SQLite file that several threads share."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from argot.databases import SQLITE, StoreMigration
from argot.sqlite import convert_sqlite_errors, one_state, open_database
from argot.sqlite import transaction as in_transaction


class SqliteDatabase:
    """One connection writes, another reads, so that no read waits for a write.

    Args:
        path: the file; created if missing.
        migrations: as for `open_database`.

    Raises:
        DamagedStore, StoreUnavailable: from every method, as `convert_sqlite_errors` describes.
    """

    dialect = SQLITE

    def __init__(self, path: Path, migrations: Sequence[StoreMigration]) -> None:
        self.path = path
        # The locks are for the threads of this process; other processes wait in SQLite itself.
        self._writer, self._writing = open_database(path, migrations), threading.Lock()
        self._reader, self._reading = open_database(path, migrations), threading.Lock()
        self._writer.row_factory = self._reader.row_factory = sqlite3.Row

    @property
    def name(self) -> str:
        return str(self.path)

    def rows(self, sql: str, *parameters: object) -> list[sqlite3.Row]:
        with self.reader() as connection:
            return connection.execute(sql, parameters).fetchall()

    def write(self, sql: str, *parameters: object) -> int:
        """Run one statement, which is its own transaction; return how many rows it changed."""
        with self._writing, convert_sqlite_errors(self.path):
            return self._writer.execute(sql, parameters).rowcount

    def write_returning(self, sql: str, *parameters: object) -> list[sqlite3.Row]:
        """Run one statement with RETURNING; return those rows."""
        with self._writing, convert_sqlite_errors(self.path):
            return self._writer.execute(sql, parameters).fetchall()

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """Borrow the connection for reading, for one thread."""
        with self._reading, convert_sqlite_errors(self.path):
            yield self._reader

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Borrow the connection for reading, within one state."""
        with self.reader() as connection, one_state(connection):
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Borrow the connection for writing, for one thread: all of it is committed, or nothing."""
        with self._writing, convert_sqlite_errors(self.path), in_transaction(self._writer):
            yield self._writer

    def scrub(self) -> bool:
        """Move the write-ahead log into the file and truncate it: it contains earlier states of deleted data.

        Return False if a reader still uses an earlier state.
        """
        # Both locks: a read in progress in this process would keep the log from being truncated.
        with self._reading, self._writing, convert_sqlite_errors(self.path):
            blocked = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return not blocked

    def close(self) -> None:
        # After the statements of other threads: SQLite ends the process when their connection is closed under them.
        with self._writing:
            self._writer.close()
        with self._reading:
            self._reader.close()


class SqliteStores:
    """The stores of a knowledge base as files of its folder."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def open(self, name: str, migrations: Sequence[StoreMigration]) -> SqliteDatabase:
        """Open a store; `people` is in `people.db`."""
        return SqliteDatabase(self.home / f"{name}.db", migrations)

    def holds(self, name: str) -> bool:
        return (self.home / f"{name}.db").exists()

    def close(self) -> None:
        """Only the stores hold files open."""
