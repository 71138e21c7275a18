"""The commands that messages tell people to type: complete, and with paths quoted for a shell."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from argot.disk_space import NO_ROOM_REMEDY, build_no_room_error, is_no_room
from argot.errors import ArgotError, DamagedStore, StoreUnavailable

_AGAIN = {
    "corpus.db": "argot add --home {home} PATHS",
    "glossary.db": "argot glossary import --home {home} FILE.csv",
    "people.db": "argot user add --home {home} NAME",
}
"""Commands that refill a store from nothing. Threads cannot be recovered, and start empty by themselves."""


_ALLOW = "Let this user read and write the file and its folder"
_REFUSED = {
    sqlite3.SQLITE_FULL: NO_ROOM_REMEDY,
    sqlite3.SQLITE_IOERR: f"{NO_ROOM_REMEDY}, and see that the disk is not failing",
    sqlite3.SQLITE_NOMEM: "Free some memory",
    sqlite3.SQLITE_BUSY: "Wait for the program that has it open, or end that one",
    sqlite3.SQLITE_LOCKED: "Wait for the program that has it open, or end that one",
    sqlite3.SQLITE_CANTOPEN: _ALLOW,
    sqlite3.SQLITE_READONLY: _ALLOW,
    sqlite3.SQLITE_PERM: _ALLOW,
    sqlite3.SQLITE_AUTH: _ALLOW,
}
"""SQLite's codes for refusals of the system, and their remedies. Every other error while a store is opened is
damage."""


UPDATE = "Bring this one up to date, in the folder it was installed from: git pull && make setup"
"""Never from the package index, which has another project by that name."""
LIST_DOCUMENTS = "See them all with: argot list"
"""For people at a terminal: pages and programs name another way, or none."""
REINSTALL = "install Argot again, in the folder it was installed from: rm -rf .venv && make setup"


def wing_command(wings: Iterable[str]) -> str:
    """Return the commands that bring back the folders of wings."""
    return f"in the folder Argot was installed from: git checkout -- {' '.join(wings)} && make setup"


def derive_command(kinds: Iterable[str]) -> str:
    return f"argot derive {' '.join(f'--kind {kind}' for kind in kinds)}"


def init_command(home: Path) -> str:
    return f"argot init --home {quote_shell(home)}"


def reindex_command(home: Path) -> str:
    return f"argot reindex --home {quote_shell(home)}"


def restore_command(home: Path) -> str:
    return f"argot restore --force --home {quote_shell(home)} BACKUP.tar"


def explain_store_error(path: Path, error: sqlite3.DatabaseError) -> ArgotError:
    """Return Argot's error for an exception raised while opening a store: damage, or a refusal of the system."""
    remedy = find_remedy(error)
    if remedy is None:
        return build_damage_error(path, str(error))
    if is_no_room(error):
        return build_no_room_error(path, error)
    return StoreUnavailable(f"{path} cannot be used: {error}. {remedy}, and try again.", remedy)


def find_remedy(error: sqlite3.DatabaseError) -> str | None:
    """Return the remedy for a refusal of the system; None if the error is none."""
    # Errors that Python's module itself raises have no SQLite code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    # An extended code holds its main code in the low byte. A short read is a truncated file, and that is damage.
    return None if code == sqlite3.SQLITE_IOERR_SHORT_READ else _REFUSED.get(code & 0xFF)


def build_damage_error(path: Path, detail: str) -> DamagedStore:
    """Return the error for a SQLite store that cannot be used, ending with the repair commands."""
    # On one line: SQLite's integrity check lists its findings on many.
    reason = " ".join(detail.split())
    return DamagedStore(
        f"{path} is damaged: {reason}. Mend it from a backup with: {restore_command(path.parent)}; "
        f"or, without one, with: {_begin_anew(path)}"
    )


def _begin_anew(path: Path) -> str:
    """Return shell commands that move the damaged file away, remove the vectors that belong to it, create a new one and
    fill it.
    """
    steps = [f"mv {quote_shell(path)} {quote_shell(f'{path}.damaged')}"] if path.exists() else []
    if path.name == "corpus.db":
        # The vectors belong to the passages of the lost corpus.
        steps.append(f"rm -rf {quote_shell(path.parent / 'vectors')}")
    # `argot init` resumes where a store is missing, and creates only that one.
    steps.append(init_command(path.parent))
    if path.name in _AGAIN:
        steps.append(_AGAIN[path.name].format(home=quote_shell(path.parent)))
    return " && ".join(steps)


def quote_shell(path: Path | str) -> str:
    """Quote a path as one word of a shell's command line."""
    return shlex.quote(str(path))
