"""The database of a corpus: what its store needs of an engine, and corpus.db, which is SQLite's.

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
"""During a transaction, so that changed pages are written once. Smaller again, SQLite lets go of them at once."""
EXPECTED_TABLES = {"meta", "documents", "revisions", "passages", "passage_words", "ledger", "vectors"}


class CorpusDatabase(Protocol):
    """Tables of a corpus. Safe to use from several threads."""

    shared: bool
    """Whether several processes may change it, each with a connection of its own to a server."""
    changes: ChangeLock
    """Held by who changes documents, from the first thing that is written to the last, in whichever store."""

    @property
    def read_only(self) -> bool: ...

    def connection(self) -> Connection:
        """For single statements that read, whoever may read what they find."""

    def rows_for(self, principal: Principal, sql: str, parameters: Parameters = ()) -> list[Any]:
        """The rows of one statement that reads for this principal: an engine that can keeps others' from it."""

    def reading(self, principal: Principal | None = None) -> AbstractContextManager[Connection]:
        """Several reads that see one and the same state; for a principal, or whoever may read what they find."""

    def reader_apart(self) -> AbstractContextManager[Connection]:
        """Reads beside writes of the same thread, however long they take."""

    def writing(self) -> AbstractContextManager[Connection]:
        """One transaction, durable once the block is left; an exception undoes it. Not to be nested."""

    def scrub(self) -> bool:
        """Let nothing of what was deleted stay in files, as far as we write them; whether that was done."""

    def faults(self) -> Iterator[str]:
        """Yield the faults of the tables, one sentence each. Reads everything."""

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
        # Between threads of this process; between processes SQLite's own lock decides.
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
        # A file of another program, or one that was emptied, opens without any complaint.
        if missing := EXPECTED_TABLES - tables:
            raise build_damage_error(self.path, f"tables are missing ({', '.join(sorted(missing))})")

    def connection(self) -> sqlite3.Connection:
        """This thread's own connection, in auto-commit mode."""
        return self._connections.get()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, durable once the block is left; an exception undoes it. Not to be nested."""
        with self._writing:
            connection = self.connection()
            connection.execute(f"PRAGMA cache_size = -{WRITING_KIB}")
            try:
                with transaction(connection):
                    yield connection
            finally:
                connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")

    def rows_for(self, principal: Principal, sql: str, parameters: Parameters = ()) -> list[Any]:
        """All that the statement finds: SQLite knows no readers, so who asks checks them."""
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
        """Take what was deleted out of the write-ahead log as well; False if somebody reads an earlier state now."""
        # The first column of the answer is 1 if a reader kept it from being done.
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
