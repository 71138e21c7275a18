"""The checks of a running service that need no command: side by side, each within a few seconds."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from argot.service.maintenance.findings import Finding, make_bad_finding
from argot.service.maintenance.process_checks import PROCESS_CHECKS
from argot.settings import Settings

WAIT_SECONDS = 6.0
"""The longest wait for a check: a server that hangs would take the limits of a call, which may be minutes."""
FRESH_SECONDS = 10.0
"""For this long a result is used again, so that reloading a page asks no server anything."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A check that was begun, and the settings and time (monotonic seconds) of its beginning."""

    found: Future[list[Finding]]
    settings: Settings
    began: float

    def is_usable(self, settings: Settings) -> bool:
        """Tell whether its result counts. A check that still waits for a server is not begun a second time."""
        fresh = not self.found.done() or time.monotonic() - self.began < FRESH_SECONDS
        return fresh and self.settings is settings


class RecentChecks:
    """The last run of each check in this process."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}

    async def find(self, settings: Settings) -> list[Finding]:
        """Return the findings, with one for each check that is not done in time."""
        for name, check in PROCESS_CHECKS.items():
            if name not in self._runs or not self._runs[name].is_usable(settings):
                self._runs[name] = _Run(_begin(check, settings), settings, time.monotonic())
        runs = {name: self._runs[name].found for name in PROCESS_CHECKS}
        await asyncio.wait([asyncio.wrap_future(found) for found in runs.values()], timeout=WAIT_SECONDS)
        return [finding for name, found in runs.items() for finding in _read(name, found)]


def _begin(check: Callable[[Settings], list[Finding]], settings: Settings) -> Future[list[Finding]]:
    found: Future[list[Finding]] = Future()

    def run() -> None:
        try:
            found.set_result(check(settings))
        # Every error is a finding: the other checks count all the same.
        except Exception as error:
            found.set_exception(error)

    # Neither one of the threads that answer questions, nor one that a stopping service waits for.
    threading.Thread(target=run, name="argot-check", daemon=True).start()
    return found


def _read(name: str, found: Future[list[Finding]]) -> list[Finding]:
    if not found.done():
        detail = f"no result within {WAIT_SECONDS:.0f} seconds: a server does not answer"
        return [make_bad_finding(name, detail, "argot doctor waits longer, and says which")]
    if error := found.exception():
        return [make_bad_finding(name, f"{type(error).__name__}: {error}", "argot doctor")]
    return found.result()
