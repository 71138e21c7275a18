"""Checks of jobs for `argot doctor`: those set aside, and those that no process takes."""

from __future__ import annotations

from argot.errors import StoreUnavailable
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.work.job_types import Jobs


async def check_jobs(jobs: Jobs) -> list[Finding]:
    try:
        found = await jobs.list_jobs()
    except StoreUnavailable as error:
        return [make_bad_finding("jobs", str(error), "repair the store, and run argot doctor again")]
    aside = [
        make_bad_finding(
            f"job {job.id}",
            f"{job.kind} {job.label}: put aside after {job.tries} tries: {job.error}",
            f"argot jobs retry {job.id}",
        )
        for job in found
        if job.state == "aside"
    ]
    if not jobs.is_shared:
        return aside
    waiting = sorted({job.kind for job in found if job.state == "waiting"})
    idle = [kind for kind in waiting if not await jobs.has_workers(kind)]
    if idle:
        remedy = f"argot work --kinds {','.join(idle)}, or set ARGOT_JOBS_HERE=2 for the service"
        return [
            make_bad_finding("jobs", f"no process runs jobs of the kind {', '.join(idle)}, and some wait", remedy),
            *aside,
        ]
    running = sum(job.is_under_way for job in found)
    return [make_good_finding("jobs", f"{running} wait or run"), *aside]
