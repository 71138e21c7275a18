"""SQLite for all stores: opening a file, changing it, migrating it, and reporting its problems.

A store's migrations are numbered from 1 in the order of their tuple, and `PRAGMA user_version` counts those applied.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from argot.clock import timestamp
from argot.databases import AdditiveMigration, PerEngine, PostgresqlMigration, StoreMigration
from argot.errors import DamagedStore
from argot.remedies import UPDATE, build_damage_error, explain_store_error

BUSY_SECONDS = 10.0
"""How long a statement waits for another writer."""
CLOSE_SECONDS = 5.0
"""How long closing waits for statements of other threads."""
_POLL_SECONDS = 0.005
CACHE_KIB = 2_048
"""Pages that each thread's connection may cache; the system's cache keeps the file."""
MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100

Migration = StoreMigration
"""One step of a schema: a script, or a function that is called within the transaction. Never edit it once released."""


# -- opening ----------------------------------------------------------------------------------------------------------


def open_connection(
    path: Path,
    *,
    mode: Literal["ro", "rw", "rwc"] = "rw",
    timeout: float = BUSY_SECONDS,
    synchronous: Literal["NORMAL", "FULL"] = "FULL",
) -> sqlite3.Connection:
    """Return a connection in auto-commit mode, for one thread at a time; another may close it.

    Args:
        mode: "ro" refuses every change, "rwc" creates a missing file.
        timeout: seconds that a statement waits for another writer.
        synchronous: "FULL" makes acknowledged data durable, even if the power fails.

    Raises:
        sqlite3.DatabaseError: it cannot be opened, or is no database (not always noticed before the first statement).
    """
    address = f"{path.absolute().as_uri()}?mode={mode}"
    # `isolation_level=None`: Python would begin transactions by itself, at moments of its own choosing.
    connection = sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA secure_delete = ON")  # deleted data are removed from the file
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        if mode == "ro":
            connection.execute("PRAGMA query_only = ON")  # refuses temporary tables and attached files, too
    except BaseException:
        connection.close()
        raise
    return connection


def open_database(
    path: Path, migrations: Sequence[Migration], names: MigrationNames | None = None, *, timeout: float = BUSY_SECONDS
) -> sqlite3.Connection:
    """Return a connection in WAL mode to a store with every migration applied; a missing store is created.

    Raises:
        DamagedStore: a newer Argot wrote the file, or it is corrupt.
        StoreUnavailable: the system does not let it be opened, or created.
    """
    with convert_open_errors(path):
        if not path.exists():
            _create(path, migrations, names)
        connection = open_connection(path, timeout=timeout)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection, path, migrations, names)
        except BaseException:
            connection.close()
            raise
    return connection


def create_empty_store(migrations: Sequence[Migration], names: MigrationNames | None = None) -> sqlite3.Connection:
    """Return a new store in memory, for inspecting its tables."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, Path(":memory:"), migrations, names)
    return connection


def _create(path: Path, migrations: Sequence[Migration], names: MigrationNames | None) -> None:
    """Create the store under another name and link it into its place when it is complete: an empty file is always
    damage.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    fresh.unlink(missing_ok=True)
    try:
        # Without a write-ahead log: data that a full disk left in the log would be missing in the linked file.
        with closing(open_connection(fresh, mode="rwc")) as connection:
            migrate(connection, path, migrations, names)
        os.link(fresh, path)
    except FileExistsError:
        pass  # another process made it in the meantime, which serves as well
    finally:
        fresh.unlink(missing_ok=True)
        fresh.with_name(f"{fresh.name}-journal").unlink(missing_ok=True)


@dataclass(slots=True)
class _ThreadConnection:
    """`references`: the number of references to the connection while nobody uses it."""

    thread: threading.Thread
    connection: sqlite3.Connection
    references: int = 0

    def count_references(self) -> int:
        return sys.getrefcount(self.connection)

    def is_in_use(self) -> bool:
        """Return whether another thread holds the connection, or a cursor of it."""
        is_of_other = self.thread.is_alive() and self.thread is not threading.current_thread()
        return is_of_other and self.count_references() > self.references


class PerThread:
    """A connection for each thread, opened when the thread first needs it, closed all together."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._local = threading.local()
        self._opened: list[_ThreadConnection] = []
        self._opening = threading.Lock()

    def get(self) -> sqlite3.Connection:
        """Return this thread's own."""
        mine: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if mine is None:
            opened = _ThreadConnection(threading.current_thread(), self._connect())
            opened.references = opened.count_references()
            mine = self._local.connection = opened.connection
            with self._opening:
                self._close_orphans()
                self._opened.append(opened)
        return mine

    def close(self) -> None:
        """Close the connections, each after the statement that its thread executes.

        SQLite ends the process if a connection is closed under a statement of another thread. One that is in use for
        longer than `CLOSE_SECONDS` stays open until its thread releases it.
        """
        with self._opening:
            # Nobody gets these any more.
            released, self._opened, self._local = self._opened, [], threading.local()
        deadline = time.monotonic() + CLOSE_SECONDS
        for one in released:
            while one.is_in_use() and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
            if not one.is_in_use():
                one.connection.close()

    def _close_orphans(self) -> None:
        # A thread that has ended cannot close its connection.
        for one in self._opened:
            if not one.thread.is_alive():
                one.connection.close()
        self._opened = [one for one in self._opened if one.thread.is_alive()]


