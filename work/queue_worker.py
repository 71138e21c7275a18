"""The worker that takes jobs from the queue and does them: in the service, and in `argot work` on other machines.

procrastinate's worker waits for jobs (LISTEN, and polling every few seconds), takes them, and sends heartbeats. Argot's
worker starts it again whenever it ends by itself, as when PostgreSQL is restarted, and puts back the jobs of workers
that are gone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import procrastinate
import psycopg
from procrastinate import JobContext, PsycopgConnector
from procrastinate.exceptions import ConnectorException, JobAborted
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job as QueuedJob
from procrastinate.retry import BaseRetryStrategy, RetryDecision

from argot.errors import StoreUnavailable
from argot.types import LOCAL_NAME
from argot.work.job_kinds import KINDS, Lane
from argot.work.job_types import JobMoved, JobRun, PutOff
from argot.work.local_jobs import process_name
from argot.work.queue_jobs import QueueJobs, lock_name
from argot.work.queue_store import TASK, QueueStore, TakenJob
from argot.work.tries import judge_try, log_try

logger = logging.getLogger(__name__)

LANES: tuple[Lane, ...] = ("awaited", "long")
TELL_SECONDS = 0.5
"""Minimum interval between two notes of a job's progress."""
FORGET_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """The limits and intervals of a worker.

    Args:
        jobs: the number of jobs at a time, for each lane.
        stop_seconds: how long a stop waits for running jobs before it gives them back.
        poll_seconds: how often to look for jobs without a notification, such as those whose next try is due.
        lost_after: seconds without a heartbeat after which a worker counts as gone.
        first_wait: seconds between the first failed try and the second.
    """

    jobs: int
    stop_seconds: float
    lost_after: float
    first_wait: float
    poll_seconds: float = 5.0


