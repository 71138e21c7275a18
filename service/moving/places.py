"""A knowledge base as a move opens it: its folder, its stores and originals, small files, and vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from argot.corpus.index.vector_index import Generations
from argot.corpus.ingestion.opened_vectors import open_generations
from argot.corpus.store.blobs import Blobs
from argot.databases import Stores
from argot.files import write_atomically
from argot.service.moving.moved_stores import STORES
from argot.service.moving.sides import FolderSide, SchemaSide, Side
from argot.service.storage.home_lock import take_lock
from argot.service.storage.kept_members import list_kept_members
from argot.service.storage.opened_stores import choose_blobs, open_corpus_store, open_stores, require_postgresql
from argot.settings import Settings
from argot.sqlite_database import SqliteStores


@dataclass(frozen=True, slots=True)
class MovePlace:
    """
    Attributes:
        name: for messages, without a password.
        home: the folder of the knowledge base; on PostgreSQL, that of this process.
    """

    name: str
    home: Path
    settings: Settings
    stores: Stores
    side: Side

    @property
    def blobs(self) -> Blobs:
        return choose_blobs(self.home, self.settings, self.stores)

    @property
    def is_begun(self) -> bool:
        """Return whether any part of a knowledge base exists."""
        return any(self.side.holds(store) for store in STORES)

    @contextmanager
    def generations(self) -> Iterator[Generations]:
        """Open the place of the vectors."""
        store = open_corpus_store(self.home, self.settings, self.stores)
        try:
            found = open_generations(self.home, self.settings, store.database)
            try:
                yield found
            finally:
                found.close()
        finally:
            store.close()


def make_folder_place(home: Path) -> MovePlace:
    return MovePlace(
        str(home), home, Settings(home=home, store="", chroma_url=""), SqliteStores(home), FolderSide(home)
    )


@contextmanager
def open_place(home: Path, settings: Settings, program: str) -> Iterator[MovePlace]:
    """Open the knowledge base of this folder and these settings exclusively for this program.

    Raises:
        KnowledgeBaseBusy: it is open elsewhere.
        StoreUnavailable, InvalidSettings, MissingExtra
    """
    stores = open_stores(home, settings, alone=program)
    try:
        side = SchemaSide(require_postgresql(stores)) if settings.storage.database else FolderSide(home)
        yield MovePlace(side.name, home, settings, stores, side)
    finally:
        stores.close()


@contextmanager
def lock_folder(home: Path) -> Iterator[None]:
    """Hold the lock of a knowledge base's folder.

    Raises:
        KnowledgeBaseBusy: another process works in this folder; the message names it.
    """
    lock = take_lock(home, patience=0)
    try:
        yield
    finally:
        lock.release()


# -- small files ------------------------------------------------------------------------------------------------------


def read_kept_contents(place: MovePlace) -> Mapping[str, bytes]:
    """Return profiles and learnt models: contents by names."""
    from argot.kept_files import MIGRATIONS, STORE

    if isinstance(place.stores, SqliteStores):
        return {name: (place.home / name).read_bytes() for name in list_kept_members(place.home)}
    rows = place.stores.open(STORE, MIGRATIONS).rows("SELECT name, content FROM kept_files ORDER BY name")
    return {name: bytes(content) for name, content in rows}


def put_kept(place: MovePlace, kept: Mapping[str, bytes]) -> None:
    """Write exactly these, and remove others."""
    from argot.kept_files import MIGRATIONS, STORE

    if isinstance(place.stores, SqliteStores):
        for name in list_kept_members(place.home):
            if name not in kept:
                (place.home / name).unlink()
        for name, content in kept.items():
            (place.home / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(place.home / name, content)
        return
    with place.stores.open(STORE, MIGRATIONS).transaction() as connection:
        connection.execute("DELETE FROM kept_files")
        rows = list(kept.items())
        connection.executemany("INSERT INTO kept_files (name, content) VALUES (?, ?)", rows)
