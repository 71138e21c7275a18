"""Jobs in a queue on PostgreSQL (procrastinate's), which workers in this and other processes take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

from argot.errors import Conflict
from argot.work.job_kinds import describe_busy_job
from argot.work.job_types import JobRecord, JobRequest, TellProgress
from argot.work.local_jobs import LocalJobs
from argot.work.queue_store import QueueStore

CHECK_SECONDS = 0.25
"""Interval at which a followed job is read; it grows up to `MAX_CHECK_SECONDS`."""
MAX_CHECK_SECONDS = 2.0

WorkOn: TypeAlias = "Callable[[QueueJobs, str], Coroutine[Any, Any, None]]"

P = ParamSpec("P")
T = TypeVar("T")


class Locks(Protocol):
    """Locks among all processes of a knowledge base (`argot.postgresql.locks.SessionLocks`)."""

    def take(self, name: str, told: Callable[[], None] = ...) -> Any: ...

    def give_back(self, held: Any) -> None: ...

    def close(self) -> None: ...


def lock_name(key: str) -> str:
    """Return the name of the lock that the process doing a job with this key holds.

    The lock holds even while PostgreSQL counts that process as dead.
    """
    return f"job/{key}"


class QueueJobs:
    """`Jobs` of all processes of a knowledge base.

    Args:
        local: the jobs of this process that it does at once.
        lost_after: seconds without a heartbeat after which a worker counts as gone.
        work_on: does jobs of a kind in this process until it is cancelled.
    """

    is_shared = True

    def __init__(self, store: QueueStore, local: LocalJobs, locks: Locks, lost_after: float, work_on: WorkOn) -> None:
        self.store = store
        self.locks = locks
        self._local = local
        self._lost_after = lost_after
        self._work_on = work_on
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._moved = asyncio.Event()

    # -- putting ------------------------------------------------------------------------------------------------------

    async def submit(self, request: JobRequest, *, again: bool = True) -> JobRecord:
        return await self.job(await self._ask_store(self.store.submit, request, again=again))

    async def begin(self, request: JobRequest) -> JobRecord:
        if request.kind not in self._workers and not await self.has_workers(request.kind):
            self._workers.setdefault(request.kind, asyncio.create_task(self._work_on(self, request.kind)))
        return await self.submit(request)

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        async with self._local.turn(name):
            taking = asyncio.create_task(self._ask_store(self.locks.take, f"turn/{name}"))
            try:
                while await asyncio.shield(taking) is None:
                    await asyncio.sleep(CHECK_SECONDS)
                    taking = asyncio.create_task(self._ask_store(self.locks.take, f"turn/{name}"))
                yield
            finally:
                # A thread may have taken the lock although this task is cancelled.
                if (held := await taking) is not None:
                    await self._ask_store(self.locks.give_back, held)

    @asynccontextmanager
    async def run_here(self, request: JobRequest) -> AsyncIterator[TellProgress]:
        async with self._local.run_here(request) as run:
            if not request.key:
                yield run
                return
            held = await self._ask_store(self.locks.take, lock_name(request.key))
            if held is None:
                raise Conflict(describe_busy_job(request))
            try:
                # Checked with the lock held: a job that a worker takes from now on is put off.
                await self._ask_store(self.store.require_free, request)
                yield run
            finally:
                await self._ask_store(self.locks.give_back, held)

    async def has_workers(self, kind: str) -> bool:
        workers = await self._ask_store(self.store.workers, self._lost_after)
        return any(kind in kinds for kinds in workers.values())

    # -- looking ------------------------------------------------------------------------------------------------------

    async def list_jobs(self, kind: str = "") -> list[JobRecord]:
        return [*await self._local.list_jobs(kind), *await self._ask_store(self.store.list_jobs, kind)]

    async def find_latest(self, kind: str, key: str) -> JobRecord | None:
        return await self._ask_store(self.store.find_latest, kind, key)

    async def job(self, number: int) -> JobRecord:
        return await self._ask_store(self.store.job, number)

    async def follow(self, number: int) -> AsyncGenerator[JobRecord]:
        last, wait = None, CHECK_SECONDS
        while True:
            found = await self.job(number)
            if found != last:
                last, wait = found, CHECK_SECONDS
                yield found
            if not found.is_under_way:
                return
            await self._wait(wait)
            wait = min(wait * 1.3, MAX_CHECK_SECONDS)

    def notify_followers(self) -> None:
        """Have followers read their jobs at once, since this process has taken or ended one."""
        self._moved.set()
        self._moved = asyncio.Event()

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._moved.wait(), seconds)
        except TimeoutError:
            return

    # -- stopping -----------------------------------------------------------------------------------------------------

    async def cancel(self, number: int) -> JobRecord:
        await self._ask_store(self.store.cancel, number)
        return await self.job(number)

    async def retry(self, number: int) -> JobRecord:
        await self._ask_store(self.store.retry, number)
        return await self.job(number)

    async def forget(self, name: str) -> None:
        await self._ask_store(self.store.forget_person, name)

    async def forget_documents(self, documents: Collection[str], originals: Collection[str]) -> None:
        await self._local.forget_documents(documents, originals)
        await self._ask_store(self.store.forget_documents, documents, originals)

    async def close(self) -> None:
        for worker in self._workers.values():
            worker.cancel()
        await asyncio.gather(*self._workers.values(), return_exceptions=True)
        await self._local.close()
        await self._ask_store(self.locks.close)

    async def _ask_store(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(function, *args, **kwargs)
