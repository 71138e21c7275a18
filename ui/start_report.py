"""Report, on standard error, of the steps of a starting service: the first stage at once, then the stage every few
seconds until it is open.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from typing import Self, TextIO

from argot.languages.catalogues import translate

INTERVAL_SECONDS = 5.0
STAGES = (
    "loading the program",
    "preparing the search model, once",
    "adding the samples",
    "opening the knowledge base",
    "loading the models",
    "building the pages",
)
"""The stages of a start, as they are named where they begin."""


class StartReport:
    """A context manager that repeats the current stage of a start until `end`, from a thread of its own: stages hold
    the main thread for seconds.
    """

    def __init__(self, stream: TextIO | None = None, *, interval: float = INTERVAL_SECONDS) -> None:
        self._stream = stream or sys.stderr
        self._interval = interval
        self._began = time.monotonic()
        self._stage = ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="start-report", daemon=True)

    def show(self, stage: str) -> None:
        """Make this the current stage. The first one is printed at once, the others when their turn comes."""
        # In the language of the terminal, which the thread does not have.
        first, self._stage = not self._stage, translate(stage)
        if first:
            self._print(translate("Starting Argot: %(stage)s.", stage=self._stage))
            self._thread.start()

    def end(self) -> None:
        self._ended.set()

    def _repeat(self) -> None:
        while not self._ended.wait(self._interval):
            self._print(f"  {time.monotonic() - self._began:3.0f} s: {self._stage}")

    def _print(self, text: str) -> None:
        # A terminal that has gone away must not keep the service from starting.
        with suppress(OSError, ValueError):
            print(text, file=self._stream, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()
