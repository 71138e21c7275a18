"""Long blocking work (reading files, embedding, rebuilding) beside the event loop that answers questions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def stream(work: Callable[[], Iterable[T] | AsyncIterable[T]]) -> AsyncIterator[T]:
    """The items `work()` yields, made in a thread of its own.

    When the reader goes away (cancelled, closed), the work stops at its next item, and only then does this return:
    whoever holds a lock around it holds it until nothing is written any more.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[T | None] = asyncio.Queue()
    stopped = threading.Event()

    def hand_over(item: T | None) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, item)

    def in_thread() -> None:
        try:
            _consume(work(), hand_over, stopped)
        finally:
            hand_over(None)

    running = loop.run_in_executor(None, in_thread)
    try:
        while (item := await queue.get()) is not None:
            yield item
    finally:
        stopped.set()
        await asyncio.shield(running)


def _consume(
    items: Iterable[T] | AsyncIterable[T], hand_over: Callable[[T | None], None], stopped: threading.Event
) -> None:
    if isinstance(items, AsyncIterable):
        asyncio.run(_consume_async(items, hand_over, stopped))
        return
    for item in items:
        hand_over(item)
        if stopped.is_set():
            break
    if hasattr(items, "close"):
        items.close()


async def _consume_async(
    items: AsyncIterable[T], hand_over: Callable[[T | None], None], stopped: threading.Event
) -> None:
    async for item in items:
        hand_over(item)
        if stopped.is_set():
            break
    if hasattr(items, "aclose"):
        await items.aclose()
