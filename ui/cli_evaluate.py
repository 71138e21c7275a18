"""`argot evaluate`: the suites on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from argot.ui.cli_base import examples, settings_for

if TYPE_CHECKING:
    from argot.service.evaluation import Progress as Report

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure retrieval and answers on questions whose answers are known.",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")]
ProfileName = Annotated[str, typer.Option("--profile", help="The profile to measure.")]


class _Table(Protocol):
    @property
    def title(self) -> str: ...
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Sequence[Sequence[str]]: ...


@app.command(
    epilog=examples(
        "argot evaluate retrieval --beir data/scifact",
        "argot evaluate retrieval --beir data/jargonised --glossary data/jargonised/glossary.csv --json",
    )
)
def retrieval(
    beir: Annotated[Path, typer.Option("--beir", help="A folder with corpus.jsonl, queries.jsonl, qrels/test.tsv.")],
    glossary: Annotated[Path | None, typer.Option("--glossary", help="A glossary in Argot's CSV form.")] = None,
    profile: ProfileName = "default",
    as_json: AsJson = False,
) -> None:
    """How well documents are found; with a glossary, how much of what jargon costs it wins back.

    Without a glossary: nDCG@10 and hit@1/3/5/10 of the questions as they stand. With one: with it, without it (the
    floor) and, where the folder holds queries.plain.jsonl, of the untouched questions (the ceiling).
    """
    from argot.service import evaluation

    with _progress(quiet=as_json) as progress:
        report, tables = evaluation.retrieval(beir, glossary, profile, settings_for(None), progress)
    _print(report, tables, as_json=as_json)


@app.command(
    epilog=examples(
        "argot evaluate samples",
        'argot evaluate samples --split validation --way "everything on" --way "jargon off"',
    )
)
def samples(
    split: Annotated[str, typer.Option("--split", help="validation (for choosing) or test (for reporting).")] = "test",
    ways: Annotated[
        list[str] | None, typer.Option("--way", help="Only this way of running, e.g. 'everything on'; repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The sample knowledge base's own questions, with everything on and with each stage switched off in turn."""
    from argot.service import evaluation

    if split not in ("validation", "test"):
        raise typer.BadParameter(f"'{split}' is neither 'validation' nor 'test'", param_hint="--split")
    with _progress(quiet=as_json) as progress:
        report, tables = evaluation.samples(
            "test" if split == "test" else "validation", ways, settings_for(None), progress
        )
    _print(report, tables, as_json=as_json)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Report]:
    """A bar on standard error for each step of the work."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as bars:
        tasks: dict[str, TaskID] = {}

        def report(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield report


def _print(report: dict[str, Any], tables: Sequence[_Table], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(report, indent=2, ensure_ascii=False))
        return
    for table in tables:
        typer.echo(f"\n{table.title}\n")
        for line in _markdown(table):
            typer.echo(line)


def _markdown(table: _Table) -> Iterator[str]:
    """A pipe table, as wide as it has to be: a report is also for pasting."""
    rows = [list(table.columns), *(list(row) for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    yield lines[0]
    yield "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    yield from lines[1:]
