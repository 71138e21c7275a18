"""Disk space: checked before a change, and reported when it runs out during one."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from pathlib import Path

from argot.errors import StoreUnavailable

NO_ROOM_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""No space left, quota used up, file too large for the file system: one remedy for all three."""
NO_ROOM_REMEDY = "Free some space on its disk"
RESERVE_BYTES = 32 << 20
"""Space that a change needs to begin: for write-ahead logs, vectors and an original of ordinary size.

Chroma keeps a connection for each write that fails on a full disk, and waits for ever once it has none left. A change
that would probably run out of space is therefore not started.
"""


def is_no_room(error: BaseException) -> bool:
    """Return whether an error, or one of its causes, says that the disk or a quota is full."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in NO_ROOM_ERRNOS:
            return True
        if isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return True
        if isinstance(cause, StoreUnavailable) and cause.no_room:
            return True
        cause = cause.__cause__
    return False


def build_no_room_error(place: Path | str, detail: object) -> StoreUnavailable:
    """Build the error that reports a full disk in every user interface."""
    return StoreUnavailable(
        f"{place} cannot be written: {detail}. {NO_ROOM_REMEDY}, and try again.", NO_ROOM_REMEDY, no_room=True
    )


def require_room(folder: Path) -> None:
    """Check that a change in this folder has enough space to begin.

    Raises:
        StoreUnavailable: fewer than `RESERVE_BYTES` are free; nothing was changed.
    """
    # A knowledge base on servers may have no folder yet; its nearest parent is on the same disk.
    existing = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    free = shutil.disk_usage(existing).free
    if free < RESERVE_BYTES:
        detail = f"{free / 2**20:.1f} MB are free on its disk, and a change needs {RESERVE_BYTES >> 20} MB"
        raise build_no_room_error(folder, detail)
