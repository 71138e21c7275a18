"""Trainings of a knowledge base, run while the service runs: one at a time, oldest first.

They are in its folder and need nothing else: one that a stop or a crash of the service interrupts resumes at its next
start, from the last checkpoint. Without a service, or on another machine, `argot learn worker` trains them.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from argot.learn.run_folder import RunFolder
from argot.learn.run_worker import RunWorker, find_next_run
from argot.service.knowledge_base import KnowledgeBase
from argot.service.storage.home_folder import RUNS
from argot.settings import ENV_PREFIX, Settings
from argot.work.schedule import schedule_work

CHECK_SECONDS = 2.0
FOLLOW_SECONDS = 0.5


def get_runs_folder(home: Path) -> Path:
    """Return the folder of a knowledge base's trainings."""
    return home.expanduser().absolute() / RUNS


def make_worker(runs: Path, settings: Settings) -> RunWorker:
    """Make a worker whose processes prepare models in the settings' cache, and know no other setting."""
    known = {f"{ENV_PREFIX}CACHE": str(settings.cache.expanduser().absolute())}
    if settings.search.threads:
        known[f"{ENV_PREFIX}THREADS"] = str(settings.search.threads)
    return RunWorker(runs, environment=known)


@schedule_work("train", every=CHECK_SECONDS, rest=60.0, is_for_all=False)
async def train_waiting(kb: KnowledgeBase, worker: RunWorker | None = None) -> None:
    """Train what waits in this service's own folder. Cancelled, it stops what trains, which keeps a checkpoint."""
    worker = worker or make_worker(get_runs_folder(kb.home), kb.settings)
    try:
        while await asyncio.to_thread(worker.train_next) is not None:
            pass
    finally:
        await asyncio.to_thread(worker.end)


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


ProgressListener = Callable[[RunProgress], None]


def train_here(runs: Path, settings: Settings, run: str, on_progress: ProgressListener) -> RunProgress:
    """Train one run to its end, in a process of its own; an interrupt (Ctrl+C) stops it at its next step, resumably.

    Raises:
        NotFound: there is no such run.
    """
    return _follow_run(make_worker(runs, settings), RunFolder.find(runs, run), on_progress)


def train_all(runs: Path, settings: Settings, on_progress: ProgressListener, *, once: bool = False) -> None:
    """Train all waiting runs of a folder, for ever; `once`: until none waits. An interrupt makes the present one wait
    again.
    """
    worker = make_worker(runs, settings)
    while True:
        if (run := find_next_run(runs)) is not None:
            _follow_run(worker, run, on_progress, stop=False)
        elif once:
            return
        else:
            time.sleep(CHECK_SECONDS)


def _follow_run(worker: RunWorker, run: RunFolder, on_progress: ProgressListener, *, stop: bool = True) -> RunProgress:
    training = threading.Thread(target=worker.train, args=(run,))
    training.start()
    try:
        while training.is_alive():
            training.join(FOLLOW_SECONDS)
            on_progress(_describe_progress(run))
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
