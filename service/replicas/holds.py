"""A lock that is held during work, and may be lost before it is done: then the work is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from argot.errors import ArgotError

T = TypeVar("T")


class Hold:
    """Work that may be ended from outside. For one event loop, as the work itself.

    Args:
        still_held: returns whether the lock is held at this moment.
    """

    def __init__(self, still_held: Callable[[], Awaitable[bool]] | None = None) -> None:
        self.over: ArgotError | None = None
        self._still_held = still_held
        self._task: asyncio.Task[Any] | None = None

    def end(self, why: ArgotError) -> None:
        """Cancel the work: it ends with this error where it waits, or as soon as it continues."""
        if self.over is None:
            self.over = why
            if self._task is not None:
                self._task.cancel()

    async def take_next(self, items: AsyncGenerator[T]) -> T | None:
        """Return the next item, as long as the lock is held; None at their end.

        Raises:
            ArgotError: it ended; raised also instead of an item that was made meanwhile.
        """
        self._require()
        # The caller may read each item in another task.
        self._task = asyncio.current_task()
        try:
            item = await anext(items, None)
        except asyncio.CancelledError:
            # As in `asyncio.timeout`: a task that is also cancelled from outside stays cancelled.
            if self.over is not None and self._task and self._task.uncancel() == 0:
                raise self.over from None
            raise
        finally:
            self._task = None
        self._require()
        return item

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the work as long as the lock is held and return its result; when the lock ends, the work is cancelled and
        awaited.

        Raises:
            ArgotError: it ended.
        """
        self._require_with(work)
        self._task = task = asyncio.create_task(work)
        try:
            return await task
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            # If this one is also cancelled from outside, it stays cancelled.
            here = asyncio.current_task()
            if self.over is not None and not (here and here.cancelling()):
                raise self.over from None
            raise
        finally:
            self._task = None

    async def confirm(self, lost: ArgotError) -> None:
        """Check that it is held at this moment, before a result that depends on it is reported.

        Raises:
            ArgotError: `lost`, or why it ended.
        """
        if self._still_held is not None and not await self._still_held():
            self.end(lost)
        self._require()

    def _require_with(self, work: Coroutine[Any, Any, T]) -> None:
        if self.over is not None:
            work.close()
            raise self.over

    def _require(self) -> None:
        if self.over is not None:
            raise self.over


def call_in(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    """Call a function in this event loop soon, from any thread."""
    # A closed loop needs no call.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function)
