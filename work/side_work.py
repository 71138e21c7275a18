"""Background work of one process, beside its answers. Nobody waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, ParamSpec

from argot.errors import StoreUnavailable

logger = logging.getLogger(__name__)

P = ParamSpec("P")


class Chores:
    """Small tasks after an answer, done one after the other. Their errors are logged and do not affect the answer."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()

    def call(self, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Call a function in a worker thread."""
        self.add(lambda: asyncio.to_thread(function, *args, **kwargs))

    def add(self, work: Callable[[], Awaitable[object]]) -> None:
        task = asyncio.create_task(self._do(work))
        # The event loop holds tasks weakly: without this reference one could be collected before it is done.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait until everything is done."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def _do(self, work: Callable[[], Awaitable[object]]) -> None:
        async with self._one_at_a_time:
            try:
                await work()
            except StoreUnavailable as error:
                logger.error("work after an answer failed: %s", error)
            except Exception:
                logger.exception("work after an answer failed")


@asynccontextmanager
async def run_beside(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run these coroutines beside the `with` block, and cancel them at its end."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
