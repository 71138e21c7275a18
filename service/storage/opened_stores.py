"""Stores of a knowledge base by its settings: files of its folder, or PostgreSQL for everything but vectors."""

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
    """
    Args:
        alone: the program that nobody else may have PostgreSQL's open beside, as for `PostgresqlStores`.

    Raises:
        InvalidSettings: 'store' or 'store_schema' cannot be used. MissingExtra: PostgreSQL's packages are missing.
        StoreUnavailable: PostgreSQL does not answer, or does not let its user in.
        KnowledgeBaseBusy: somebody has it alone; or, where `alone` is given, has it open.
    """
    if not settings.store:
        return SqliteStores(home)
    try:
        from argot.postgresql.stores import PostgresqlStores
    except ImportError as error:
        raise MissingExtra("A knowledge base on PostgreSQL (setting 'store')", "postgresql") from error
    return PostgresqlStores(settings.store, settings.store_schema, alone=alone)


def describe_place(stores: Stores) -> str:
    """The PostgreSQL as messages name it: without user and password; empty where it is the folder."""
    return str(getattr(stores, "name", ""))


def make_owner(stores: Stores, settings: Settings) -> StoreOwner:
    from argot.service.storage.store_owner import StoreOwner

    return StoreOwner(require_postgresql(stores), alone=not settings.chroma_url)


def open_corpus_store(
    home: Path,
    settings: Settings,
    stores: Stores,
    *,
    read_only: bool = False,
    before_changes: Callable[[], None] | None = None,
) -> CorpusStore:
    """
    Args:
        before_changes: as for `PostgresqlCorpusDatabase`.

    Raises:
        DamagedStore, StoreUnavailable
    """
    from argot.corpus.store.document_store import CorpusStore

    if not settings.store:
        return CorpusStore.open(home / layout.CORPUS, read_only=read_only)
    from argot.corpus.postgresql_database import PostgresqlCorpusDatabase

    database = PostgresqlCorpusDatabase(require_postgresql(stores), read_only=read_only, before_changes=before_changes)
    return CorpusStore(database, choose_blobs(home, settings, stores))


def open_kept_files(home: Path, settings: Settings, stores: Stores) -> KeptFiles:
    """
    Raises:
        DamagedStore, StoreUnavailable
    """
    return DatabaseFiles(stores) if settings.store else FolderFiles(home)


def choose_blobs(home: Path, settings: Settings, stores: Stores) -> Blobs:
    """
    Raises:
        InvalidSettings: 'blob_url' is no address. MissingExtra, StoreUnavailable
    """
    if not settings.store:
        return FolderBlobs(home / layout.BLOBS)
    if settings.blob_url:
        from argot.corpus.store.filesystem_blobs import open_blobs

        return open_blobs(settings.blob_url)
    from argot.corpus.store.database_blobs import DatabaseBlobs

    return DatabaseBlobs(stores)


def require_postgresql(stores: Stores) -> PostgresqlStores:
    from argot.postgresql.stores import PostgresqlStores

    if not isinstance(stores, PostgresqlStores):
        raise TypeError(f"{type(stores).__name__} are no stores on PostgreSQL: the setting 'store' says so.")
    return stores
