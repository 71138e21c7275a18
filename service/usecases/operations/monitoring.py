"""The running service about itself: what it counted, and by which settings it runs."""

from __future__ import annotations

import asyncio
from typing import Any

from argot.errors import NotFound, StoreUnavailable
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.service.maintenance.process_checks import check_process
from argot.service.usecases.usecase_registry import usecase
from argot.types import Principal


@usecase("admin")
async def metrics(kb: KnowledgeBase, principal: Principal) -> str:
    """Return the counts of the running service, in Prometheus' text format.

    Raises:
        NotFound: this is no service.
    """
    if kb.metrics is None:
        raise NotFound("Only a running service counts: start it with argot serve.")
    return kb.metrics.text().decode()


@usecase("admin")
async def doctor_findings(kb: KnowledgeBase, principal: Principal) -> list[Finding]:
    """Run `argot doctor`'s checks of packages, settings, embedding model and language model in this process.

    A command beside a service has settings of its own, and they say nothing of the service's.
    """
    # In a thread, because it waits for the model server.
    return [
        make_good_finding("answers", f"given by {kb.answers.describe()}"),
        *await asyncio.to_thread(check_process, kb.settings),
        *await check_jobs(kb),
    ]


# -- job check ---------------------------------------------------------------------------------------------------------
# Checks of jobs for `argot doctor`: those put aside, and those that nobody takes.


async def check_jobs(kb: Any) -> list[Finding]:
    """Args: `kb`: an open `KnowledgeBase`."""
    try:
        found = await kb.jobs.list_jobs()
    except StoreUnavailable as error:
        return [make_bad_finding("jobs", str(error), "mend the store, and look again")]
    aside = [
        make_bad_finding(
            f"job {job.id}",
            f"{job.kind} {job.label}: put aside after {job.tries} tries: {job.error}",
            f"argot jobs retry {job.id}",
        )
        for job in found
        if job.state == "aside"
    ]
    if not kb.jobs.shared:
        return aside
    waiting = sorted({job.kind for job in found if job.state == "waiting"})
    idle = [kind for kind in waiting if not await kb.jobs.has_workers(kind)]
    if idle:
        remedy = f"argot work --kinds {','.join(idle)}, or set ARGOT_JOBS_HERE=2 for the service"
        return [
            make_bad_finding("jobs", f"nobody takes those of the kind {', '.join(idle)}, and some wait", remedy),
            *aside,
        ]
    running = sum(job.is_under_way for job in found)
    return [make_good_finding("jobs", f"{running} wait or run"), *aside]
