"""argot serve and argot metrics."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Annotated

import typer

from argot.errors import MissingExtra
from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    Home,
    format_examples,
    read_settings,
    say,
    say_aside,
)
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.settings import Settings
    from argot.ui.start_report import StartReport


def register(app: typer.Typer) -> None:
    app.command(
        epilog=format_examples(
            "argot serve", "argot serve --samples", "argot serve --port 8080", "argot serve --workers 2"
        )
    )(serve)
    UseCaseCommands(app)(
        "operations.monitoring.metrics", "argot metrics", "argot metrics > /var/lib/node_exporter/argot.prom"
    )(metrics)


def serve(
    host: Annotated[str | None, typer.Option(help="The address to serve on (127.0.0.1: this machine only).")] = None,
    port: Annotated[int | None, typer.Option(help="The port to serve on (8000); 0: any free one.")] = None,
    workers: Annotated[
        str | None, typer.Option(metavar="N", help="Processes that answer questions (0: this one; auto).")
    ] = None,
    samples: Annotated[bool, typer.Option("--samples", help="First add the sample documents and glossary.")] = False,
    home: Home = None,
) -> None:
    """Serve the chat window. While it runs, other commands go through this process."""
    from argot.ui.start_report import StartReport

    # Searched for without importing it, which takes seconds.
    if any(importlib.util.find_spec(module) is None for module in ("chainlit", "uvicorn", "fastapi")):
        raise MissingExtra("The chat window", "chat")
    settings = read_settings(home, host=host, port=port, workers=workers)
    with StartReport() as report:
        report.show("loading the program")
        # Before the service opens the knowledge base, which only one process may have open.
        if samples:
            add_samples(settings, report)
        from argot.ui.server import serve as serve_web

        serve_web(settings.home, settings, report)


def metrics(text: str, /) -> None:
    """Print the running service's metrics in Prometheus' text format. Also at /metrics, for administrators."""
    say(text.rstrip())


def add_samples(settings: Settings, report: StartReport) -> None:
    """Build the sample knowledge base. If it is complete, nothing is done."""
    from argot.service.operations.sample_base import build

    report.show("preparing the search model, once")

    def move(done: int, total: int, name: str) -> None:
        report.show(
            translate("adding the samples, %(done)s of %(total)s", done=done, total=total)
            if total
            else "adding the samples"
        )

    say_aside(
        translate(
            "Sample knowledge base in %(home)s: %(added)s",
            home=settings.home,
            added=build(settings.home, settings, move),
        )
    )
