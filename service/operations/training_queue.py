"""Trainings of a knowledge base, run while the service runs: one at a time, oldest first.

They lie in its folder and need nothing else: what a stop or a crash of the service cuts off goes on at its next start,
from the last checkpoint. Without a service, or on another machine, `argot learn worker` trains them.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from argot.learn.run_folder import RunFolder
from argot.learn.run_worker import RunWorker
from argot.service.knowledge_base import KnowledgeBase
from argot.service.storage.home_folder import RUNS
from argot.settings import ENV_PREFIX, Settings

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
REST_SECONDS = 60.0
"""After a fault of the queue itself, as on a full disk."""


def runs_of(home: Path) -> Path:
    """The folder of a knowledge base's trainings."""
    return home.expanduser().absolute() / RUNS


def worker_for(runs: Path, settings: Settings) -> RunWorker:
    """Its processes prepare models where the settings say, and know nothing else of them."""
    known = {f"{ENV_PREFIX}CACHE": str(settings.cache.expanduser().absolute())}
    if settings.threads:
        known[f"{ENV_PREFIX}THREADS"] = str(settings.threads)
    return RunWorker(runs, environment=known)


async def train_waiting(kb: KnowledgeBase, worker: RunWorker | None = None) -> None:
    """Train whatever waits, for ever. Cancelled, it stops the training under way, which keeps a checkpoint."""
    worker = worker or worker_for(runs_of(kb.home), kb.settings)
    try:
        while True:
            if await _worked(worker) is None:
                await asyncio.sleep(LOOK_SECONDS)
    finally:
        await asyncio.to_thread(worker.end)


async def _worked(worker: RunWorker) -> RunFolder | None:
    try:
        return await asyncio.to_thread(worker.work_once)
    # One failure must not end the queue for as long as the service runs.
    except Exception:
        logger.exception("waiting trainings could not be looked at; it is tried again in a minute")
        await asyncio.sleep(REST_SECONDS)
        return None
