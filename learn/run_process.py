"""The process that trains one run folder, behind everything else on the machine:

    python -m argot.learn.run_process FOLDER

It needs only the folder. SIGTERM, or a file `stop` in the folder, has it keep a checkpoint and end.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from argot.errors import ArgotError, Conflict
from argot.learn.run_folder import RunFolder, RunKind, RunState, RunStatus
from argot.learn.training_loop import TrainingStopped

logger = logging.getLogger(__name__)

MODULES: Mapping[RunKind, str] = {
    "embedder": "argot.learn.embedder.embedder_run",
    "reranker": "argot.learn.reranker.reranker_run",
    "generator": "argot.learn.generator.generator_run",
}
"""Each has a function `train(run: RunFolder, report: Reporter) -> None`, which leaves model and card."""
NICE = 10
NOTE_SECONDS = 1.0


class Reporter:
    """The reporter of a training's progress, into its folder."""

    def __init__(self, run: RunFolder) -> None:
        self.run = run
        self.state = RunState(status="running")
        self._stop = False
        self._started_by = os.getppid()
        self._began, self._first = time.monotonic(), 0
        self._noted = 0.0

    def doing(self, what: str) -> None:
        """Report the stage in words: "mining negatives", "measuring before"."""
        self.state = RunState(status="running", doing=what)
        self._began, self._first = time.monotonic(), -1
        self._note()

    def step(self, step: int, steps: int, losses: Mapping[str, float] | None = None) -> None:
        """Report how far the stage is. Points of a curve are stored if there are losses."""
        if self._first < 0:
            self._first = step - 1
        pace = (time.monotonic() - self._began) / max(1, step - self._first)
        self.state = replace(self.state, step=step, steps=steps, seconds_left=round(pace * (steps - step), 1))
        if losses:
            self.run.log(step, losses)
        if step == steps or time.monotonic() - self._noted > NOTE_SECONDS:
            self._note()

    def stop_asked(self) -> bool:
        return self._stop or self.run.stop_asked or self.is_orphan

    @property
    def is_orphan(self) -> bool:
        """True where the process that started this one is gone: the next worker must find the run waiting."""
        return os.getppid() != self._started_by

    def stop(self, *_: object) -> None:
        self._stop = True

    def _note(self) -> None:
        self._noted = time.monotonic()
        self.run.note(self.state)


def run_training(run: RunFolder) -> RunState:
    """Train a run to its end, or until a stop; return its state.

    Raises:
        Conflict: another process trains it, or it is done.
    """
    with run.hold():
        if run.state.status == "done":
            raise Conflict(f"Training {run.id} is done.")
        report = Reporter(run)
        signal.signal(signal.SIGTERM, report.stop)
        report.doing("starting")
        try:
            _import_module(run.request.kind).train(run, report)
            state = RunState(status="done", step=report.state.steps, steps=report.state.steps)
        except TrainingStopped:
            status: RunStatus = "waiting" if report.is_orphan and not run.stop_asked else "stopped"
            state = replace(report.state, status=status, doing="", seconds_left=None)
        # Any error is reported to the viewers of the run; the checkpoint is in the folder.
        except Exception as error:
            if not isinstance(error, ArgotError):
                logger.exception("training %s failed", run.id)
            state = replace(report.state, status="failed", seconds_left=None, error=_describe_error(error))
        run.note(state)
        return state


def _import_module(kind: RunKind) -> Any:
    return importlib.import_module(MODULES[kind])


def _describe_error(error: Exception) -> str:
    if isinstance(error, ArgotError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f': {error.filename}' if error.filename else ''}. Resume it when that is mended."
    reason = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {reason}"


def main(arguments: Sequence[str] | None = None) -> int:
    (folder,) = sys.argv[1:] if arguments is None else arguments
    os.nice(NICE)
    # Progress bars of libraries are noise in a log, and hide the training's own progress.
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    return 0 if run_training(RunFolder(Path(folder))).status != "failed" else 1


if __name__ == "__main__":
    sys.exit(main())
