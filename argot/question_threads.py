"""The threads in which questions read the stores and compute, beside the event loop that streams their answers.

They are few, unlike the event loop's own: each further thread that computes only waits for Python's lock, and the
waiting costs processor time. Eight questions at once took 31 ms each before the first word with two threads, and 46
with the event loop's six (two processors; bench/laboratory/load.md). Work that may take seconds or wait for a lock has
no place here: the outline of a whole file, writing.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

MOST_COMPUTING = 4
MOST_WAITING = 32
"""With stores on a server the threads mostly wait for its replies."""

P = ParamSpec("P")
T = TypeVar("T")


class QuestionThreads:
    """A pool of threads, made anew if the stores are on a server."""

    def __init__(self) -> None:
        self._pool = self._make_pool(max(2, min(MOST_COMPUTING, os.cpu_count() or 2)))

    def allow_waiting(self) -> None:
        """Use more threads from now on, because the stores are on a server."""
        self._pool = self._make_pool(MOST_WAITING)

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the function's result, as `asyncio.to_thread` does."""
        call = partial(contextvars.copy_context().run, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def begin(self, function: Callable[..., object], *args: object) -> None:
        """Call the function and do not wait for it; asyncio logs its failure."""
        asyncio.get_running_loop().run_in_executor(self._pool, function, *args)

    def _make_pool(self, threads: int) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(threads, thread_name_prefix="argot-question")


THREADS = QuestionThreads()
call_in_thread = THREADS.call
begin_in_thread = THREADS.begin
