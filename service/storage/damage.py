"""Damage to a store: looked for before it is opened, and once it stops answering: which one it is, and what helps."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from argot.databases import Stores
from argot.disk_space import build_no_room_error, is_no_room
from argot.errors import ArgotError, StoreUnavailable
from argot.remedies import build_damage_error, find_remedy
from argot.service.storage import home_folder as layout
from argot.sqlite import check_every_page, convert_open_errors, convert_sqlite_errors, is_own_fault, open_connection

logger = logging.getLogger(__name__)

SMALL_BYTES = 32 * 1024 * 1024
"""Up to this size a store is checked page by page at every start (about 5 ms for each megabyte)."""
LEAST_BYTES = 512
"""The smallest page, and so the smallest database; SQLite takes anything shorter for a new one."""
PROBE_SECONDS = 2.0
"""The longest a look at a store waits for whoever writes to it."""


def check_database(path: Path, *, thoroughly: bool = False) -> None:
    """See that a store can be used: it opens, is as long as it says and, if small or asked for, every page is sound.

    A file that was never there is no damage, nor is an empty corpus.db: that one knows itself whether it was ever more.
    The write-ahead log of a killed process is taken in first: a page of the main file may be missing there and yet be
    safe in the log.

    Raises:
        DamagedStore, StoreUnavailable
    """
    # Only a store that was noted can be missing: the others are made when they are first needed.
    if not path.exists() and path.name in layout.read_noted_stores(path.parent):
        raise build_damage_error(path, "it is missing")
    if not path.exists() or (path.name == layout.CORPUS and path.stat().st_size == 0):
        return
    if path.stat().st_size < LEAST_BYTES:
        raise build_damage_error(path, f"{path.stat().st_size} bytes")
    # Opened for writing: only so is the log of a killed process taken in.
    with convert_open_errors(path), closing(open_connection(path)) as connection:
        _check_open(connection, path, thoroughly=thoroughly)


def _check_open(connection: sqlite3.Connection, path: Path, *, thoroughly: bool) -> None:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    pages, page_size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    size = path.stat().st_size
    if size < pages * page_size:
        raise build_damage_error(path, f"{size} bytes, {pages * page_size} expected")
    # corpus.db checks its own tables when it opens.
    if not tables and path.name != layout.CORPUS:
        raise build_damage_error(path, "it holds no table")
    if thoroughly or size <= SMALL_BYTES:
        check_every_page(connection, path)


def store_at_fault(home: Path, error: sqlite3.DatabaseError) -> ArgotError | None:
    """Explain an error of SQLite that was met in the middle of a use case; None where the fault is ours.

    The error does not say in which store: each is looked through, which takes a while, and only now.
    """
    if is_own_fault(error):
        return None
    if is_no_room(error):
        return build_no_room_error(f"A store in {home}", error)
    try:
        # Thoroughly, whatever that takes: the page at fault may be in a large store.
        for name in layout.DATABASES:
            check_database(home / name, thoroughly=True)
    except ArgotError as found:
        return found
    remedy = find_remedy(error)
    told = remedy or "See which with: argot doctor"
    return StoreUnavailable(f"A store in {home} cannot be used: {error}. {told}, and try again.", remedy or "")


@asynccontextmanager
async def name_store_faults(home: Path) -> AsyncIterator[None]:
    """Turn errors of a store or of a full disk that a use case meets into ones with a remedy, and log them.

    Raises:
        DamagedStore, StoreUnavailable: in place of `sqlite3.DatabaseError`, and of an `OSError` that says that there
            is no room.
    """
    try:
        yield
    except StoreUnavailable as error:
        if error.no_room:
            logger.error("no room to write: %s", error.args[0])
        raise
    except sqlite3.DatabaseError as error:
        if (found := await asyncio.to_thread(store_at_fault, home, error)) is None:
            raise
        logger.error("a store does not answer: %s", found.args[0])
        raise found from error
    except OSError as error:
        if not is_no_room(error):
            raise
        logger.error("no room to write: %s", error)
        raise build_no_room_error(error.filename or home, error.strerror) from error


def require_readable(home: Path, stores: Stores) -> None:
    """See that each store there is can be opened and read, as somebody who comes anew finds it.

    Raises:
        DamagedStore, StoreUnavailable
    """
    stores.holds("corpus")  # asks PostgreSQL, where that keeps them
    for path in (home / name for name in layout.DATABASES):
        if path.exists():
            # On a new connection: one that is open already may go on from its cache.
            with (
                convert_sqlite_errors(path),
                closing(open_connection(path, mode="ro", timeout=PROBE_SECONDS)) as connection,
            ):
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
