"""A SQLite file: one connection per thread, one writer at a time, and a check at the door."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlite_utils

from argot.corpus.corpus_schema import migrations
from argot.remedies import damaged_store, store_error

BUSY_SECONDS = 10.0
READING_KIB = 2_048
"""Pages that each connection may keep, and there is one for each thread; the system's own cache keeps the file."""
WRITING_KIB = 16_384
"""During a transaction, so that changed pages are written once. Smaller again, SQLite lets go of them at once."""
MAGIC = b"SQLite format 3\x00"
EXPECTED_TABLES = {"meta", "documents", "revisions", "passages", "passage_words", "ledger", "vectors"}
_HEADER_BYTES = 100


class CorpusDatabase:
    """Opened in WAL mode: readers and the one writer do not wait for each other."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        """
        Raises:
            DamagedStore: the file is no database, is truncated, or its tables are missing.
            StoreUnavailable: the system does not let it be opened.
        """
        self.path = path
        self.read_only = read_only
        self._local = threading.local()
        self._opened: list[tuple[threading.Thread, sqlite3.Connection]] = []
        self._opening = threading.Lock()
        self._writing = threading.RLock()
        check_header(path)
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self.close()
            raise store_error(path, error) from error

    def _prepare(self) -> None:
        connection = self.connection()
        if not self.read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            if migrations.pending(sqlite_utils.Database(connection)):
                with self._writing:
                    migrations.apply(sqlite_utils.Database(connection))
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if missing := EXPECTED_TABLES - tables:
            raise damaged_store(self.path, f"tables are missing ({', '.join(sorted(missing))})")

    def connection(self) -> sqlite3.Connection:
        """This thread's own connection, in auto-commit mode."""
        mine: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if mine is None:
            mine = self._local.connection = self._connect()
        return mine

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, durable once the block is left; an exception undoes it. Not to be nested."""
        with self._writing:
            connection = self.connection()
            connection.execute(f"PRAGMA cache_size = -{WRITING_KIB}")
            try:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            finally:
                connection.execute(f"PRAGMA cache_size = -{READING_KIB}")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Several reads that see one and the same state."""
        connection = self.connection()
        connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.execute("COMMIT")

    def close(self) -> None:
        with self._opening:
            for _, connection in self._opened:
                connection.close()
            self._opened.clear()
            self._local = threading.local()

    def _connect(self) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={'ro' if self.read_only else 'rwc'}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # acknowledged means durable, also when the power goes
        connection.execute("PRAGMA secure_delete = ON")  # a document that is removed is gone from the file
        connection.execute(f"PRAGMA cache_size = -{READING_KIB}")
        with self._opening:
            self._close_orphans()
            self._opened.append((threading.current_thread(), connection))
        return connection

    def _close_orphans(self) -> None:
        """A thread that ended cannot close its connection."""
        for thread, connection in self._opened:
            if not thread.is_alive():
                connection.close()
        self._opened = [(thread, connection) for thread, connection in self._opened if thread.is_alive()]


def check_header(path: Path) -> None:
    """Find a foreign or truncated file without reading it whole: its header says how many pages there must be.

    The size in the header holds only when the file's change counter says that it does, and pages may still be in the
    write-ahead log, which makes the file look short; the log is then there too.
    """
    if not path.exists() or path.stat().st_size == 0:  # not made yet, or killed in making
        return
    size = path.stat().st_size
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    log = path.with_name(path.name + "-wal")
    if len(header) < _HEADER_BYTES or not header.startswith(MAGIC):
        raise damaged_store(path, "it is not a SQLite database")
    page_size = int.from_bytes(header[16:18], "big")
    expected = int.from_bytes(header[28:32], "big") * (65536 if page_size == 1 else page_size)
    if header[24:28] == header[92:96] and size < expected and not (log.exists() and log.stat().st_size > 0):
        raise damaged_store(path, f"it is truncated ({size:,} of {expected:,} bytes)")
