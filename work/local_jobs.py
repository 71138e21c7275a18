"""Jobs done in this process, each as a task of its own. They are lost when the process ends."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

from argot.clock import format_utc, timestamp, utc_now
from argot.corpus.document_ids import hash_content
from argot.errors import Conflict
from argot.work.job_kinds import KINDS, describe_busy_job
from argot.work.job_types import JobRecord, JobRequest, JobRun, JobState, TellProgress, no_job
from argot.work.tries import judge_try, log_try

logger = logging.getLogger(__name__)

KEPT = 200
"""The number of ended jobs that are kept; older ones are forgotten."""


def process_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


class LocalJobs:
    """`Jobs` of one process.

    Args:
        kb: a `KnowledgeBase`, whose module imports this one.
        first_wait: seconds between the first failed try and the second.
    """

    is_shared = False

    def __init__(self, kb: Any, first_wait: float) -> None:
        self._kb = kb
        self._first_wait = first_wait
        self._jobs: dict[int, _LocalJob] = {}
        self._ended: deque[int] = deque()
        self._last = 0
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    # -- putting ------------------------------------------------------------------------------------------------------

    async def submit(self, request: JobRequest, *, again: bool = True) -> JobRecord:
        if aside := self._find_set_aside(request.key):
            if not again:
                return aside.job
            self._forget(aside.job.id)
        one = self._begin_job(request)
        one.task = asyncio.create_task(self._work_on(one))
        return one.job

    async def begin(self, request: JobRequest) -> JobRecord:
        return await self.submit(request)

    def turn(self, name: str) -> AbstractAsyncContextManager[None]:
        return self._turns[name]

    @asynccontextmanager
    async def run_here(self, request: JobRequest) -> AsyncIterator[TellProgress]:
        one = self._begin_job(request)
        one.changes(state="running", started_at=timestamp(), tries=1)
        try:
            yield one.tell
        finally:
            # The caller reports the outcome itself: the list need not keep the job.
            one.changes(state="done")
            self._forget(one.job.id)

    async def has_workers(self, kind: str) -> bool:
        return False

    # -- looking ------------------------------------------------------------------------------------------------------

    async def list_jobs(self, kind: str = "") -> list[JobRecord]:
        found = [one.job.drop_outcome() for one in self._jobs.values() if kind in ("", one.job.kind)]
        return sorted(found, key=lambda job: -job.id)

    async def find_latest(self, kind: str, key: str) -> JobRecord | None:
        found = [one.job for one in self._jobs.values() if (one.job.kind, one.job.key) == (kind, key)]
        return max(found, key=lambda job: job.id, default=None)

    async def job(self, number: int) -> JobRecord:
        return self._find_job(number).job

    async def follow(self, number: int) -> AsyncGenerator[JobRecord]:
        one = self._find_job(number)
        states: asyncio.Queue[JobRecord] = asyncio.Queue()
        states.put_nowait(one.job)
        one.followers.append(states)
        try:
            while (job := await states.get()).is_under_way:
                yield job
            yield job
        finally:
            one.followers.remove(states)

    # -- stopping -----------------------------------------------------------------------------------------------------

    async def cancel(self, number: int) -> JobRecord:
        one = self._find_job(number)
        if not one.job.is_under_way:
            raise one.job.make_ended_conflict()
        if one.task is None:
            raise Conflict(f"Job {number} is done by whoever asked for it, and can be stopped only there.")
        one.task.cancel()
        await asyncio.gather(one.task, return_exceptions=True)
        # A task that had not begun yet does not handle its cancellation.
        if one.job.is_under_way:
            self._end(one, "cancelled")
        return one.job

    async def retry(self, number: int) -> JobRecord:
        one = self._find_job(number)
        one.job.require_put_back()
        self._require_free(one.wanted)
        self._ended.remove(number)
        one.put_off = 0
        one.changes(state="waiting", tries=0, error="", error_kind="", ended_at="", done=0, total=0, doing="")
        one.task = asyncio.create_task(self._work_on(one))
        return one.job

    async def forget(self, name: str) -> None:
        for one in [one for one in self._jobs.values() if one.job.asked_by == name and not one.job.is_under_way]:
            self._forget(one.job.id)

    async def forget_documents(self, documents: Collection[str], originals: Collection[str]) -> None:
        for one in [one for one in self._jobs.values() if not one.job.is_under_way]:
            text = json.dumps([one.job.outcome, dict(one.wanted.parameters)], default=str)
            data = one.wanted.data
            if any(id_ in text for id_ in documents) or (data is not None and hash_content(data) in originals):
                self._forget(one.job.id)

    async def close(self) -> None:
        tasks = [one.task for one in self._jobs.values() if one.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- doing --------------------------------------------------------------------------------------------------------

    async def _work_on(self, one: _LocalJob) -> None:
        try:
            while True:
                one.changes(state="running", started_at=timestamp(), next_at="", tries=one.job.tries + 1)
                try:
                    outcome = await KINDS[one.wanted.kind].work(self._start_run(one))
                except Exception as error:
                    if not await self._is_tried_again(one, error):
                        return
                else:
                    self._end(one, "done", outcome=outcome, error="", error_kind="")
                    return
        except asyncio.CancelledError:
            self._end(one, "cancelled")
            raise

    def _start_run(self, one: _LocalJob) -> JobRun:
        wanted = one.wanted
        return JobRun(self._kb, wanted.by, wanted.parameters, wanted.data, one.tell)

    async def _is_tried_again(self, one: _LocalJob, error: Exception) -> bool:
        kind = KINDS[one.job.kind]
        found = judge_try(error, one.job.tries, one.put_off, self._first_wait, is_retried=kind.is_retried)
        log_try(logger, one.job, found, error)
        failure = {"error": kind.describe_failure(error), "error_kind": type(error).__name__}
        if found.state != "waiting":
            self._end(one, found.state, **failure)
            return False
        one.put_off = 0 if found.counts else one.put_off + 1
        next_at = format_utc(utc_now() + found.delay)
        one.changes(state="waiting", next_at=next_at, tries=one.job.tries - (not found.counts), **failure)
        await asyncio.sleep(found.seconds)
        return True

    # -- the list -----------------------------------------------------------------------------------------------------

    def _begin_job(self, request: JobRequest) -> _LocalJob:
        self._require_free(request)
        self._last += 1
        one = self._jobs[self._last] = _LocalJob(self._last, request)
        return one

    def _require_free(self, request: JobRequest) -> None:
        if request.key and any(one.wanted.key == request.key and one.job.is_under_way for one in self._jobs.values()):
            raise Conflict(describe_busy_job(request))

    def _find_set_aside(self, key: str) -> _LocalJob | None:
        kept = self._jobs.values()
        return next((one for one in kept if key and one.wanted.key == key and one.job.state == "aside"), None)

    def _find_job(self, number: int) -> _LocalJob:
        if number not in self._jobs:
            raise no_job(number)
        return self._jobs[number]

    def _end(self, one: _LocalJob, state: JobState, **said: Any) -> None:
        one.changes(state=state, ended_at=timestamp(), doing="", **said)
        self._ended.append(one.job.id)
        while len(self._ended) > KEPT:
            self._forget(self._ended[0])

    def _forget(self, number: int) -> None:
        del self._jobs[number]
        if number in self._ended:
            self._ended.remove(number)


class _LocalJob:
    """A job of this process. `followers`: queues, each of which receives every new state."""

    def __init__(self, number: int, request: JobRequest) -> None:
        self.wanted = request
        self.job = JobRecord(
            number, request.kind, request.label, request.key, "waiting", request.by.name, timestamp(),
            worker=process_name(), parameters=request.parameters,
        )  # fmt: skip
        self.task: asyncio.Task[None] | None = None
        self.put_off = 0
        self.followers: list[asyncio.Queue[JobRecord]] = []

    def changes(self, **said: Any) -> None:
        self.job = replace(self.job, **said)
        for states in self.followers:
            states.put_nowait(self.job)

    def tell(self, done: int, total: int, doing: str = "", outcome: Any = None) -> None:
        self.changes(done=done, total=total, doing=doing, outcome=self.job.outcome if outcome is None else outcome)
