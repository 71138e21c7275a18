"""Trains the waiting runs of a folder: one at a time, oldest first, each in a separate process of low priority.

Several workers, on several machines, may share a folder: a run is held by whichever process trains it.
"""

from __future__ import annotations

import logging
import signal
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from argot.learn.run_folder import RunFolder, RunState, list_run_folders
from argot.subprocesses import start_module

logger = logging.getLogger(__name__)

PROCESS = "argot.learn.run_process"
STOP_SECONDS = 60.0
"""From the stop request to the checkpoint: one step of the training, and writing its weights."""


def find_next_run(runs: Path) -> RunFolder | None:
    """Find the oldest run that waits, or that a crash interrupted: nobody stopped it, and nobody trains it."""
    return next(
        (run for run in reversed(list_run_folders(runs)) if run.state.status == "waiting" or run.is_cut_off), None
    )


class RunWorker:
    """Trains runs, one after the other.

    Args:
        environment: variables of the training's process beside ours, which has none of our settings.
    """

    def __init__(self, runs: Path, *, module: str = PROCESS, environment: Mapping[str, str] | None = None) -> None:
        self.runs = runs
        self._module = module
        self._environment = dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self._ended = False

    def train_next(self) -> RunFolder | None:
        """Train the next run to its end, or until it is stopped; None if there is none, or `end` was called."""
        run = None if self._ended else find_next_run(self.runs)
        if run is not None:
            self.train(run)
        return run

    def train(self, run: RunFolder) -> RunState:
        """Train this run, and return its state. If another process has locked it, nothing is done."""
        with self._starting:
            if self._ended:
                return run.state
            # A crash left it as running; viewers meanwhile see that it waits.
            if run.is_cut_off:
                run.note(replace(run.state, status="waiting", error=""))
            self._process = start_module(self._module, str(run.path), environment=self._environment)
        code = self._process.wait()
        return self._note_end(run, code)

    def end(self) -> None:
        """Stop the run at its next step, with a checkpoint. It then waits for the next worker, and resumes."""
        with self._starting:
            self._ended = True
            process = self._process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            # The steps since its last checkpoint are lost.
            process.kill()
            process.wait()

    def _note_end(self, run: RunFolder, code: int) -> RunState:
        """Note the end of a run's process in its state, where the process could not do so itself."""
        state, cut_off = run.state, run.is_cut_off
        if self._ended:
            if run.stop_asked or (state.status != "stopped" and not cut_off):
                return state
            state = replace(state, status="waiting", doing="", error="", seconds_left=None)
        elif (state.status == "waiting" and code and not run.is_held()) or cut_off:
            state = replace(state, status="failed", doing="", seconds_left=None, error=_explain_exit(code))
        else:
            return state
        run.note(state)
        return state


def _explain_exit(code: int) -> str:
    if code == -signal.SIGKILL:
        return "Its process was killed: most often there was too little memory. Resume it with a smaller batch."
    if code < 0:
        return f"Its process was ended by {signal.Signals(-code).name}. Resume it: it goes on from its checkpoint."
    return f"Its process could not train it (exit code {code}); the log of the service says why."
