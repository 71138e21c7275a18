"""The two sides of a move: a folder with a SQLite file for each store, or a schema of PostgreSQL for all."""

# ruff: noqa: S608  only names of our own tables are put into SQL
from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, cast

from argot.corpus.keyword.keyword_index import choose_keyword_index
from argot.databases import Connection
from argot.jargon_db.glossary import Glossary
from argot.service.moving.moved_rows import quote_name
from argot.service.moving.moved_stores import MovedStore, list_moved_tables
from argot.sqlite import convert_sqlite_errors, one_state, open_connection, open_database, transaction

if TYPE_CHECKING:
    from argot.postgresql.moment import MomentStores
    from argot.postgresql.stores import PostgresqlStores

_UNHURRIED = """
SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
    set_config('argot.audience', '*', true)
"""
"""For this transaction: reading everything takes time, and no row policy may hide rows."""
_TRIGGERS = "SELECT CAST(tgname AS text) FROM pg_trigger WHERE tgrelid = to_regclass(?) AND NOT tgisinternal"
_CHECKPOINTS = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")


class Side(Protocol):
    """A side of a move: stores are read from it, or written to it.

    Raises:
        DamagedStore, StoreUnavailable: from every method.
    """

    @property
    def name(self) -> str: ...

    def holds(self, store: MovedStore) -> bool:
        """Return whether this side has the store."""
        ...

    def prepare(self, store: MovedStore) -> None:
        """Migrate it to the present schema; create it if missing."""
        ...

    def open_to_read(self, store: MovedStore) -> AbstractContextManager[Connection]:
        """Open it for reading, all of one state."""
        ...

    def open_to_write(self, store: MovedStore) -> AbstractContextManager[Connection]:
        """Open one transaction."""
        ...

    def empty(self, store: MovedStore) -> None:
        """Delete all rows of its tables."""
        ...

    def derive(self, store: MovedStore) -> None:
        """Rebuild the data derived from the rows, which are not copied: the word indexes."""
        ...


class FolderSide:
    """Each store is a file."""

    def __init__(self, home: Path) -> None:
        self.home = home

    @property
    def name(self) -> str:
        return str(self.home)

    def holds(self, store: MovedStore) -> bool:
        return self._path(store).exists()

    def prepare(self, store: MovedStore) -> None:
        open_database(self._path(store), store.migrations, store.names).close()
        if store.name == "threads":
            with self._open_store(store) as connection:
                from langgraph.checkpoint.sqlite import SqliteSaver

                SqliteSaver(connection).setup()

    @contextmanager
    def open_to_read(self, store: MovedStore) -> Iterator[Connection]:
        with self._open_store(store, "ro") as connection, one_state(connection):
            yield connection

    @contextmanager
    def open_to_write(self, store: MovedStore) -> Iterator[Connection]:
        with self._open_store(store) as connection, transaction(connection):
            yield connection

    def empty(self, store: MovedStore) -> None:
        # The file is created again: some of its rows refuse to be deleted.
        for path in (self._path(store), *(self._path(store, end) for end in ("-wal", "-shm"))):
            path.unlink(missing_ok=True)
        self.prepare(store)
        with self.open_to_write(store) as connection:
            for table in reversed(list_moved_tables(store)):  # from rows that migrations inserted
                connection.execute(f"DELETE FROM {quote_name(table.name)}")

    def derive(self, store: MovedStore) -> None:
        if store.name == "glossary":
            _rebuild_search(Glossary.open(self._path(store)))
        else:
            _rebuild_keywords(self, store)

    def _path(self, store: MovedStore, end: str = "") -> Path:
        return self.home / f"{store.name}.db{end}"

    @contextmanager
    def _open_store(self, store: MovedStore, mode: Literal["ro", "rw"] = "rw") -> Iterator[sqlite3.Connection]:
        path = self._path(store)
        with convert_sqlite_errors(path), closing(open_connection(path, mode=mode)) as connection:
            yield connection


class SchemaSide:
    """All stores are tables of one schema."""

    def __init__(self, stores: PostgresqlStores | MomentStores) -> None:
        self.stores = stores

    @property
    def name(self) -> str:
        return self.stores.name

    def holds(self, store: MovedStore) -> bool:
        return self.stores.holds(store.name)

    def prepare(self, store: MovedStore) -> None:
        self.stores.open(store.name, store.migrations)
        if store.name == "threads":
            from argot.graph.checkpoints.postgresql_checkpointer import build_checkpoint_migrations

            self.stores.open("checkpoints", build_checkpoint_migrations())

    @contextmanager
    def open_to_read(self, store: MovedStore) -> Iterator[Connection]:
        with self.stores.open(store.name, store.migrations).snapshot() as connection:
            connection.execute(_UNHURRIED)
            yield connection

    @contextmanager
    def open_to_write(self, store: MovedStore) -> Iterator[Connection]:
        with self.stores.open(store.name, store.migrations).transaction() as connection:
            connection.execute(_UNHURRIED)
            yield connection

    def empty(self, store: MovedStore) -> None:
        # Each side's own rows stay; they are in one table.
        tables = [table.name for table in list_moved_tables(store) if not (store.own and table.name == "meta")]
        names = [quote_name(store.on_postgresql.get(name, name)) for name in tables]
        names += _CHECKPOINTS if store.name == "threads" else ()
        with self.open_to_write(store) as connection:
            # The history of the glossary allows no deletions otherwise.
            guards = [(name, row[0]) for name in names for row in connection.execute(_TRIGGERS, (name,)).fetchall()]
            for name, guard in guards:
                connection.execute(f"ALTER TABLE {name} DISABLE TRIGGER {guard}")
            connection.execute(f"TRUNCATE {', '.join(names)} RESTART IDENTITY")
            for name, guard in guards:
                connection.execute(f"ALTER TABLE {name} ENABLE TRIGGER {guard}")
            if store.own:
                marks = ", ".join("?" for _ in store.own)
                connection.execute(f"DELETE FROM meta WHERE key NOT IN ({marks})", sorted(store.own))

    def derive(self, store: MovedStore) -> None:
        if store.name == "glossary":
            _rebuild_search(Glossary.on(cast("PostgresqlStores", self.stores)))
        else:
            _rebuild_keywords(self, store)


def _rebuild_search(glossary: Glossary) -> None:
    try:
        glossary.search.rebuild()
    finally:
        glossary.close()


def _rebuild_keywords(side: Side, store: MovedStore) -> None:
    if store.name == "corpus":
        with side.open_to_write(store) as connection:
            choose_keyword_index(connection).rebuild(connection)
