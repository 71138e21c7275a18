"""Shows on the terminal how far a long command is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from argot.languages.catalogues import translate
from argot.ui.cli.command_base import line, make_text_column, open_error_console, say_aside

if TYPE_CHECKING:
    from rich.progress import Progress


PLAIN_SECONDS = 10.0
"""Seconds between two lines of progress where no terminal can show a bar."""


class Bar:
    """A progress bar that is moved by events with `done` and `total`; lines now and then where it is disabled."""

    def __init__(self, progress: Progress, label: str) -> None:
        self._progress = progress
        self._label = label
        self._task = progress.add_task(label, total=None)
        self._written = time.monotonic()

    def move(self, event: dict[str, Any]) -> None:
        name = line(event.get("name") or "")
        if event.get("kind") == "waiting":
            say_aside(translate("Waiting: %(resting)s", resting=line(event["detail"])))
        share = f", {line(event['detail'])}" if event.get("kind") == "progress" and event.get("detail") else ""
        # A longer name would push the bar off the line. A total of `None` is shown as unknown.
        step_text = f"{self._label} {name}"[: 60 - len(share)] + share
        self._progress.update(self._task, description=step_text, completed=event["done"], total=event["total"] or None)
        if self._progress.disable and time.monotonic() - self._written >= PLAIN_SECONDS:
            self._written = time.monotonic()
            say_aside(f"{step_text}: {event['done']}" + (f" / {event['total']}" if event["total"] else ""))


@contextmanager
def show_progress(
    label: str, *, elapsed: bool = False, left: bool = False
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show a progress bar, with the elapsed or the remaining time, and yield the function that moves it."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    times = [*([TimeElapsedColumn()] if elapsed else []), *([TimeRemainingColumn()] if left else [])]
    columns = (make_text_column(), BarColumn(), MofNCompleteColumn(), *times)
    console = open_error_console()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield Bar(progress, label).move