class QueueWorker:
    """Does jobs until it is stopped.

    Args:
        kb: a `KnowledgeBase`, whose module imports this one.
        kinds: the kinds of jobs to take.
        told: called in the event loop about each change of a job.
        name: the worker's name among those of its process.
    """

    def __init__(
        self,
        kb: Any,
        jobs: QueueJobs,
        kinds: Collection[str],
        limits: WorkerLimits,
        *,
        told: Callable[[JobMoved], None] = lambda moved: None,
        name: str = "",
    ) -> None:
        self._kb = kb
        self._jobs = jobs
        self._store: QueueStore = jobs.store
        self._kinds = tuple(kinds)
        self._limits = limits
        self._told = told
        self.name = ":".join([process_name(), name]).rstrip(":")
        self._writing_heartbeat = asyncio.Lock()

    async def run(self) -> None:
        """Do jobs for ever. When cancelled, wait for running jobs, and give them back after `stop_seconds`."""
        await self._wait_for_tables()
        tending = asyncio.create_task(self._send_heartbeat())
        try:
            await asyncio.gather(*(self._run_lane(lane) for lane in LANES))
        finally:
            # A thread ends its heartbeat even if the task is cancelled, and would add the removed worker again.
            async with self._writing_heartbeat:
                tending.cancel()
            await asyncio.gather(tending, return_exceptions=True)
            with suppress(StoreUnavailable):
                await asyncio.to_thread(self._store.remove_worker, self.name)

    async def _wait_for_tables(self) -> None:
        """Wait until the queue's tables exist."""
        while True:
            try:
                return await asyncio.to_thread(self._store.open)
            except StoreUnavailable as error:
                logger.warning("no jobs are taken: %s", error)
                await asyncio.sleep(5.0)

    # -- procrastinate's worker ------------------------------------------------------------------------------------

    async def _run_lane(self, lane: Lane) -> None:
        queues = [self._store.queue(kind) for kind in self._kinds if KINDS[kind].lane == lane]
        if not queues:
            return
        rest = 1.0
        while True:
            began = asyncio.get_running_loop().time()
            try:
                await self._run_worker(queues)
                logger.info("the worker for %s jobs begins anew", lane)
            except (ConnectorException, psycopg.Error) as error:
                logger.warning("no %s jobs are taken for %.0f s: %s", lane, rest, error.__cause__ or error)
            # One failure must not end the worker for as long as this process runs.
            except Exception:
                logger.exception("no %s jobs are taken for %.0f s", lane, rest)
            # An error during a stop must not prevent it.
            if (task := asyncio.current_task()) and task.cancelling():
                raise asyncio.CancelledError
            lasted = asyncio.get_running_loop().time() - began
            rest = 1.0 if lasted > 60 else min(rest * 2, 30.0)
            await asyncio.sleep(rest)

    async def _run_worker(self, queues: list[str]) -> None:
        app = procrastinate.App(
            connector=PsycopgConnector(conninfo=self._store.conninfo, min_size=1, max_size=4, timeout=10.0)
        )
        app.task(name=TASK, pass_context=True, retry=_AsToldByUs())(self._take)
        async with app.open_async():
            await app.run_worker_async(
                queues=queues,
                name=self.name,
                concurrency=self._limits.jobs,
                fetch_job_polling_interval=self._limits.poll_seconds,
                abort_job_polling_interval=self._limits.poll_seconds,
                shutdown_graceful_timeout=self._limits.stop_seconds,
                install_signal_handlers=False,
                update_heartbeat_interval=self._limits.lost_after / 3,
                stalled_worker_timeout=self._limits.lost_after,
            )

    async def _send_heartbeat(self) -> None:
        """Send this worker's heartbeat, and put back the jobs of workers that are gone."""
        loop = asyncio.get_running_loop()
        forgot = -FORGET_SECONDS
        while True:
            try:
                async with self._writing_heartbeat:
                    await asyncio.to_thread(self._store.note_worker, self.name, self._kinds)
                limits = self._limits
                for job in await asyncio.to_thread(self._store.recover, limits.lost_after, limits.first_wait):
                    logger.warning("job %d (%s %s) was taken back: its worker is gone", job.id, job.kind, job.label)
                if loop.time() - forgot > FORGET_SECONDS:
                    await asyncio.to_thread(self._store.forget_old)
                    forgot = loop.time()
            # The next heartbeat comes before anybody counts this worker as gone.
            except StoreUnavailable as error:
                logger.warning("the queue cannot be looked at: %s", error)
            await asyncio.sleep(self._limits.lost_after / 3)

    # -- one job --------------------------------------------------------------------------------------------------

    async def _take(self, context: JobContext) -> None:
        """Do one job. The exception that it raises, if any, tells procrastinate the decision about the job."""
        number = context.job.id
        assert number is not None
        taken = await asyncio.to_thread(self._store.begin, number, self.name)
        if taken is None:
            raise JobAborted
        self._jobs.notify_followers()
        try:
            await self._do_job(taken)
        except asyncio.CancelledError:
            await self._handle_stop(taken, by_hand=context.abort_reason() == AbortReason.USER_REQUEST)
        except Exception as error:
            await self._handle_failure(taken, error)
        finally:
            self._jobs.notify_followers()

    async def _do_job(self, taken: TakenJob) -> None:
        self._say(taken, "begun")
        held = None
        if taken.key:
            held = await self._take_lock(taken)
        try:
            outcome = await self._work_on(taken)
        finally:
            if held is not None:
                await asyncio.to_thread(self._jobs.locks.give_back, held)
        await asyncio.to_thread(self._store.note_success, taken.id, outcome)
        self._say(taken, "done")

    async def _take_lock(self, taken: TakenJob) -> Any:
        """Take the lock of the job's key, and return it.

        Raises:
            PutOff: another process holds the lock, even if its heartbeat has lapsed.
        """
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None

        def stop_lost() -> None:
            # The lock is lost: another process may do the job from now on.
            loop.call_soon_threadsafe(task.cancel)

        held = await asyncio.to_thread(self._jobs.locks.take, lock_name(taken.key), stop_lost)
        if held is None:
            raise PutOff("Another process is at it.", self._limits.lost_after)
        return held

    async def _work_on(self, taken: TakenJob) -> Any:
        local = taken.asked_by == LOCAL_NAME
        principal = await asyncio.to_thread(self._kb.principal, None if local else taken.asked_by)
        telling = _Telling(self._store, self._say, taken)
        try:
            return await KINDS[taken.kind].work(JobRun(self._kb, principal, taken.parameters, taken.data, telling.tell))
        finally:
            await telling.close()

    async def _handle_stop(self, taken: TakenJob, *, by_hand: bool) -> None:
        """Note why the job was stopped, and raise the error that tells procrastinate.

        Raises:
            JobAborted: somebody cancelled it.
            _Again: this worker stops, or has lost its lock: another one continues the job.
        """
        if by_hand:
            await asyncio.to_thread(self._store.note_stop, taken.id)
            self._say(taken, "cancelled")
            raise JobAborted
        await self._handle_failure(taken, PutOff(f"The worker {self.name} was stopped while it was at it.", 0.0))

    async def _handle_failure(self, taken: TakenJob, error: Exception) -> None:
        kind = KINDS[taken.kind]
        found = judge_try(error, taken.tries, taken.put_off, self._limits.first_wait, is_retried=kind.is_retried)
        words = kind.describe_failure(error)
        log_try(logger, taken, found, error)
        at = await asyncio.to_thread(self._store.note_failure, taken.id, found, words, type(error).__name__)
        self._say(taken, f"{found.state}: {words}")
        if found.state == "waiting":
            raise _Again(at) from error
        raise _NoMore(words) from error

    def _say(self, taken: TakenJob, what: str, done: int = 0, total: int = 0) -> None:
        self._told(JobMoved(taken.id, taken.kind, taken.label, what, done, total))


