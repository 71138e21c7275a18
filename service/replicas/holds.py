"""Something that is held for as long as work goes on, and may end before it: then the work is cut off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from argot.errors import ArgotError

T = TypeVar("T")


class Hold:
    """Work that may be ended from elsewhere. For one event loop, as the work itself.

    Args:
        still_held: whether what is held is held at this very moment.
    """

    def __init__(self, still_held: Callable[[], Awaitable[bool]] | None = None) -> None:
        self.over: ArgotError | None = None
        self._still_held = still_held
        self._task: asyncio.Task[Any] | None = None

    def end(self, why: ArgotError) -> None:
        """Cut the work off: it ends with this error where it waits, or as soon as it goes on."""
        if self.over is None:
            self.over = why
            if self._task is not None:
                self._task.cancel()

    async def take_next(self, items: AsyncGenerator[T]) -> T | None:
        """Return the next item, as long as it is held; None at their end.

        Raises:
            ArgotError: it ended; which is also said in the place of an item that was made meanwhile.
        """
        self._require()
        # Whoever reads may do so in another task each time.
        self._task = asyncio.current_task()
        try:
            item = await anext(items, None)
        except asyncio.CancelledError:
            # As in `asyncio.timeout`: a task that somebody else cancels as well stays cancelled.
            if self.over is not None and self._task and self._task.uncancel() == 0:
                raise self.over from None
            raise
        finally:
            self._task = None
        self._require()
        return item

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the work as long as the lock is held and return its result; it is cancelled when that ends, and waited
        for.

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
            # Where somebody else cancels this one as well, it stays cancelled.
            here = asyncio.current_task()
            if self.over is not None and not (here and here.cancelling()):
                raise self.over from None
            raise
        finally:
            self._task = None

    async def confirm(self, lost: ArgotError) -> None:
        """See that it is held at this moment, before something is told that rests on it.

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
    """Call a function in this event loop soon, from whatever thread."""
    # A loop that is closed by now has nothing to be told.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function)
