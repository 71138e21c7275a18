"""Long blocking work (reading files, embedding, rebuilding) beside the event loop that answers questions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from typing import TypeVar

_LONG = ThreadPoolExecutor(32, thread_name_prefix="argot-long")
"""Not the event loop's own threads, of which there are few, nor those of questions."""

T = TypeVar("T")
HandOver = Callable[[T], None]


class WorkStopped(BaseException):
    """Raised inside work whose result nobody waits for any more. It is no error: like a keyboard interrupt, it passes
    through.
    """


async def stream(work: Callable[[], Iterable[T] | AsyncIterable[T]]) -> AsyncGenerator[T, None]:
    """Yield the items of `work()`, made in a separate thread.

    When the reader stops (cancelled, closed), the work stops at its next item, and only then does this return: a lock
    around it is held until nothing more is written. Read it within `contextlib.aclosing`.
    """

    def body(hand_over: HandOver[T]) -> None:
        items = work()
        if isinstance(items, AsyncIterable):
            asyncio.run(_read_async(items, hand_over))
        else:
            _read_items(items, hand_over)

    async with aclosing(progress_events(body)) as items:
        async for item in items:
            yield item


async def progress_events(work: Callable[[HandOver[T]], None]) -> AsyncGenerator[T, None]:
    """Run `work` in a separate thread and yield the items that it passes on. It stops as `stream` does."""
    loop = asyncio.get_running_loop()
    # Items are wrapped, so that a None among them is not read as the end.
    queue: asyncio.Queue[tuple[T] | None] = asyncio.Queue()
    stopped = threading.Event()

    def hand_over(item: T) -> None:
        # A thread cannot be stopped from outside, so it stops itself at its next item.
        if stopped.is_set():
            raise WorkStopped
        loop.call_soon_threadsafe(queue.put_nowait, (item,))

    def in_thread() -> None:
        try:
            work(hand_over)
        except WorkStopped:
            pass
        finally:
            # Also after an error, which is raised where the thread is awaited.
            loop.call_soon_threadsafe(queue.put_nowait, None)

    running = loop.run_in_executor(_LONG, in_thread)
    try:
        while (item := await queue.get()) is not None:
            yield item[0]
    finally:
        stopped.set()
        await to_its_end(running)


async def to_its_end(running: asyncio.Future[T]) -> T:
    """Return the result of `running`. It is awaited to its end even if the caller is cancelled, however often."""
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        # A lock around this must not be released while the thread still writes.
        while not running.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({running})
        raise


def _read_items(items: Iterable[T], hand_over: HandOver[T]) -> None:
    try:
        for item in items:
            hand_over(item)
    finally:
        if hasattr(items, "close"):
            items.close()


async def _read_async(items: AsyncIterable[T], hand_over: HandOver[T]) -> None:
    try:
        async for item in items:
            hand_over(item)
    finally:
        if hasattr(items, "aclose"):
            await items.aclose()
