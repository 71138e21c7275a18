"""All stores of a knowledge base on PostgreSQL as of one moment, however long reading takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import psycopg

from argot.databases import POSTGRESQL, StoreMigration
from argot.postgresql.connection import PostgresqlConnection
from argot.postgresql.errors import convert_postgresql_errors
from argot.postgresql.stores import PostgresqlStores


@contextmanager
def open_moment(stores: PostgresqlStores) -> Iterator[MomentStores]:
    """Read all stores in one state while others go on writing. It is for one thread.

    Raises:
        StoreUnavailable
    """
    with convert_postgresql_errors(stores.name), psycopg.connect(stores.conninfo, **stores.options) as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", prepare=False)
        # The state is that of the first reading statement, which is this one.
        connection.execute("SELECT 1 FROM store_migrations LIMIT 1")
        yield MomentStores(stores.name, PostgresqlConnection(connection))


class MomentStores:
    """`Stores` to read from."""

    def __init__(self, name: str, connection: PostgresqlConnection) -> None:
        self.name = name
        self._connection = connection

    def open(self, name: str, migrations: Sequence[StoreMigration]) -> MomentDatabase:
        """Open the store without migrating it."""
        return MomentDatabase(f"The store '{name}' in {self.name}", self._connection)

    def holds(self, name: str) -> bool:
        sql = "SELECT 1 FROM store_migrations WHERE store = ? LIMIT 1"
        return bool(self._connection.execute(sql, (name,)).fetchall())

    def close(self) -> None:
        """`open_moment` closes it."""


class MomentDatabase:
    """A `Database` to read from."""

    dialect = POSTGRESQL

    def __init__(self, name: str, connection: PostgresqlConnection) -> None:
        self.name = name
        self._connection = connection

    def rows(self, sql: str, *parameters: object) -> list[Any]:
        return self._connection.execute(sql, parameters).fetchall()

    @contextmanager
    def reader(self) -> Iterator[PostgresqlConnection]:
        yield self._connection

    @contextmanager
    def snapshot(self) -> Iterator[PostgresqlConnection]:
        yield self._connection

    def write(self, sql: str, *parameters: object) -> NoReturn:
        raise _read_only(self.name)

    def write_returning(self, sql: str, *parameters: object) -> NoReturn:
        raise _read_only(self.name)

    def transaction(self) -> NoReturn:
        raise _read_only(self.name)

    def scrub(self) -> bool:
        return True

    def close(self) -> None:
        """`open_moment` closes it."""


def _read_only(name: str) -> RuntimeError:
    return RuntimeError(f"{name} is read as of one moment, and not changed.")