# -- changing ---------------------------------------------------------------------------------------------------------


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Open a transaction: all of it is durable once the block is left, or nothing is written. It must not be nested.

    It holds the write lock from its start: one that reads first and writes later would fail at once if another wrote in
    between.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()  # nothing if SQLite already did, as on a full disk
        raise


@contextmanager
def one_state(connection: sqlite3.Connection) -> Iterator[None]:
    """Make all reads within the block see the same state of the database. It must not be nested."""
    # Deferred: it takes no lock that a writer would wait for.
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


@dataclass(frozen=True, slots=True)
class MigrationNames:
    """The names by which Argot up to 0.3 counted the migrations of some stores, in a table that sqlite-utils made.

    The names are read, so that a store of 0.3 continues from its state, and written, so that 0.3 recognises a newer
    one.

    Attributes:
        store: the owner of these names; one table may hold those of several.
        names: those of the migrations that had one. Later ones are named by their number.
    """

    store: str
    names: Sequence[str]

    def count(self, connection: sqlite3.Connection) -> int:
        """Return how many of the store's migrations are recorded, including those of a newer Argot."""
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchone():
            return 0
        noted = "SELECT count(*) FROM _sqlite_migrations WHERE migration_set = ?"
        return int(connection.execute(noted, (self.store,)).fetchone()[0])

    def note(self, connection: sqlite3.Connection, number: int) -> None:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS _sqlite_migrations (id INTEGER PRIMARY KEY, migration_set TEXT, name TEXT,"
            " applied_at TEXT, UNIQUE (migration_set, name))"
        )
        name = self.names[number - 1] if number <= len(self.names) else f"m{number:03}"
        values = (self.store, name, timestamp())
        connection.execute("INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)", values)


def read_schema_version(connection: sqlite3.Connection, names: MigrationNames | None = None) -> int:
    """Return how many migrations the store has seen; 0: it is new, or not Argot's."""
    counted = int(connection.execute("PRAGMA user_version").fetchone()[0])
    return max(counted, names.count(connection)) if names else counted


def migrate(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration], names: MigrationNames | None = None
) -> None:
    """Apply the migrations that a store lacks, each in a transaction that also counts it.

    Raises:
        DamagedStore: a newer Argot wrote the file.
    """
    while (seen := read_schema_version(connection, names)) < len(migrations):
        with transaction(connection):
            if read_schema_version(connection, names) == seen:  # otherwise another process was faster
                _apply(connection, migrations[seen])
                if names:
                    names.note(connection, seen + 1)
                connection.execute(f"PRAGMA user_version = {seen + 1}")
    if seen > len(migrations):
        raise DamagedStore(f"{path} was written by a newer Argot. {UPDATE}")


def _apply(connection: sqlite3.Connection, migration: Migration) -> None:
    if isinstance(migration, AdditiveMigration):
        migration = migration.script
    if isinstance(migration, PerEngine):
        migration = migration.sqlite
    if isinstance(migration, PostgresqlMigration):
        raise TypeError("A PostgresqlMigration is for PostgreSQL alone: PerEngine says it for both.")
    if isinstance(migration, str):
        run_script(connection, migration)
    else:
        migration(connection)


def run_script(connection: sqlite3.Connection, script: str) -> None:
    """One statement at a time: `executescript` would commit the surrounding transaction."""
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):  # a `;` may be within a trigger, a text or a comment
            connection.execute(statement)
            statement = ""
    connection.execute(statement)  # after the last `;` only a comment may follow


# -- saying what is wrong ---------------------------------------------------------------------------------------------


@contextmanager
def convert_open_errors(path: Path) -> Iterator[None]:
    """Turn every SQLite error while a store is opened into damage or a refusal of the system.

    Raises:
        DamagedStore, StoreUnavailable
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise explain_store_error(path, error) from error


@contextmanager
def convert_sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors of a damaged file, a full disk or a lack of permission into one with a remedy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_own_fault(error):
            raise
        raise explain_store_error(path, error) from error


def is_own_fault(error: sqlite3.DatabaseError) -> bool:
    """Return whether a statement is at fault, and not the file or the system."""
    wrong_sql = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
    return wrong_sql or isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError)


def check_header(path: Path) -> None:
    """Detect a foreign or truncated file without reading it whole: its header states the number of pages.

    The size in the header is valid only if the file's change counter says so, and pages may still be in the write-ahead
    log, which makes the file look short; in that case the log exists too.

    Raises:
        DamagedStore
    """
    if not path.exists() or path.stat().st_size == 0:  # not created yet, or killed during creation
        return
    size = path.stat().st_size
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    log = path.with_name(path.name + "-wal")
    if len(header) < _HEADER_BYTES or not header.startswith(MAGIC):
        raise build_damage_error(path, "it is not a SQLite database")
    page_size = int.from_bytes(header[16:18], "big")
    expected = int.from_bytes(header[28:32], "big") * (65536 if page_size == 1 else page_size)
    if header[24:28] == header[92:96] and size < expected and not (log.exists() and log.stat().st_size > 0):
        raise build_damage_error(path, f"it is truncated ({size:,} of {expected:,} bytes)")


def check_every_page(connection: sqlite3.Connection, path: Path) -> None:
    """Check every page, at about 5 ms for each megabyte.

    Raises:
        DamagedStore
    """
    verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    if verdict != "ok":
        raise build_damage_error(path, verdict)
