"""The output of `argot evaluate`: a report as tables or as JSON, and its progress."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import typer

if TYPE_CHECKING:
    from argot.evaluate.usecases.evaluation import Progress as Report


# A protocol, because importing the actual classes would load all measuring code.
class _Table(Protocol):
    @property
    def title(self) -> str: ...
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Sequence[Sequence[str]]: ...


def show_report(measure: Callable[[Report], tuple[dict[str, Any], Sequence[_Table]]], *, as_json: bool) -> None:
    with _show_progress(quiet=as_json) as progress:
        report, tables = measure(progress)
    if as_json:
        typer.echo(json.dumps(report, indent=2, ensure_ascii=False))
        return
    for table in tables:
        typer.echo(f"\n{table.title}\n")
        for line in _format_markdown(table):
            typer.echo(line)


@contextmanager
def _show_progress(*, quiet: bool) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Progress goes to standard error, and is off with JSON, because the output may be written to a file.
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as bars:
        tasks: dict[str, TaskID] = {}

        def report(step: str, done: int, total: int) -> None:
            # The steps are not known beforehand: each gets its bar when it begins.
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield report


def _format_markdown(table: _Table) -> Iterator[str]:
    """Yield the lines of a Markdown table in its full width, so that the report can be pasted elsewhere."""
    rows = [list(table.columns), *(list(row) for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    # The cells are padded so that the table is readable in a terminal, too.
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    yield lines[0]
    yield "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    yield from lines[1:]
