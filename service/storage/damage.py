"""Stores that stop answering while they are open: which one it is, and what helps."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from argot.errors import ArgotError, StoreUnavailable
from argot.remedies import remedy_for
from argot.service.storage import home_folder as layout
from argot.service.storage.sqlite import check_database, damage_named

PROBE_SECONDS = 2.0
"""The longest a look at a store waits for whoever writes to it."""


def store_at_fault(home: Path, error: sqlite3.DatabaseError) -> ArgotError | None:
    """What an error of SQLite means that was met in the middle of a use case; None where the fault is ours.

    The error does not say in which store: each is looked through, which takes a while, and only now.
    """
    ours = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
    if ours or isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
        return None
    try:
        for name in layout.DATABASES:
            check_database(home / name, thoroughly=True)
    except ArgotError as found:
        return found
    remedy = remedy_for(error) or "See which with: argot doctor"
    return StoreUnavailable(f"A store in {home} cannot be used: {error}. {remedy}, and try again.")


def require_readable(home: Path) -> None:
    """See that each store there is can be opened and read, as somebody who comes anew finds it.

    Raises:
        DamagedStore, StoreUnavailable
    """
    for path in (home / name for name in layout.DATABASES):
        if path.exists():
            address = f"{path.as_uri()}?mode=ro"
            with damage_named(path), closing(sqlite3.connect(address, timeout=PROBE_SECONDS, uri=True)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
