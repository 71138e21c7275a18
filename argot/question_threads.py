"""The threads in which questions read the stores and compute, beside the event loop that streams their answers.

They are few, unlike the event loop's own: each further thread that computes only waits for Python's lock, and the
waiting costs processor time. Eight questions at once took 33 to 38 ms each before the first word with two threads, and
42 to 45 with the event loop's six (two processors; bench/laboratory/load.md). Work that may take seconds or wait for a
lock has no place here: the outline of a whole file, writing.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from argot.machine_limits import count_processors

FEWEST = 2

P = ParamSpec("P")
T = TypeVar("T")


class QuestionThreads:
    """A pool of threads, as many as there are processors, and some more where they wait for another process."""

    def __init__(self) -> None:
        self._waiting = 0
        self._pool = self._make_pool()

    def allow_waiting(self, threads: int) -> None:
        """Use this many more threads from now on, because questions wait for a server or another process."""
        if threads > self._waiting:
            self._waiting = threads
            self._pool = self._make_pool()

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the function's result, as `asyncio.to_thread` does."""
        call = partial(contextvars.copy_context().run, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def begin(self, function: Callable[..., object], *args: object) -> None:
        """Call the function and do not wait for it; asyncio logs its failure."""
        asyncio.get_running_loop().run_in_executor(self._pool, function, *args)

    def _make_pool(self) -> ThreadPoolExecutor:
        count = max(FEWEST, count_processors()) + self._waiting
        return ThreadPoolExecutor(count, thread_name_prefix="argot-question")


THREADS = QuestionThreads()
call_in_thread = THREADS.call
begin_in_thread = THREADS.begin
