"""The pool of threads in which questions read the stores and compute, so that the event loop stays free to stream.

The pool is smaller than the event loop's own: each further thread that computes only waits for Python's global
interpreter lock, and waiting costs processor time. Eight questions at once took 33 to 38 ms each before the first word
with two threads, and 42 to 45 ms with the event loop's six (two processors; bench/laboratory/load.md). Work that may
take seconds or wait for a lock, such as the outline of a whole file or a write, runs in the event loop's own threads.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from argot.machine_limits import count_processors

MIN_THREADS = 2

P = ParamSpec("P")
T = TypeVar("T")


class QuestionThreads:
    """A pool with one thread for each processor, and more where questions wait for another process."""

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
        count = max(MIN_THREADS, count_processors()) + self._waiting
        return ThreadPoolExecutor(count, thread_name_prefix="argot-question")


THREADS = QuestionThreads()
call_in_thread = THREADS.call
begin_in_thread = THREADS.begin