class _Again(Exception):
    """The job is to be tried again, at the earliest at the time `at`."""

    def __init__(self, at: datetime) -> None:
        super().__init__("it is taken up again")
        self.at = at


class _NoMore(Exception):
    """The job is not to be tried again."""


def _is_news(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], _NoMore | _Again))


# The decision about a job is already logged; procrastinate would log it once more.
logging.getLogger("procrastinate.worker").addFilter(_is_news)


class _AsToldByUs(BaseRetryStrategy):
    """Retry strategy that repeats the noted decision about a failed job (`tries.judge_try`).

    If the decision could not be noted, as when PostgreSQL went away just then, the job is begun again.
    """

    def get_retry_decision(self, *, exception: BaseException, job: QueuedJob) -> RetryDecision | None:
        if isinstance(exception, _NoMore | JobAborted):
            return None
        return RetryDecision(retry_at=exception.at if isinstance(exception, _Again) else None)


class _Telling:
    """Notes the progress of a job, at intervals."""

    def __init__(self, store: QueueStore, say: Callable[[TakenJob, str, int, int], None], taken: TakenJob) -> None:
        self._store = store
        self._say = say
        self._taken = taken
        self._latest: tuple[int, int, str, Any] | None = None
        self._noting: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()

    def tell(self, done: int, total: int, doing: str = "", outcome: Any = None) -> None:
        self._latest = (done, total, doing, outcome)
        if self._noting is None or self._noting.done():
            self._noting = asyncio.create_task(self._note())

    async def close(self) -> None:
        # A thread writes its note even if the task is cancelled, and would write over the job's outcome.
        async with self._writing:
            if self._noting is not None:
                self._noting.cancel()
        if self._noting is not None:
            await asyncio.gather(self._noting, return_exceptions=True)

    async def _note(self) -> None:
        while self._latest is not None:
            (done, total, doing, outcome), self._latest = self._latest, None
            self._say(self._taken, doing, done, total)
            try:
                async with self._writing:
                    await asyncio.to_thread(self._store.tell, self._taken.id, done, total, doing, outcome)
            # Progress can be noted later; the job itself fails if the server stays away.
            except StoreUnavailable as error:
                logger.info("how far job %d is could not be noted: %s", self._taken.id, error)
            await asyncio.sleep(TELL_SECONDS)
