"""Work that others take from the queue, for a use case that gives its result when it is done."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

from argot.errors import ArgotError, Conflict, rebuild_error
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Event, Finished, get_outcome
from argot.work.job_types import JobRecord, JobRequest, Jobs


async def stop_job(jobs: Jobs, number: int) -> None:
    """Cancel a job, unless it has ended, and wait for its end."""
    with suppress(Conflict):
        await jobs.cancel(number)
    await wait_for_end(jobs, number)


async def wait_for_end(jobs: Jobs, number: int) -> None:
    """Wait until a job is not under way any more."""
    async with aclosing(jobs.follow(number)) as found:
        async for _ in found:
            pass


async def follow_job(jobs: Jobs, request: JobRequest) -> AsyncGenerator[Event | Finished[Any]]:
    """Yield the progress of a job, and last its outcome, as JSON. Closing this cancels it.

    Raises:
        Conflict: one with its key is under way, or somebody has cancelled it.
        ArgotError: what kept it from its end, as in the process that did it.
    """
    number = (await jobs.begin(request)).id
    last: JobRecord | None = None
    last_event: Event = {}
    try:
        async with aclosing(jobs.follow(number)) as found:
            async for last in found:
                event = _make_event(last)
                if last.is_under_way and event != last_event and (last.total or event["kind"] == "waiting"):
                    last_event = event
                    yield event
    finally:
        if last is None or last.is_under_way:
            # It may have ended after the state that was seen last.
            with suppress(Conflict):
                await jobs.cancel(number)
    yield Finished(_read_outcome(await jobs.job(number)))


async def wait_for_outcome(kb: KnowledgeBase, request: JobRequest) -> Any:
    """Run a job in the queue and return its result, without its events."""
    return await get_outcome(follow_job(kb.jobs, request))


def _make_event(job: JobRecord) -> Event:
    far = {"done": job.done, "total": job.total}
    if job.state == "waiting" and job.error:
        return {"kind": "waiting", "name": job.label, "detail": job.error, **far}
    return {"kind": "progress", "name": job.doing, **far}


def _read_outcome(job: JobRecord) -> Any:
    if job.state == "cancelled":
        raise Conflict(f"Job {job.id} was cancelled.")
    if job.state == "aside":
        raise ArgotError(
            f"{job.error} Job {job.id} was tried {job.tries} times and put aside."
            f" Put it back with: argot jobs retry {job.id}"
        )
    if job.state == "failed":
        raise rebuild_error(job.error_kind, job.error)
    return job.outcome
