"""SQLite as the service's own stores use it: opened alike, migrated step by step, damage found before use."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from argot.errors import DamagedStore
from argot.remedies import UPDATE, damaged_store, store_error
from argot.service.storage import home_folder as layout

BUSY_SECONDS = 10.0
SMALL_BYTES = 32 * 1024 * 1024
"""Up to this size a store is checked page by page at every start (about 5 ms for each megabyte)."""


LEAST_BYTES = 512
"""The smallest page, and so the smallest database; SQLite takes anything shorter for a new one."""


def open_database(path: Path, migrations: Sequence[str]) -> sqlite3.Connection:
    """A connection in WAL mode to a store that has seen every migration; every commit is durable.

    A new store is made under another name and put in its place when finished, so that an empty file is always damage.
    Until then it has no write-ahead log: what a full disk kept from leaving the log would be missing in the file.
    To be used by one thread at a time.

    Raises:
        DamagedStore: a newer Argot wrote the file, or it is corrupt.
    """
    if not path.exists():
        fresh = path.with_name(f".{path.name}.new")
        fresh.unlink(missing_ok=True)
        with closing(_connect(fresh, journal="DELETE")) as connection:
            _migrate(connection, migrations, fresh)
        fresh.rename(path)
    connection = _connect(path)
    try:
        _migrate(connection, migrations, path)
    except BaseException:
        connection.close()
        raise
    return connection


class Database:
    """A store that several threads share: one connection writes, another reads, so that no read waits for a write.

    Args:
        path: the file; made if it is not there.
        migrations: as for `open_database`.

    Raises:
        DamagedStore, StoreUnavailable: by every method, as `damage_named` says.
    """

    def __init__(self, path: Path, migrations: Sequence[str]) -> None:
        self.path = path
        self._writer, self._writing = open_database(path, migrations), threading.Lock()
        self._reader, self._reading = open_database(path, migrations), threading.Lock()

    def rows(self, sql: str, *parameters: object) -> list[sqlite3.Row]:
        with self.reader() as connection:
            return connection.execute(sql, parameters).fetchall()

    def write(self, sql: str, *parameters: object) -> int:
        """Run one statement, which is its own transaction; how many rows it changed."""
        with self._writing, damage_named(self.path):
            return self._writer.execute(sql, parameters).rowcount

    def write_returning(self, sql: str, *parameters: object) -> list[sqlite3.Row]:
        """Run one statement that says RETURNING; those rows."""
        with self._writing, damage_named(self.path):
            return self._writer.execute(sql, parameters).fetchall()

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """The connection that reads, for one thread."""
        with self._reading, damage_named(self.path):
            yield self._reader

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection that writes, for one thread: all of what is written comes to pass, or nothing."""
        with self._writing, damage_named(self.path), self._writer as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def scrub(self) -> bool:
        """Take the write-ahead log into the file and cut it to nothing: it holds earlier states of what was deleted.

        False if somebody reads an earlier state just now.
        """
        with self._reading, self._writing, damage_named(self.path):
            blocked = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return not blocked

    def close(self) -> None:
        self._writer.close()
        self._reader.close()


def _connect(path: Path, *, journal: str = "WAL") -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    with damage_named(path):
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted is gone from the file
    return connection


def _migrate(connection: sqlite3.Connection, steps: Sequence[str], path: Path) -> None:
    """Run the steps this file has not seen yet, each in a transaction; `user_version` counts them."""
    with damage_named(path):
        seen = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if seen > len(steps):
            raise DamagedStore(f"{path} was written by a newer Argot. {UPDATE}")
        for number, step in enumerate(steps[seen:], start=seen + 1):
            connection.executescript(f"BEGIN; {step}; PRAGMA user_version = {number}; COMMIT;")


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn SQLite's errors of a damaged file, a full disk or a lack of permission into one with a remedy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        at_fault_ourselves = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
        if at_fault_ourselves or isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise
        raise store_error(path, error) from error


def check_database(path: Path, *, thoroughly: bool = False) -> None:
    """See that a store can be used: it opens, is as long as it says and, if small or asked for, every page is sound.

    A file that was never there is no damage, nor is an empty corpus.db: that one knows itself whether it was ever more.
    The write-ahead log of a killed process is taken in first: a page of the main file may be missing there and yet be
    safe in the log.

    Raises:
        DamagedStore, StoreUnavailable
    """
    if not path.exists() and path.name in layout.noted_stores(path.parent):
        raise damaged_store(path, "it is missing")
    if not path.exists() or (path.name == layout.CORPUS and path.stat().st_size == 0):
        return
    if path.stat().st_size < LEAST_BYTES:
        raise damaged_store(path, f"{path.stat().st_size} bytes")
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
            _check_open(connection, path, thoroughly=thoroughly)
    except sqlite3.DatabaseError as error:
        raise store_error(path, error) from error


def _check_open(connection: sqlite3.Connection, path: Path, *, thoroughly: bool) -> None:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    pages, page_size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    size = path.stat().st_size
    if size < pages * page_size:
        raise damaged_store(path, f"{size} bytes, {pages * page_size} expected")
    if not tables and path.name != layout.CORPUS:
        raise damaged_store(path, "it holds no table")
    if thoroughly or size <= SMALL_BYTES:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise damaged_store(path, str(found))
