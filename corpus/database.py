"""corpus.db: one connection per thread, one writer at a time, and a check when it is opened."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from argot.corpus.corpus_schema import MIGRATIONS, NAMES
from argot.remedies import damaged_store
from argot.sqlite import CACHE_KIB, PerThread, check_header, migrate, open_connection, opening, transaction

WRITING_KIB = 16_384
"""During a transaction, so that changed pages are written once. Smaller again, SQLite lets go of them at once."""
EXPECTED_TABLES = {"meta", "documents", "revisions", "passages", "passage_words", "ledger", "vectors"}


class CorpusDatabase:
    """Opened in WAL mode: readers and the one writer do not wait for each other."""

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
        check_header(path)
        try:
            with opening(path):
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
            raise damaged_store(self.path, f"tables are missing ({', '.join(sorted(missing))})")

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

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Several reads that see one and the same state."""
        connection = self.connection()
        # Deferred: it takes no lock that a writer would wait for.
        connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.execute("COMMIT")

    def close(self) -> None:
        self._connections.close()
