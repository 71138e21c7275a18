"""The checkpoints of threads in SQLite, with fewer calls to the database than LangGraph's own saver makes.

Each call is a hop to the connection's thread and back. With LangGraph's saver a question made about a hundred of them,
which took longer than all of its searches. This saver stores the same data, with one exception that `aput_writes`
describes, and during a turn at intervals (`step_holder`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from argot.graph.checkpoints.step_holder import StepHolder

_PUT = """
    INSERT OR REPLACE INTO checkpoints
        (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_LATEST = """
    SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata,
        EXISTS (SELECT 1 FROM writes AS w WHERE w.thread_id = c.thread_id AND w.checkpoint_ns = c.checkpoint_ns
            AND w.checkpoint_id = c.checkpoint_id)
    FROM checkpoints AS c WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id DESC LIMIT 1"""


class TurnSaver(StepHolder, AsyncSqliteSaver):
    """Stores states as its parent class does, and reads the same files."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the thread's newest checkpoint. The parent class reads older checkpoints and those with pending
        writes.
        """
        if get_checkpoint_id(config):
            return await super().aget_tuple(config)
        await self.setup()
        place = config["configurable"]
        thread, namespace = str(place["thread_id"]), place.get("checkpoint_ns", "")
        async with self.lock:
            rows = list(await self.conn.execute_fetchall(_LATEST, (thread, namespace)))
        if not rows:
            return None
        checkpoint, parent, kind, data, metadata, pending = rows[0]
        # Pending writes have to be decoded and ordered; usually only a thread that waits for a choice has any.
        if pending:
            return await super().aget_tuple(config)
        return CheckpointTuple(
            _build_config(thread, namespace, checkpoint),
            self.serde.loads_typed((kind, data)),
            cast(CheckpointMetadata, json.loads(metadata) if metadata is not None else {}),
            _build_config(thread, namespace, parent) if parent else None,
            [],
        )

    async def store_checkpoint(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        await self.setup()
        place = config["configurable"]
        thread, namespace = str(place["thread_id"]), place["checkpoint_ns"]
        kind, data = self.serde.dumps_typed(checkpoint)
        # Encoded as in the parent class; "ignore" drops lone surrogates, which would make the whole turn fail.
        encoded = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
        row = (thread, namespace, checkpoint["id"], place.get("checkpoint_id"), kind, data, encoded)
        async with self.lock:
            await self.conn.execute_insert(_PUT, row)
            if self.conn.in_transaction:  # not where each statement is its own transaction
                await self.conn.commit()
        return _build_config(thread, namespace, checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store interrupts and the replies to them, but not the writes of a step to the state.

        The next checkpoint holds those writes, and it is stored at once. If one of two parallel steps fails, or the
        process is killed, the step that had finished is therefore run again.
        """
        if any(channel in WRITES_IDX_MAP for channel, _ in writes):
            await super().aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the thread. If the process ends between the two statements, the deletion can be repeated."""
        async with self.lock:
            for table in ("writes", "checkpoints"):
                await self.conn.execute(f"DELETE FROM {table} WHERE thread_id = ?", (str(thread_id),))  # noqa: S608
            await self.conn.commit()


def _build_config(thread: str, namespace: str, checkpoint: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint}}
