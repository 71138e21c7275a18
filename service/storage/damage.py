"""Damage to a store: checked before it is opened, and once it stops answering: the store at fault, and the remedy."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from argot.databases import Stores
from argot.disk_space import build_no_room_error, is_no_room
from argot.errors import ArgotError, StoreUnavailable, UnusableModel
from argot.remedies import build_damage_error, find_remedy
from argot.service.storage import home_folder as layout
from argot.sqlite import check_every_page, convert_open_errors, convert_sqlite_errors, is_own_fault, open_connection

logger = logging.getLogger(__name__)

SMALL_BYTES = 32 * 1024 * 1024
"""Up to this size a store is checked page by page at every start (about 5 ms for each megabyte)."""
MIN_BYTES = 512
"""The smallest page, and so the smallest database; SQLite treats anything shorter as a new one."""
PROBE_SECONDS = 2.0
"""Maximum wait of a check for the store's writer."""


def check_database(path: Path, *, thoroughly: bool = False) -> None:
    """Check that a store can be used: it opens, has its declared length and, if small or on request, every page is
    intact.

    A file that never existed is no damage, nor is an empty corpus.db, which records whether it was ever used. The
    write-ahead log of a killed process is merged first: a page may be missing from the main file and still be in the
    log.

    Raises:
        DamagedStore, StoreUnavailable
    """
    # Only a recorded store can be missing: the others are created on first use.
    if not path.exists() and path.name in layout.read_noted_stores(path.parent):
        raise build_damage_error(path, "it is missing")
    if not path.exists() or (path.name == layout.CORPUS and path.stat().st_size == 0):
        return
    if path.stat().st_size < MIN_BYTES:
        raise build_damage_error(path, f"{path.stat().st_size} bytes")
    # Opened for writing, since only that merges the log of a killed process.
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
    """Explain an SQLite error within a use case; None if Argot's statement is at fault.

    The error does not name the store: each is checked, which takes a while, and only now.
    """
    if is_own_fault(error):
        return None
    if is_no_room(error):
        return build_no_room_error(f"A store in {home}", error)
    try:
        # Thoroughly, however long it takes: the damaged page may be in a large store.
        for name in layout.DATABASES:
            check_database(home / name, thoroughly=True)
    except ArgotError as found:
        return found
    remedy = find_remedy(error)
    remedy_text = remedy or "See which with: argot doctor"
    return StoreUnavailable(f"A store in {home} cannot be used: {error}. {remedy_text}, and try again.", remedy or "")


@asynccontextmanager
async def name_store_faults(home: Path) -> AsyncIterator[None]:
    """Turn errors of a store or of a full disk within a use case into ones with a remedy, and log them, and errors of
    models.

    Raises:
        DamagedStore, StoreUnavailable: instead of `sqlite3.DatabaseError`, and of an `OSError` for a full disk.
    """
    try:
        yield
    except StoreUnavailable as error:
        if error.no_room:
            logger.error("no room to write: %s", error.args[0])
        raise
    except UnusableModel as error:
        logger.error("a model cannot be used: %s", error.args[0])
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
    """Check that each existing store can be opened and read, as a new client would.

    Raises:
        DamagedStore, StoreUnavailable
    """
    stores.holds("corpus")  # asks PostgreSQL, if the stores are there
    for path in (home / name for name in layout.DATABASES):
        if path.exists():
            # On a new connection: an open one may continue from its cache.
            with (
                convert_sqlite_errors(path),
                closing(open_connection(path, mode="ro", timeout=PROBE_SECONDS)) as connection,
            ):
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
