"""Trainings of a knowledge base, run while the service runs: one at a time, oldest first.

They are in its folder and need nothing else: one that a stop or a crash of the service interrupts resumes at its next
start, from the last checkpoint. Without a service, or on another machine, `argot learn worker` trains them.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from argot.learn.run_folder import RunFolder
from argot.learn.run_worker import RunWorker, find_next_run
from argot.service.knowledge_base import KnowledgeBase
from argot.service.storage.home_folder import RUNS
from argot.settings import ENV_PREFIX, Settings

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
FOLLOW_SECONDS = 0.5
REST_SECONDS = 60.0
"""After a fault of the queue itself, as on a full disk."""


def get_runs_folder(home: Path) -> Path:
    """Return the folder of a knowledge base's trainings."""
    return home.expanduser().absolute() / RUNS


def make_worker(runs: Path, settings: Settings) -> RunWorker:
    """Make a worker whose processes prepare models in the settings' cache, and know no other setting."""
    known = {f"{ENV_PREFIX}CACHE": str(settings.cache.expanduser().absolute())}
    if settings.search.threads:
        known[f"{ENV_PREFIX}THREADS"] = str(settings.search.threads)
    return RunWorker(runs, environment=known)


@asynccontextmanager
async def keep_training(kb: KnowledgeBase) -> AsyncIterator[None]:
    """Train the waiting trainings of this service's own folder during the block."""
    task = asyncio.create_task(train_waiting(kb))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def train_waiting(kb: KnowledgeBase, worker: RunWorker | None = None) -> None:
    """Train all waiting runs, for ever. Cancelled, it stops the training under way, which keeps a checkpoint."""
    worker = worker or make_worker(get_runs_folder(kb.home), kb.settings)
    try:
        while True:
            if await _train_next(worker) is None:
                await asyncio.sleep(LOOK_SECONDS)
    finally:
        await asyncio.to_thread(worker.end)


async def _train_next(worker: RunWorker) -> RunFolder | None:
    try:
        return await asyncio.to_thread(worker.train_next)
    # One failure must not end the queue for the service's lifetime.
    except Exception:
        logger.exception("waiting trainings could not be looked at; it is tried again in a minute")
        await asyncio.sleep(REST_SECONDS)
        return None


# -- without a service ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a training, according to its folder."""

    run: str
    name: str
    status: str
    doing: str
    step: int
    steps: int
    seconds_left: float | None
    losses: Mapping[str, float]
    error: str


Told = Callable[[RunProgress], None]


def train_here(runs: Path, settings: Settings, run: str, told: Told) -> RunProgress:
    """Train one run to its end, in a process of its own; an interrupt (Ctrl+C) stops it at its next step, resumably.

    Raises:
        NotFound: there is no such run.
    """
    return _follow_run(make_worker(runs, settings), RunFolder.find(runs, run), told)


def train_all(runs: Path, settings: Settings, told: Told, *, once: bool = False) -> None:
    """Train all waiting runs of a folder, for ever; `once`: until none waits. An interrupt makes the present one wait
    again.
    """
    worker = make_worker(runs, settings)
    while True:
        if (run := find_next_run(runs)) is not None:
            _follow_run(worker, run, told, stop=False)
        elif once:
            return
        else:
            time.sleep(LOOK_SECONDS)


def _follow_run(worker: RunWorker, run: RunFolder, told: Told, *, stop: bool = True) -> RunProgress:
    training = threading.Thread(target=worker.train, args=(run,))
    training.start()
    try:
        while training.is_alive():
            training.join(FOLLOW_SECONDS)
            told(_describe_progress(run))
    except KeyboardInterrupt:
        if stop:
            run.stop()
        else:
            worker.end()
        training.join()
        if not stop:
            raise
    return _describe_progress(run)


def _describe_progress(run: RunFolder) -> RunProgress:
    state, curve = run.state, run.curve()
    losses = {name: value for name, value in curve[-1].items() if name != "step"} if curve else {}
    return RunProgress(
        run.id,
        run.request.name,
        state.status,
        state.doing,
        state.step,
        state.steps,
        state.seconds_left,
        losses,
        state.error,
    )
