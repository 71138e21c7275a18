"""Connections to glossary.db: one to write and one to read per thread, and the check that the file is whole.

All parts of a glossary share one `Connections`, and read and write through it alone.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from argot.errors import DamagedStore
from argot.jargon_db.store.glossary_writer import Writer
from argot.jargon_db.store.journal import ChangeKind
from argot.jargon_db.store.rows import Row, select
from argot.jargon_db.store.schema import migrations
from argot.remedies import UPDATE, damaged_store, store_error
from argot.types import Principal

BUSY_SECONDS = 30


class Connections:
    """The connections of one glossary, made when a thread first asks, closed all together.

    Readers cannot write, whatever statement they are given: the file is opened with `mode=ro`, and `PRAGMA query_only`
    is on.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._all: weakref.WeakSet[Database] = weakref.WeakSet()
        self._guard = threading.Lock()

    def reader(self) -> sqlite3.Connection:
        return self._of_this_thread("reader", read_only=True).conn

    def writer(self) -> Database:
        return self._of_this_thread("writer", read_only=False)

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """One transaction that holds the write lock from its start.

        `BEGIN IMMEDIATE`, since a transaction that reads first and writes later fails at once when another wrote in
        between. Within it `Database.atomic()` nests as a savepoint. A `writing` inside a `writing` joins it.
        """
        db = self.writer()
        if db.conn.in_transaction:
            with db.atomic():
                yield db
            return
        db.conn.execute("BEGIN IMMEDIATE")
        try:
            with db.atomic():
                yield db
            db.conn.execute("COMMIT")
        except BaseException:
            db.rollback()
            raise

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
            writer.finish()

    def close(self) -> None:
        with self._guard:
            for db in list(self._all):
                db.close()
            self._all.clear()
        self._local = threading.local()

    def _of_this_thread(self, name: str, *, read_only: bool) -> Database:
        db: Database | None = getattr(self._local, name, None)
        if db is None:
            db = _connect(self.path, read_only=read_only)
            setattr(self._local, name, db)
            with self._guard:
                self._all.add(db)
        return db


def _connect(path: Path, *, read_only: bool) -> Database:
    """One connection; it may be closed by another thread, but is used by its own alone."""
    mode = "ro" if read_only else "rw"
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    conn = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
    db = Database(conn, execute_plugins=False)
    conn.execute("PRAGMA foreign_keys = ON")
    conn.execute("PRAGMA synchronous = FULL")
    conn.execute("PRAGMA secure_delete = ON")
    if read_only:
        conn.execute("PRAGMA query_only = ON")
    return db


def prepare(path: Path) -> None:
    """Makes the database if there is none, checks it if there is, and migrates it.

    A new one is made under another name and linked into place when finished, so that an empty file is always damage.
    Until then it has no write-ahead log: what a full disk kept from leaving the log would be missing in the file.

    Raises:
        DamagedStore: the file is no whole database of this program; the message ends with the mending command.
        StoreUnavailable: the system does not let it be opened, or made.
    """
    try:
        if not path.exists():
            _create(path)
        _check_and_migrate(path)
    except sqlite3.DatabaseError as error:
        raise store_error(path, error) from error


def _create(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    fresh.unlink(missing_ok=True)
    conn = sqlite3.connect(fresh)
    try:
        migrations.apply(Database(conn, execute_plugins=False))
    finally:
        conn.close()
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass  # another process made it in the meantime, which is as good
    finally:
        fresh.unlink(missing_ok=True)
        fresh.with_name(f"{fresh.name}-journal").unlink(missing_ok=True)


def _check_and_migrate(path: Path) -> None:
    if path.stat().st_size == 0:
        raise damaged_store(path, "the file is empty")
    db = _connect(path, read_only=False)
    try:
        db.conn.execute("PRAGMA journal_mode = WAL")
        verdict = db.conn.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise damaged_store(path, verdict)
        _refuse_foreign(path, db)
        migrations.apply(db)
    finally:
        db.close()


def _refuse_foreign(path: Path, db: Database) -> None:
    applied = {migration.name for migration in migrations.applied(db)}
    if not applied:
        raise damaged_store(path, "it is no glossary")
    ours = {migration.name for migration in migrations.pending(Database(memory=True, execute_plugins=False))}
    if newer := sorted(applied - ours):
        raise DamagedStore(f"{path} was written by a newer Argot (it has {', '.join(newer)}). {UPDATE}")
