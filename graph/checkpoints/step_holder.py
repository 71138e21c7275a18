"""The part of both savers that stores a turn's steps at intervals: before the model is asked, steps follow one another
within milliseconds, and each checkpoint contains the whole state.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.types import Checkpointer

STORE_SECONDS = 0.25
"""The least interval between two checkpoints of a turn that are stored. A kill costs the steps of that long."""


class _HeldCheckpoint(NamedTuple):
    """A checkpoint as LangGraph gives it to the saver."""

    config: RunnableConfig
    checkpoint: Checkpoint
    metadata: CheckpointMetadata
    new_versions: ChannelVersions


@dataclass
class _RunningTurn:
    """The newest checkpoint of a running turn, until it is stored. `timer` starts `storing`."""

    held: _HeldCheckpoint | None = None
    stored_at: float = 0.0
    timer: asyncio.TimerHandle | None = None
    storing: asyncio.Task[None] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def hold(self, checkpoint: _HeldCheckpoint) -> None:
        """Hold the checkpoint in place of the held one, which is then never stored."""
        self.held = checkpoint if self.held is None else _replace_checkpoint(self.held, checkpoint)


class StepHolder:
    """Base of a saver that stores a running turn every `STORE_SECONDS`, and completely at its end.

    Checkpoints of threads without a running turn are stored at once.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._turns: dict[str, _RunningTurn] = {}

    @asynccontextmanager
    async def run_turn(self, thread: str) -> AsyncIterator[None]:
        """Hold the thread's checkpoints back until the block ends; then the newest is stored.

        Raises:
            StoreUnavailable, DamagedStore: the last checkpoint could not be stored.
        """
        turn = self._turns[thread] = _RunningTurn()
        try:
            yield
        finally:
            if self._turns.get(thread) is turn:
                del self._turns[thread]
            if turn.timer is not None:
                turn.timer.cancel()
            await _finish(asyncio.create_task(self._store_held(turn)))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        place = config["configurable"]
        turn = self._turns.get(str(place["thread_id"]))
        if turn is None:
            return await self.store_checkpoint(config, checkpoint, metadata, new_versions)
        turn.hold(_HeldCheckpoint(config, checkpoint, metadata, new_versions))
        left = turn.stored_at + STORE_SECONDS - time.monotonic()
        if left <= 0:
            await self._store_held(turn)
        elif turn.timer is None:
            turn.timer = asyncio.get_running_loop().call_later(left, self._start_storing, turn)
        return {"configurable": {**place, "checkpoint_id": checkpoint["id"]}}

    async def store_checkpoint(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write the checkpoint, and return its place."""
        raise NotImplementedError

    def _start_storing(self, turn: _RunningTurn) -> None:
        turn.timer = None
        turn.storing = asyncio.create_task(self._store_in_background(turn))

    async def _store_in_background(self, turn: _RunningTurn) -> None:
        # The checkpoint is still held, and the next one or the end of the turn raises the error.
        with suppress(Exception):
            await self._store_held(turn)

    async def _store_held(self, turn: _RunningTurn) -> None:
        async with turn.lock:
            held, turn.held = turn.held, None
            if held is None:
                return
            turn.stored_at = time.monotonic()
            try:
                await self.store_checkpoint(*held)
            except BaseException:
                turn.held = held if turn.held is None else _replace_checkpoint(held, turn.held)
                raise


@asynccontextmanager
async def hold_steps(checkpointer: Checkpointer, thread: str) -> AsyncIterator[None]:
    """Run a turn of the thread in this block; savers of other kinds store each of its steps at once."""
    if isinstance(checkpointer, StepHolder):
        async with checkpointer.run_turn(thread):
            yield
    else:
        yield


def _replace_checkpoint(older: _HeldCheckpoint, newer: _HeldCheckpoint) -> _HeldCheckpoint:
    """Return the newer checkpoint after the older one's parent, with the versions of what changed in either."""
    return newer._replace(config=older.config, new_versions={**older.new_versions, **newer.new_versions})


async def _finish(work: asyncio.Task[None]) -> None:
    """Wait for the work even if the caller is cancelled: when an asker leaves, the steps so far are stored."""
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        await work
        raise
