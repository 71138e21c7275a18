"""Checkpoints of threads on PostgreSQL, through LangGraph's own saver, with errors translated into Argot's.

`checkpointer.py` describes which data are stored and when; a checkpoint is durable as soon as it is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from argot.databases import AdditiveMigration, PerEngine, StoreMigration, replace_nul
from argot.graph.checkpoints.step_holder import StepHolder
from argot.postgresql.errors import convert_postgresql_errors
from argot.postgresql.stores import RECONNECT_SECONDS, WAIT_SECONDS

if TYPE_CHECKING:
    from argot.postgresql.stores import PostgresqlStores

_MIN_CONNECTIONS, _MAX_CONNECTIONS = 1, 2
"""LangGraph's saver uses one connection at a time; the second replaces it when it is lost."""

Pool = AsyncConnectionPool[AsyncConnection[DictRow]]


def build_checkpoint_migrations() -> tuple[StoreMigration, ...]:
    """Return LangGraph's migrations as Argot migrations: everything that `setup` would run, under the lock and in
    transactions.
    """
    # An index that is built concurrently with writers cannot be in a transaction; here nobody writes yet.
    scripts = (script.replace("CONCURRENTLY", "") for script in AsyncPostgresSaver.MIGRATIONS)
    record_version = "INSERT INTO checkpoint_migrations (v) VALUES ({}) ON CONFLICT DO NOTHING"
    return tuple(
        # Several versions of LangGraph can use the tables at once: its migrations only add.
        AdditiveMigration(PerEngine("", f"{script.rstrip().rstrip(';')}; {record_version.format(number)}"))
        for number, script in enumerate(scripts)
    )


async def open_saver(stores: PostgresqlStores, serde: SerializerProtocol) -> PostgresqlTurnSaver:
    """Open the saver of checkpoints, and apply its migrations first.

    Raises:
        StoreUnavailable, DamagedStore
    """
    await asyncio.to_thread(stores.open, "checkpoints", build_checkpoint_migrations())
    pool: Pool = AsyncConnectionPool(
        stores.conninfo,
        # `prepare_threshold` has the value that LangGraph's own `from_conn_string` sets.
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        min_size=_MIN_CONNECTIONS,
        max_size=_MAX_CONNECTIONS,
        timeout=WAIT_SECONDS,
        reconnect_timeout=RECONNECT_SECONDS,
        # A step of a question cannot be repeated, so a lost connection must be detected before it is used.
        check=AsyncConnectionPool.check_connection,
        open=False,
        name=f"argot checkpoints {stores.schema}",
    )
    await pool.open()
    return PostgresqlTurnSaver(pool, stores.name, serde)


def _advance_id_clock(checkpoint_id: str) -> None:
    """Make this process generate only ids that sort after this one.

    The latest checkpoint of a thread is the one with the greatest id, and ids begin with the clock of the process that
    made them. If a process with a slow clock continued a thread, its checkpoints would never be the latest.
    """
    from langgraph.checkpoint.base import id as checkpoint_ids

    found = checkpoint_ids.UUID(checkpoint_id)
    last = checkpoint_ids._last_v6_timestamp
    if found.version == 6 and (last is None or last < found.time):
        checkpoint_ids._last_v6_timestamp = found.time  # type: ignore[assignment]


class PostgresqlTurnSaver(StepHolder, AsyncPostgresSaver):
    """LangGraph's saver, over a pool that it owns.

    Raises:
        StoreUnavailable, DamagedStore: from every method.
    """

    def __init__(self, pool: Pool, name: str, serde: SerializerProtocol) -> None:
        super().__init__(pool, serde=serde)
        self.pool = pool
        self.name = name

    async def close(self) -> None:
        await self.pool.close()

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await super().aget_tuple(config)
        if found is not None:
            _advance_id_clock(str(found.checkpoint["id"]))
        return found

    async def store_checkpoint(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        # The checkpoint's JSON contains texts in which a definition or a document may have left a U+0000.
        values = checkpoint["channel_values"]
        storable = {name: replace_nul(value) if isinstance(value, str) else value for name, value in values.items()}
        storable_checkpoint: Checkpoint = {**checkpoint, "channel_values": storable}
        return await AsyncPostgresSaver.aput(self, config, storable_checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store interrupts and the replies to them only, as `TurnSaver` does, for the same reason."""
        if any(channel in WRITES_IDX_MAP for channel, _ in writes):
            await super().aput_writes(config, writes, task_id, task_path)

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        with convert_postgresql_errors(self.name):
            async with super()._cursor(pipeline=pipeline) as cursor:
                yield cursor
