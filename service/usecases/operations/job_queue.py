"""Long work that waits, runs or has ended: who asked for it, how far it is, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from argot.errors import rebuild_error
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.automatic_derivation import DERIVE, make_derivation_key
from argot.service.usecases.documents.source_access import list_visible_sources
from argot.service.usecases.documents.sources import SYNC
from argot.service.usecases.usecase_registry import Number, Text, usecase
from argot.types import Principal
from argot.work.job_types import JobRecord, JobState, no_job


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
    """List the jobs that wait or run, those that were put aside, and those that ended recently; newest first.

    The caller sees their own jobs, and others' jobs about sources and documents that the caller may read. `kind`: only
    of this kind (sync, upload, fetch, derive, derive_documents, mine, pairs, strategy, adopt, reindex).
    """
    found = await kb.jobs.list_jobs(kind)
    is_visible = await kb.blocking(_make_job_filter, kb, principal)
    return [_show_job(job) for job in found if is_visible(job)]


@usecase("manager", everywhere=True)
async def job_show(kb: KnowledgeBase, principal: Principal, *, job: Number) -> JobDetails:
    """Show one job.

    Only the person who asked for it sees the result, because it may name documents that others may not read.

    Raises:
        NotFound: there is no such job that the caller may see.
    """
    found = await _find_visible_job(kb, principal, job)
    return JobDetails(_show_job(found), found.outcome if _is_own(principal, found) else None)


@usecase("manager", everywhere=True)
async def job_cancel(kb: KnowledgeBase, principal: Principal, *, job: Number) -> JobShown:
    """Cancel a waiting job, or stop a running one, which may continue for a moment.

    Raises:
        NotFound: there is no such job that the caller may see.
        Conflict: it has ended.
    """
    await _find_visible_job(kb, principal, job)
    return _show_job(await kb.jobs.cancel(job))


@usecase("manager", everywhere=True)
async def job_retry(kb: KnowledgeBase, principal: Principal, *, job: Number) -> JobShown:
    """Start a job again that failed, was put aside or cancelled.

    Raises:
        NotFound: there is no such job that the caller may see.
        Conflict: it is waiting, running or done, or there is another job for the same.
    """
    await _find_visible_job(kb, principal, job)
    return _show_job(await kb.jobs.retry(job))


async def _find_visible_job(kb: KnowledgeBase, principal: Principal, number: int) -> JobRecord:
    found = await kb.jobs.job(number)
    is_visible = await kb.blocking(_make_job_filter, kb, principal)
    if not is_visible(found):
        raise no_job(number)
    return found


def _make_job_filter(kb: KnowledgeBase, principal: Principal) -> Callable[[JobRecord], bool]:
    """Return a function that tells whether a job may be seen. Blocks.

    A sync is seen by whoever may know of the source, a derivation by whoever may read the document. What somebody sends
    or fetches is theirs alone until it is in: who will read it is not known to the queue.
    """
    sources = {one.name for one in list_visible_sources(kb, principal)}
    documents = {make_derivation_key(one.id) for one in kb.document_store.documents(principal)}

    def is_visible(job: JobRecord) -> bool:
        if job.kind == SYNC:
            return principal.sees_all or job.label in sources
        return _is_own(principal, job) or (job.kind == DERIVE and job.key in documents)

    return is_visible


def _is_own(principal: Principal, job: JobRecord) -> bool:
    return principal.sees_all or job.asked_by == principal.name


def _show_job(job: JobRecord) -> JobShown:
    shown = {name: getattr(job, name) for name in JobShown.__dataclass_fields__}
    # As its own class says it to whoever asks from elsewhere: without paths of the machine.
    return replace(JobShown(**shown), error=str(rebuild_error(job.error_kind, job.error)) if job.error else "")
