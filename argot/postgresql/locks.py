"""Locks among the processes that share a PostgreSQL: session-level advisory locks, all of a process on one connection.

A lock lasts until it is released, or until its connection ends: with the process, or with PostgreSQL. Its holder is
notified of a loss, since from then on another process may take it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from argot.errors import StoreUnavailable
from argot.postgresql.errors import convert_postgresql_errors
from argot.postgresql.stores import WAIT_SECONDS, PostgresqlStores

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0
"""Interval at which the connection, and with it the locks, is checked."""


class HeldLock:
    """A lock that this process has taken.

    Args:
        name: the name of the lock.
        on_loss: called in the thread that detects that the lock was lost before it was released.
    """

    def __init__(self, name: str, on_loss: Callable[[], None]) -> None:
        self.name = name
        self.lost = False
        self._on_loss = on_loss

    def lose(self) -> None:
        self.lost = True
        try:
            self._on_loss()
        # A failing callback must not prevent the others.
        except Exception:
            logger.exception("the loss of the lock '%s' could not be told", self.name)


class SessionLocks:
    """The locks of one process on the knowledge base of these stores. Every method may be called in any thread.

    The connection is made when the first lock is requested, and again after it was lost.

    Raises:
        StoreUnavailable: from every method except `close`: PostgreSQL does not answer.
    """

    def __init__(self, stores: PostgresqlStores) -> None:
        self._stores = stores
        self._guard = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self._held: dict[str, HeldLock] = {}
        self._closed = threading.Event()
        self._watch: threading.Thread | None = None

    def take(self, name: str, on_loss: Callable[[], None] = lambda: None) -> HeldLock | None:
        """Take the lock of this name; return None if any process, including this one, holds it."""
        with self._guard_connection():
            if name in self._held:
                return None
            if not self._try_lock(name):
                return None
            self._held[name] = held = HeldLock(name, on_loss)
            return held

    def give_back(self, lock: HeldLock) -> None:
        """Release the lock. A lost one is already available to others."""
        with self._guard_connection():
            if self._held.get(lock.name) is lock:
                del self._held[lock.name]
                self._ask("SELECT pg_advisory_unlock($1::bigint)", self._number(lock.name))

    def check_held(self, lock: HeldLock) -> bool:
        """Return whether it is held at this moment, according to PostgreSQL."""
        with self._guard_connection():
            with suppress(StoreUnavailable):
                self._ask("SELECT true")
            return not lock.lost

    def close(self) -> None:
        """Release all locks."""
        self._closed.set()
        # A thread that makes the connection at this moment has started the watch when the guard is free.
        with self._guard:
            watch = self._watch
        if watch is not None:
            watch.join()
        with self._guard:
            self._held.clear()
            if self._connection is not None:
                self._connection.close()

    def _number(self, name: str) -> int:
        # In the same namespace as the stores' locks, whose names have no slash.
        return self._stores.lock_number(f"lock/{name}")

    @contextmanager
    def _guard_connection(self) -> Iterator[None]:
        # With a timeout: its holder may wait for a server that accepts connections and does not answer.
        if not self._guard.acquire(timeout=WAIT_SECONDS):
            raise StoreUnavailable(
                f"{self._stores.name} cannot be used: it does not answer. See what keeps PostgreSQL busy."
            )
        try:
            yield
        finally:
            self._guard.release()

    def _try_lock(self, name: str) -> bool:
        sql, known = "SELECT pg_try_advisory_lock($1::bigint)", self._connection is not None
        try:
            return self._ask(sql, self._number(name))
        except StoreUnavailable:
            # The connection was lost since it was last used. The statement has not yet been tried on another one.
            if not known:
                raise
            return self._ask(sql, self._number(name))

    def _ask(self, sql: str, *parameters: object) -> bool:
        with convert_postgresql_errors(self._stores.name):
            try:
                row = self._connect().execute(sql, parameters).fetchone()
            except psycopg.Error:
                self._lose_all()
                raise
        return bool(row and row[0])

    def _connect(self) -> psycopg.Connection[Any]:
        if self._closed.is_set():
            raise StoreUnavailable(f"{self._stores.name} cannot be used: the store is closed.")
        if self._connection is None:
            self._connection = psycopg.connect(self._stores.conninfo, **self._stores.options)
        if self._watch is None:
            self._watch = threading.Thread(target=self._look, name="argot-locks", daemon=True)
            self._watch.start()
        return self._connection

    def _look(self) -> None:
        while not self._closed.wait(POLL_SECONDS):
            with suppress(StoreUnavailable), self._guard_connection():
                if self._held:
                    self._ask("SELECT true")

    def _lose_all(self) -> None:
        """Drop the connection and all locks with it, whatever failed."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
        self._connection = None
        held, self._held = list(self._held.values()), {}
        for one in held:
            one.lose()
