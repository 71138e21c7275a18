"""The running service about itself: what it counted, and by which settings it runs."""

from __future__ import annotations

import asyncio

from argot.errors import NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.findings import Finding, make_good_finding
from argot.service.maintenance.job_check import check_jobs
from argot.service.maintenance.process_checks import check_process
from argot.service.usecases.usecase_registry import usecase
from argot.types import Principal


@usecase("admin")
async def metrics(kb: KnowledgeBase, principal: Principal) -> str:
    """Return the metrics of the running service, in Prometheus' text format.

    Raises:
        NotFound: this process is not a service.
    """
    if kb.metrics is None:
        raise NotFound("Only a running service has metrics. Start it with: argot serve")
    return kb.metrics.text().decode()


@usecase("admin")
async def doctor_findings(kb: KnowledgeBase, principal: Principal) -> list[Finding]:
    """Run `argot doctor`'s checks of packages, settings and models in this process.

    The models are the embedding model and the language model. A command that runs beside a service has its own
    settings, which may differ from the service's.
    """
    # In a thread, because it waits for the model server.
    return [
        make_good_finding("answers", f"given by {kb.answers.describe()}"),
        *await asyncio.to_thread(check_process, kb.settings),
        *await check_jobs(kb.jobs),
    ]
