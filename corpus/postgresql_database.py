"""A corpus on PostgreSQL, implementing `argot.corpus.database`: each transaction names the reader."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from argot.corpus.change_lock import ChangeLock
from argot.corpus.corpus_schema import MIGRATIONS
from argot.databases import Connection, Parameters, SingleStatements
from argot.errors import DamagedStore
from argot.postgresql.session_lock import SessionLock
from argot.postgresql.stores import PostgresqlStores
from argot.types import Principal

SERVICE = "*"
"""The service itself, which checks access to its results."""
_SAY = "SELECT set_config('argot.audience', ?, true)"


class PostgresqlCorpusDatabase:
    """The store `corpus` of a knowledge base on PostgreSQL."""

    shared = True

    def __init__(
        self, stores: PostgresqlStores, *, read_only: bool = False, before_changes: Callable[[], None] | None = None
    ) -> None:
        """
        Args:
            before_changes: called before documents are changed; an exception from it prevents the change.

        Raises:
            DamagedStore, StoreUnavailable
        """
        self.read_only = read_only
        self._database = stores.open("corpus", MIGRATIONS)
        self._of_thread = threading.local()
        self._before_changes = before_changes
        self.changes = ChangeLock(SessionLock(stores, "corpus changes"), self._begin_changes)

    def connection(self) -> Connection:
        """Within a transaction of this thread it is that transaction's connection, which sees its writes."""
        writer: Connection | None = getattr(self._of_thread, "writer", None)
        return writer or SingleStatements(self.reader_apart)

    def rows_for(self, principal: Principal, sql: str, parameters: Parameters = ()) -> list[Any]:
        with self.reader_apart(principal) as connection:
            return connection.execute(sql, parameters).fetchall()

    @contextmanager
    def reading(self, principal: Principal | None = None) -> Iterator[Connection]:
        with self._database.snapshot() as connection:
            connection.execute(_SAY, (_describe_reader(principal),))
            yield connection

    @contextmanager
    def reader_apart(self, principal: Principal | None = None) -> Iterator[Connection]:
        with self._database.reader() as connection:
            connection.execute(_SAY, (_describe_reader(principal),))
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._database.transaction() as connection:
            self.changes.require_held(connection, self._database.name)
            connection.execute(_SAY, (SERVICE,))
            self._of_thread.writer = connection
            try:
                yield connection
            finally:
                self._of_thread.writer = None

    def scrub(self) -> bool:
        return self._database.scrub()

    def faults(self) -> Iterator[str]:
        """Yield the faults that PostgreSQL reports when it reads all rows; its own checksums detect damaged pages."""
        try:
            for table in ("documents", "revisions", "passages", "derived", "triples"):
                self.connection().execute(f"SELECT count(t.*) FROM {table} AS t")  # noqa: S608
        except DamagedStore as error:
            yield str(error)

    def close(self) -> None:
        self.changes.close()
        self._database.close()

    def _begin_changes(self) -> None:
        if self._before_changes:
            self._before_changes()
        # The previous holder, having lost the lock, may be in a transaction that still found it held: this one begins
        # after its end.
        with self.writing():
            pass


def _describe_reader(principal: Principal | None) -> str:
    """Return the reader as the row policies of `argot.corpus.postgresql_schema` expect it."""
    if principal is None:
        return SERVICE
    return json.dumps({"tokens": sorted(principal.tokens), "all": principal.sees_all})
