"""A lock of a knowledge base on PostgreSQL, which one process holds over many transactions.

It belongs to a separate connection, and ends with it: a killed process holds nothing. A transaction pooler would
release it (pgbouncer needs `pool_mode = session`).
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import psycopg

from argot.databases import Connection
from argot.postgresql.errors import convert_postgresql_errors
from argot.postgresql.presence import ADVISORY_LOCK_SQL
from argot.postgresql.stores import PostgresqlStores

_LOCK_TIMEOUT = "5s"
"""How long one statement waits for the lock, before the next one continues waiting."""
_HELD = f"SELECT 1 FROM pg_locks AS l WHERE l.pid = ? AND {ADVISORY_LOCK_SQL} CAST(? AS bigint)"  # noqa: S608


class SessionLock:
    """A lock to be acquired and released by one thread at a time.

    Args:
        name: the lock's name within the knowledge base.
        together: a shared lock, which others may hold in the same mode.
    """

    def __init__(self, stores: PostgresqlStores, name: str, *, together: bool = False) -> None:
        self._stores = stores
        self._kind = "_shared" if together else ""
        self._number = stores.lock_number(name)
        self._connection: psycopg.Connection[Any] | None = None
        self._guard = threading.Lock()

    def acquire(self, *, wait: bool = True, unless: threading.Event | None = None) -> bool:
        """Acquire the lock; return whether it is held now, which without `wait` it may not be.

        Args:
            unless: once this is set, waiting ends within some seconds.

        Raises:
            StoreUnavailable
        """
        with convert_postgresql_errors(self._stores.name), self._guard:
            connection = self._connect()
            if not wait:
                sql = f"SELECT pg_try_advisory_lock{self._kind}($1::bigint) AS taken"
                return bool(connection.execute(sql, (self._number,)).fetchall()[0]["taken"])
            while unless is None or not unless.is_set():
                with suppress(psycopg.errors.LockNotAvailable):
                    connection.execute(f"SELECT pg_advisory_lock{self._kind}($1::bigint)", (self._number,))
                    return True
            return False

    def is_held(self, connection: Connection) -> bool:
        """Return whether PostgreSQL, asked over another connection, has it as held: this process's own record may be
        out of date.
        """
        if self._connection is None or self._connection.closed:
            return False
        pid = self._connection.info.backend_pid
        return connection.execute(_HELD, (pid, self._number)).fetchone() is not None

    def answers(self) -> bool:
        """Return whether the connection still exists: as long as it does, the lock is held."""
        with self._guard:
            try:
                return self._connection is not None and self._connection.execute("SELECT 1") is not None
            except psycopg.OperationalError:
                self._connection = None
                return False

    def release(self) -> None:
        with self._guard:
            try:
                if self._connection is not None:
                    self._connection.execute(f"SELECT pg_advisory_unlock{self._kind}($1::bigint)", (self._number,))
            except psycopg.OperationalError:  # the lock ended with its connection
                self._connection = None

    def close(self) -> None:
        """Release it and close its connection."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connect(self) -> psycopg.Connection[Any]:
        if self._connection is not None:
            try:
                self._connection.execute("SELECT 1")
            except psycopg.OperationalError:
                self._connection = None
        if self._connection is None:
            connection = psycopg.connect(self._stores.conninfo, **self._stores.options)
            connection.execute(f"SET lock_timeout = '{_LOCK_TIMEOUT}'")
            self._connection = connection
        return self._connection
