"""The database of the conversations: their tables and LangGraph's checkpoints, on either engine.

Everything of SQLite goes through the saver's own connection and lock: a second connection that waits for a write lock
on the event loop would stop the loop that has to release it. PostgreSQL is accessed through the store's pool in worker
threads, and through a separate pool of the saver.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from argot.databases import SQLITE, Connection, Database, Dialect, StoreMigration, Stores
from argot.sqlite import convert_sqlite_errors, open_connection, open_database
from argot.sqlite_database import SqliteStores

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from argot.graph.checkpoints.checkpointer import TurnSaver
    from argot.graph.checkpoints.postgresql_checkpointer import PostgresqlTurnSaver
    from argot.postgresql.stores import PostgresqlStores

_BATCH_ROWS = 64
"""Read from the connection's own thread in one go, as `aiosqlite.connect` does."""
STORE = "threads"


class ThreadDatabase(Protocol):
    """Bound to the event loop it was opened in.

    Raises:
        DamagedStore, StoreUnavailable: from every method.
    """

    dialect: Dialect

    @property
    def saver(self) -> BaseCheckpointSaver[Any]: ...

    async def rows(self, sql: str, parameters: Sequence[Any]) -> list[Any]: ...

    async def write(self, sql: str, parameters: Sequence[Any]) -> None:
        """Run one statement that is durable when this returns, and with it every checkpoint written before."""

    async def note(self, sql: str, values: Mapping[str, Any]) -> None:
        """Run one statement that a power failure may undo."""

    def reader(self) -> AbstractContextManager[Connection]:
        """Open a separate connection for reading, in another thread than the loop's, so that it delays no answer."""

    async def forget_channels(self, thread: str, versions: Sequence[tuple[str, str]]) -> None:
        """Delete these versions of a thread's channels, which its checkpoint no longer names."""

    async def scrub(self) -> bool: ...

    async def close(self) -> None: ...


async def open_thread_database(stores: Stores, migrations: Sequence[StoreMigration]) -> ThreadDatabase:
    # Checkpoints are data: unpickling or naming classes in them must not run code.
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    if isinstance(stores, SqliteStores):
        return await _open_sqlite(stores.home / f"{STORE}.db", migrations)
    from argot.postgresql.stores import PostgresqlStores

    if not isinstance(stores, PostgresqlStores):
        raise TypeError(f"There is no checkpointer for {type(stores).__name__}.")
    return await _open_postgresql(stores, migrations)


def make_checkpoint_serializer() -> Any:
    """Make the serializer for writing and reading checkpoints."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    # Set once more, because langgraph reads the variable when it is first imported, by any module.
    return JsonPlusSerializer(allowed_msgpack_modules=None)


# -- SQLite -----------------------------------------------------------------------------------------------------------


async def _open_sqlite(path: Path, migrations: Sequence[StoreMigration]) -> SqliteThreadDatabase:
    import aiosqlite

    from argot.graph.checkpoints.checkpointer import TurnSaver

    open_database(path, migrations).close()
    # "NORMAL" for checkpoints; `write` makes important data durable.
    connection = await aiosqlite.Connection(lambda: open_connection(path, synchronous="NORMAL"), _BATCH_ROWS)
    saver = TurnSaver(connection, serde=make_checkpoint_serializer())
    try:
        with convert_sqlite_errors(path):
            await saver.setup()
    except BaseException:
        await connection.close()
        raise
    return SqliteThreadDatabase(saver, path)


class SqliteThreadDatabase:
    """threads.db, through the saver's connection."""

    dialect = SQLITE

    def __init__(self, saver: TurnSaver, path: Path) -> None:
        self.saver = saver
        self.path = path

    async def rows(self, sql: str, parameters: Sequence[Any]) -> list[Any]:
        with convert_sqlite_errors(self.path):
            async with self.saver.lock:
                return list(await self.saver.conn.execute_fetchall(sql, parameters))

    async def write(self, sql: str, parameters: Sequence[Any]) -> None:
        connection = self.saver.conn
        with convert_sqlite_errors(self.path):
            async with self.saver.lock:
                # Left by a write whose asker left: it would hold the lock on the file.
                if connection.in_transaction:
                    await connection.rollback()
                # Only here: the checkpoints of a question's dozen steps are not flushed one by one. No kill can lose
                # them, and until the question is answered nothing is promised that a power failure could break.
                await connection.execute("PRAGMA synchronous = FULL")
                try:
                    await connection.execute(sql, parameters)
                finally:
                    await connection.execute("PRAGMA synchronous = NORMAL")

    async def note(self, sql: str, values: Mapping[str, Any]) -> None:
        with convert_sqlite_errors(self.path):
            async with self.saver.lock:
                if self.saver.conn.in_transaction:
                    await self.saver.conn.rollback()
                await self.saver.conn.execute(sql, values)

    @contextmanager
    def reader(self) -> Iterator[Connection]:
        with convert_sqlite_errors(self.path), closing(open_connection(self.path, mode="ro")) as connection:
            yield connection

    async def forget_channels(self, thread: str, versions: Sequence[tuple[str, str]]) -> None:
        """Here a checkpoint contains its channels itself."""

    async def scrub(self) -> bool:
        """Remove deleted data from the write-ahead log as well; return False if a reader still uses an earlier
        state.
        """
        rows = await self.rows("PRAGMA wal_checkpoint(TRUNCATE)", ())
        # The first column shows whether a reader kept the log from being truncated.
        return not rows[0][0]

    async def close(self) -> None:
        await self.saver.conn.close()


# -- PostgreSQL -------------------------------------------------------------------------------------------------------


async def _open_postgresql(stores: PostgresqlStores, migrations: Sequence[StoreMigration]) -> PostgresqlThreadDatabase:
    from argot.graph.checkpoints.postgresql_checkpointer import open_saver

    database = await asyncio.to_thread(stores.open, STORE, migrations)
    return PostgresqlThreadDatabase(await open_saver(stores, make_checkpoint_serializer()), database)


class PostgresqlThreadDatabase:
    """The store `threads`, through its pool, in worker threads."""

    def __init__(self, saver: PostgresqlTurnSaver, database: Database) -> None:
        self.saver = saver
        self.database = database
        self.dialect = database.dialect

    async def rows(self, sql: str, parameters: Sequence[Any]) -> list[Any]:
        return await asyncio.to_thread(self.database.rows, sql, *parameters)

    async def write(self, sql: str, parameters: Sequence[Any]) -> None:
        await asyncio.to_thread(self.database.write, sql, *parameters)

    async def note(self, sql: str, values: Mapping[str, Any]) -> None:
        await asyncio.to_thread(self._note, sql, values)

    def _note(self, sql: str, values: Mapping[str, Any]) -> None:
        with self.database.transaction() as connection:
            connection.execute(sql, values)

    def reader(self) -> AbstractContextManager[Connection]:
        return self.database.reader()

    async def forget_channels(self, thread: str, versions: Sequence[tuple[str, str]]) -> None:
        sql = "DELETE FROM checkpoint_blobs WHERE thread_id = ? AND channel = ? AND version = ?"
        for channel, version in versions:
            await self.write(sql, (thread, channel, version))

    async def scrub(self) -> bool:
        return self.database.scrub()

    async def close(self) -> None:
        await self.saver.close()
        await asyncio.to_thread(self.database.close)
