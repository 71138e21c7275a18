"""The running service about itself: what it counted, and by which settings it runs."""

from __future__ import annotations

import asyncio

from argot.errors import NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.findings import Finding, good
from argot.service.maintenance.job_check import job_findings
from argot.service.maintenance.process_checks import findings_of_process
from argot.service.usecases.usecase_registry import usecase
from argot.types import Principal


@usecase("admin")
async def metrics(kb: KnowledgeBase, principal: Principal) -> str:
    """What the running service counted, in Prometheus' text format.

    Raises:
        NotFound: this is no service.
    """
    if kb.metrics is None:
        raise NotFound("Only a running service counts: start it with argot serve.")
    return kb.metrics.text().decode()


@usecase("admin")
async def doctor_findings(kb: KnowledgeBase, principal: Principal) -> list[Finding]:
    """What `argot doctor` finds of packages, settings, embedding model and language model, as this process sees them.

    A command beside a service has settings of its own, and they say nothing of the service's.
    """
    # In a thread, because it waits for the model server.
    return [
        good("answers", f"given by {kb.answers.described()}"),
        *await asyncio.to_thread(findings_of_process, kb.settings),
        *await job_findings(kb),
    ]
