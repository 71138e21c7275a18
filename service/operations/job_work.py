"""Doing the jobs of the queue: in the service, and in `argot work` on other machines."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress

from argot.errors import InvalidInput, InvalidSettings
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations import background_derivation, retention, source_schedule
from argot.service.sign_in import provider_sign_in
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.work.job_kinds import KINDS
from argot.work.job_types import JobMoved

# Imported for the kinds of jobs and the scheduled work that they declare.
__all__ = ["background_derivation", "catalogue", "provider_sign_in", "retention", "source_schedule"]

NEEDS = (
    "argot work runs jobs of services on other machines, so it needs the stores that they share. Set"
    " ARGOT_STORE=postgresql://USER:PASSWORD@HOST/DATABASE and ARGOT_CHROMA_URL=http://HOST:PORT as they are set "
    "there. On a single machine the service runs its jobs itself."
)


def work_until_stopped(
    settings: Settings, concurrency: int, kinds: str, on_change: Callable[[JobMoved], None], note: Callable[[str], None]
) -> None:
    """Do jobs until SIGTERM or SIGINT; then let those under way end, or give them back.

    Args:
        kinds: the kinds to take, between commas; empty: all for which this machine is set up.

    Raises:
        InvalidSettings: it has no stores that it could share.
        InvalidInput: there is no such kind.
    """
    if not settings.storage.database or not settings.storage.chroma_url:
        raise InvalidSettings(NEEDS)
    wanted = parse_kinds(kinds, settings)
    with suppress(asyncio.CancelledError):
        asyncio.run(_work(settings, concurrency, wanted, on_change, note))


def parse_kinds(text: str, settings: Settings) -> list[str]:
    """Return the kinds of jobs in a list with commas; if it is empty, those that the settings allow.

    Raises:
        InvalidInput: there is no such kind.
    """
    named = [one.strip() for one in text.split(",") if one.strip()]
    if unknown := [one for one in named if one not in KINDS]:
        raise InvalidInput(f"'{unknown[0]}' is not a kind of job. Kinds: {', '.join(sorted(KINDS))}.")
    return named or sorted(one.name for one in KINDS.values() if one.is_possible(settings))


async def _work(
    settings: Settings,
    concurrency: int,
    kinds: Sequence[str],
    on_change: Callable[[JobMoved], None],
    note: Callable[[str], None],
) -> None:
    async with KnowledgeBase.open(settings.home, settings) as kb:
        working = asyncio.create_task(_run_worker(kb, kinds, concurrency, on_change))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, working.cancel)
        note(f"Taking jobs ({', '.join(kinds)}), {concurrency} at a time. Stop with Ctrl+C.")
        await working


async def work_here(kb: KnowledgeBase) -> None:
    """Do jobs in the service, where they go through a queue; else they are begun where they are put."""
    if kb.settings.jobs.at_once:
        await _run_worker(kb, parse_kinds("", kb.settings), kb.settings.jobs.at_once, lambda moved: None)


async def _run_worker(
    kb: KnowledgeBase, kinds: Sequence[str], concurrency: int, on_change: Callable[[JobMoved], None]
) -> None:
    # Imports what speaks to PostgreSQL, which is an extra.
    if not kb.jobs.is_shared:
        return
    from argot.work.queue_jobs import QueueJobs
    from argot.work.queue_worker import QueueWorker, WorkerLimits

    assert isinstance(kb.jobs, QueueJobs)
    settings = kb.settings
    limits = WorkerLimits(
        concurrency, settings.web.stop_seconds, settings.jobs.lost_seconds, settings.jobs.retry_seconds
    )
    await QueueWorker(kb, kb.jobs, kinds, limits, told=on_change).run()
