"""Stores of a knowledge base according to its settings: files of its folder, or PostgreSQL for everything but
vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from argot.corpus.store.blobs import Blobs, FolderBlobs
from argot.databases import Stores
from argot.errors import MissingExtra
from argot.kept_files import DatabaseFiles, FolderFiles, KeptFiles
from argot.service.storage import home_folder as layout
from argot.settings import Settings
from argot.sqlite_database import SqliteStores

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore
    from argot.postgresql.stores import PostgresqlStores
    from argot.service.storage.store_owner import StoreOwner


def open_stores(home: Path, settings: Settings, *, alone: str = "") -> Stores:
    """Open the stores of people, threads and others on the engine of the settings.

    Args:
        alone: the program that needs exclusive access to PostgreSQL's stores, as for `PostgresqlStores`.

    Raises:
        InvalidSettings: 'store' or 'store_schema' cannot be used. MissingExtra: PostgreSQL's packages are missing.
        StoreUnavailable: PostgreSQL does not answer, or rejects the login.
        KnowledgeBaseBusy: another process has exclusive access; or, if `alone` is given, has it open.
    """
    if not settings.storage.database:
        return SqliteStores(home)
    try:
        from argot.postgresql.stores import PostgresqlStores
    except ImportError as error:
        raise MissingExtra("A knowledge base on PostgreSQL (setting 'store')", "postgresql") from error
    return PostgresqlStores(settings.storage.database, settings.storage.schema_name, alone=alone)


def describe_place(stores: Stores) -> str:
    """Return the PostgreSQL's name for messages: without user and password; empty if it is the folder."""
    return str(getattr(stores, "name", ""))


def make_owner(stores: Stores, settings: Settings) -> StoreOwner:
    from argot.service.storage.store_owner import StoreOwner

    return StoreOwner(require_postgresql(stores), alone=not settings.storage.chroma_url)


def open_corpus_store(
    home: Path,
    settings: Settings,
    stores: Stores,
    *,
    read_only: bool = False,
    before_changes: Callable[[], None] | None = None,
) -> CorpusStore:
    """Open the store of documents on the engine of the settings.

    Args:
        before_changes: as for `PostgresqlCorpusDatabase`.

    Raises:
        DamagedStore, StoreUnavailable
    """
    from argot.corpus.store.document_store import CorpusStore

    if not settings.storage.database:
        return CorpusStore.open(home / layout.CORPUS, read_only=read_only)
    from argot.corpus.postgresql_database import PostgresqlCorpusDatabase

    database = PostgresqlCorpusDatabase(require_postgresql(stores), read_only=read_only, before_changes=before_changes)
    return CorpusStore(database, choose_blobs(home, settings, stores))


def open_kept_files(home: Path, settings: Settings, stores: Stores) -> KeptFiles:
    """Open the place of profiles and other small files.

    Raises:
        DamagedStore, StoreUnavailable
    """
    return DatabaseFiles(stores) if settings.storage.database else FolderFiles(home)


def choose_blobs(home: Path, settings: Settings, stores: Stores) -> Blobs:
    """Return the store of original files that the settings name.

    Raises:
        InvalidSettings: 'blob_url' is no address. MissingExtra, StoreUnavailable
    """
    if not settings.storage.database:
        return FolderBlobs(home / layout.BLOBS)
    if settings.storage.blob_url:
        from argot.corpus.store.filesystem_blobs import open_blobs

        return open_blobs(settings.storage.blob_url)
    from argot.corpus.store.database_blobs import DatabaseBlobs

    return DatabaseBlobs(stores)


def require_postgresql(stores: Stores) -> PostgresqlStores:
    from argot.postgresql.stores import PostgresqlStores

    if not isinstance(stores, PostgresqlStores):
        raise TypeError(f"{type(stores).__name__} are not stores on PostgreSQL, but the setting 'store' says so.")
    return stores
