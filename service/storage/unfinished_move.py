"""The mark of a knowledge base that is being moved here, and is incomplete.

In a folder it is a file, on PostgreSQL a row of a separate table. It records the source of the move, so that it can be
continued, and the name of the vector generation here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from argot.databases import StoreMigration, Stores
from argot.errors import DamagedStore, StoreUnavailable
from argot.files import write_atomically
from argot.remedies import quote_shell
from argot.sqlite_database import SqliteStores

FILE = ".moving"
STORE = "move"
MIGRATIONS: Sequence[StoreMigration] = (
    "CREATE TABLE unfinished_move (source TEXT PRIMARY KEY, generation TEXT NOT NULL, started TEXT NOT NULL)",
)


@dataclass(frozen=True, slots=True)
class UnfinishedMove:
    """`source`: the folder, or the PostgreSQL, without a password. `generation`: empty if no vectors are moved."""

    source: str
    generation: str
    started: str


def find_unfinished_move(home: Path, stores: Stores) -> UnfinishedMove | None:
    """Return the mark of a move to this place that was not completed.

    Raises:
        DamagedStore, StoreUnavailable
    """
    if isinstance(stores, SqliteStores):
        return _read_from_folder(home)
    if not stores.holds(STORE):
        return None
    rows = stores.open(STORE, MIGRATIONS).rows("SELECT source, generation, started FROM unfinished_move")
    return UnfinishedMove(*rows[0]) if rows else None


def _read_from_folder(home: Path) -> UnfinishedMove | None:
    try:
        return UnfinishedMove(**json.loads((home / FILE).read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError) as error:
        raise DamagedStore(
            f"{home / FILE} cannot be read ({error}): a move to this folder was cut off. Empty it, and move again."
        ) from error


def note_move(home: Path, stores: Stores, move: UnfinishedMove) -> None:
    if isinstance(stores, SqliteStores):
        write_atomically(home / FILE, json.dumps(asdict(move)) + "\n")
        return
    stores.open(STORE, MIGRATIONS).write(
        "INSERT INTO unfinished_move (source, generation, started) VALUES (?, ?, ?)"
        " ON CONFLICT (source) DO UPDATE SET generation = excluded.generation",
        move.source,
        move.generation,
        move.started,
    )


def end_move(home: Path, stores: Stores) -> None:
    """End the move: from here on it is an ordinary knowledge base."""
    if isinstance(stores, SqliteStores):
        (home / FILE).unlink(missing_ok=True)
    else:
        stores.open(STORE, MIGRATIONS).write("DELETE FROM unfinished_move")


def refuse_unfinished(home: Path, stores: Stores, name: str) -> None:
    """Refuse to open a place to which a move was not completed.

    Args:
        name: the PostgreSQL's name for messages; empty: the folder.

    Raises:
        StoreUnavailable: a move to here is unfinished.
    """
    if move := find_unfinished_move(home, stores):
        target = "postgresql://..." if name else quote_shell(home)
        raise StoreUnavailable(
            f"The knowledge base in {name or home} is incomplete: it is being moved there from {move.source}, since "
            f"{move.started}. Continue with: argot move --to {target} (with ARGOT_STORE or --home as then); or "
            "empty it, and move again."
        )
