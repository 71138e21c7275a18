"""The lock of a knowledge base's documents, which work in the event loop and in threads holds in turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

PARALLEL_ADDITIONS = 3
"""Folders and uploads: an upload does not wait for a folder of a thousand files."""


class WritingLock(asyncio.Lock):
    """Held while documents change, so that one change follows the other. Questions go on beside it, and so does
    whatever only gets documents ready to be written. `adding` is held by who puts documents in for everybody.
    """

    def __init__(self) -> None:
        super().__init__()
        self.adding = asyncio.Semaphore(PARALLEL_ADDITIONS)

    def turns(self) -> Callable[[], AbstractContextManager[None]]:
        """Return the lock as work in a thread holds it. To be called in the event loop."""
        loop = asyncio.get_running_loop()

        @contextmanager
        def turn() -> Iterator[None]:
            # An asyncio lock belongs to its loop: the thread has it taken and released there.
            asyncio.run_coroutine_threadsafe(self.acquire(), loop).result()
            try:
                yield
            finally:
                loop.call_soon_threadsafe(self.release)

        return turn
