"""The database of a corpus: the interface to an engine that its store needs, and corpus.db, which is SQLite's.

corpus.db has one connection per thread, one writer at a time, and a check when it is opened.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from argot.corpus.change_lock import ChangeLock
from argot.corpus.corpus_schema import MIGRATIONS, NAMES
from argot.databases import Connection, Parameters
from argot.remedies import build_damage_error
from argot.sqlite import (
    CACHE_KIB,
    PerThread,
    check_header,
    convert_open_errors,
    migrate,
    one_state,
    open_connection,
    transaction,
)
from argot.types import Principal

WRITING_KIB = 16_384
"""During a transaction, so that changed pages are written once. When reduced again, SQLite releases them at once."""
EXPECTED_TABLES = {"meta", "documents", "revisions", "passages", "passage_words", "ledger", "vectors"}


class CorpusDatabase(Protocol):
    """Tables of a corpus. Safe to use from several threads."""

    shared: bool
    """Whether several processes may change it, each with its own connection to a server."""
    changes: ChangeLock
    """Held by the writer of documents, from the first write to the last, in any store."""

    @property
    def read_only(self) -> bool: ...

    def connection(self) -> Connection:
        """Open a connection for single reading statements, without access checks."""

    def rows_for(self, principal: Principal, sql: str, parameters: Parameters = ()) -> list[Any]:
        """Return the rows of one reading statement for this principal: an engine that can hides others' rows."""

    def reading(self, principal: Principal | None = None) -> AbstractContextManager[Connection]:
        """Open several reads of the same state; for a principal, or without access checks."""

    def reader_apart(self) -> AbstractContextManager[Connection]:
        """Open reads that run beside writes of the same thread, however long they take."""

    def writing(self) -> AbstractContextManager[Connection]:
        """Open one transaction, durable once the block is left; an exception undoes it. It must not be nested."""

    def scrub(self) -> bool:
        """Remove deleted data from files, as far as Argot writes them; return whether that was done."""

    def faults(self) -> Iterator[str]:
        """Yield the faults of the tables, one sentence each. It reads everything."""

    def close(self) -> None: ...


class SqliteCorpusDatabase:
    """Opened in WAL mode: readers and the one writer do not wait for each other."""

    shared = False

    def __init__(self, path: Path, *, read_only: bool) -> None:
        """
        Raises:
            DamagedStore: the file is no database, is truncated, its tables are missing, or a newer Argot wrote it.
            StoreUnavailable: the system does not let it be opened.
        """
        self.path = path
        self.read_only = read_only
        self._connections = PerThread(lambda: open_connection(path, mode="ro" if read_only else "rwc"))
        # Between threads of this process; SQLite's own lock decides between processes.
        self._writing = threading.RLock()
        self.changes = ChangeLock()
        check_header(path)
        try:
            with convert_open_errors(path):
                self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        connection = self.connection()
        if not self.read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection, self.path, MIGRATIONS, NAMES)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        # A file of another program, or one that was emptied, opens without an error.
        if missing := EXPECTED_TABLES - tables:
            raise build_damage_error(self.path, f"tables are missing ({', '.join(sorted(missing))})")

    def connection(self) -> sqlite3.Connection:
        """Return this thread's own connection, in auto-commit mode."""
        return self._connections.get()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open one transaction, durable once the block is left; an exception undoes it. It must not be nested."""
        with self._writing:
            connection = self.connection()
            connection.execute(f"PRAGMA cache_size = -{WRITING_KIB}")
            try:
                with transaction(connection):
                    yield connection
            finally:
                connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")

    def rows_for(self, principal: Principal, sql: str, parameters: Parameters = ()) -> list[Any]:
        """Return all rows of the statement: SQLite knows no readers, so the caller checks them."""
        return self.connection().execute(sql, parameters).fetchall()

    @contextmanager
    def reading(self, principal: Principal | None = None) -> Iterator[sqlite3.Connection]:
        connection = self.connection()
        with one_state(connection):
            yield connection

    @contextmanager
    def reader_apart(self) -> Iterator[sqlite3.Connection]:
        with closing(open_connection(self.path, mode="ro")) as reader:
            yield reader

    def scrub(self) -> bool:
        """Remove deleted data from the write-ahead log as well; return False if a reader still uses an earlier
        state.
        """
        # The first column of the answer is 1 if a reader prevented it.
        return not self.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    def faults(self) -> Iterator[str]:
        try:
            # Twenty lines are enough to know; a damaged file can have thousands.
            for (line,) in self.connection().execute("PRAGMA integrity_check(20)"):
                if line != "ok":
                    yield f"{self.path.name}: {line}"
        except sqlite3.DatabaseError as error:
            yield f"{self.path.name}: {error}"

    def close(self) -> None:
        self._connections.close()
