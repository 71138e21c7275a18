"""Long work that waits, runs or has ended: who asked for it, how far it is, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from argot.errors import error_named
from argot.service.jobs.job_types import JobRecord, JobState
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Number, Text, usecase
from argot.types import Principal


@dataclass(frozen=True, slots=True)
class JobShown:
    """A job as it is listed. Times are ISO 8601 in UTC, empty where it has not come to that.

    `state`: waiting, running, done, failed (it cannot be used, so it is not tried again), aside (tried so often that it
    is left alone) or cancelled. `next_at`: not before then it is tried again. `worker`: the machine and process that
    has it, or had it last.
    """

    id: int
    kind: str
    label: str
    state: JobState
    asked_by: str
    put_at: str
    started_at: str
    ended_at: str
    next_at: str
    tries: int
    done: int
    total: int
    doing: str
    error: str
    worker: str


@dataclass(frozen=True, slots=True)
class JobDetails:
    """A job with what came of it, as JSON."""

    job: JobShown
    outcome: Any


@usecase("manager", everywhere=True)
async def job_list(kb: KnowledgeBase, principal: Principal, *, kind: Text = "") -> list[JobShown]:
    """The jobs that wait or run, those that were put aside, and those that ended lately; newest first.

    `kind`: of this kind alone (sync, upload, fetch, derive).
    """
    return [_shown(job) for job in await kb.jobs.listed(kind)]


@usecase("manager", everywhere=True)
async def job_show(kb: KnowledgeBase, principal: Principal, *, job: Number) -> JobDetails:
    """One job, with what came of it.

    Raises:
        NotFound
    """
    found = await kb.jobs.job(job)
    return JobDetails(_shown(found), found.outcome)


@usecase("manager", everywhere=True)
async def job_cancel(kb: KnowledgeBase, principal: Principal, *, job: Number) -> JobShown:
    """Let a job not begin, or stop it; it may run on for a moment.

    Raises:
        NotFound
        Conflict: it has ended.
    """
    return _shown(await kb.jobs.cancel(job))


@usecase("manager", everywhere=True)
async def job_retry(kb: KnowledgeBase, principal: Principal, *, job: Number) -> JobShown:
    """Let a job that failed, was put aside or cancelled begin anew.

    Raises:
        NotFound
        Conflict: it is under way or done, or another one for the same is.
    """
    return _shown(await kb.jobs.retry(job))


def _shown(job: JobRecord) -> JobShown:
    shown = {name: getattr(job, name) for name in JobShown.__dataclass_fields__}
    # As its own class says it to whoever asks from elsewhere: without paths of the machine.
    return replace(JobShown(**shown), error=str(error_named(job.error_kind, job.error)) if job.error else "")
