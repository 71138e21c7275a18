"""argot move: copy a knowledge base to PostgreSQL, to a folder, or back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argot.errors import InvalidInput
from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    Home,
    Json,
    format_count,
    format_examples,
    make_text_column,
    open_error_console,
    read_settings,
    say,
    say_json,
)

if TYPE_CHECKING:
    from argot.service.moving.base_moving import MoveOutcome, Progress
    from argot.settings import Settings

_POSTGRESQL = ("postgresql://", "postgres://")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{2,}:|(?:host|hostaddr|port|dbname|user|password|service|sslmode)\s*=", re.IGNORECASE
)
"""The beginning of an address or of PostgreSQL's keywords, and not of a folder. A drive's letter is shorter."""


def register(app: typer.Typer) -> None:
    app.command(
        epilog=format_examples("argot move --to postgresql://argot@db.internal/argot", "argot move --to ./kb-again")
    )(move)


def move(  # noqa: PLR0917
    to: Annotated[
        str,
        typer.Option(
            "--to", help="Where to: postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or a new folder.", metavar="TARGET"
        ),
    ],
    schema: Annotated[
        str | None,
        typer.Option("--schema", help="The schema on PostgreSQL (else ARGOT_STORE_SCHEMA).", metavar="NAME"),
    ] = None,
    chroma: Annotated[
        str | None,
        typer.Option(
            "--chroma",
            help="The Chroma server for the vectors (else ARGOT_CHROMA_URL); '': none, they lie in the folder.",
            metavar="URL",
        ),
    ] = None,
    reindex: Annotated[
        bool, typer.Option("--reindex", help="Do not copy the vectors; rebuild them at the target.")
    ] = False,
    json_: Json = False,
    home: Home = None,
) -> None:
    """Copy the whole knowledge base to another place. The settings name the source, which stays as it is.

    Ids stay the same, and every row is compared afterwards. A move that was cut off continues with the same command;
    until it is complete, nothing opens the target. Stop every process of Argot on the knowledge base first.
    """
    from argot.service.moving.base_moving import move_base

    settings = read_settings(home)
    target = _choose_target(to, schema, chroma, settings)
    source = (settings.home.expanduser().absolute(), settings)
    with _show_progress() as progress:
        moved = move_base(source, target, with_vectors=not reindex, progress=progress)
    if json_:
        say_json(moved)
    else:
        _print_summary(moved, target[1])
    if reindex:
        _rebuild_index(*target)


def _choose_target(to: str, schema: str | None, chroma: str | None, settings: Settings) -> tuple[Path, Settings]:
    """Choose the folder and the settings of the target.

    Raises:
        InvalidInput
    """
    server = settings.storage.chroma_url if chroma is None else chroma
    changed = {"store": "", "chroma_url": server}
    if to.startswith(_POSTGRESQL):
        if settings.storage.database and not server:
            raise InvalidInput(
                "From one PostgreSQL to another, the vectors go to a Chroma server: give its address with --chroma."
            )
        changed |= {"store": to, "store_schema": schema or settings.storage.schema_name}
        return settings.home.expanduser().absolute(), settings.replace(**changed)
    if not to or _ADDRESS.match(to):
        # The text behind it may hold a password.
        kind = re.split("[:=]", to)[0]
        raise InvalidInput(
            f"'{kind}' is not a place to move to. Give postgresql://USER:PASSWORD@HOST/DATABASE or a folder."
        )
    if schema:
        raise InvalidInput(f"A folder has no schema: leave out --schema {schema}, or give postgresql://... with --to.")
    folder = Path(to).expanduser().absolute()
    return folder, settings.replace(**changed, home=folder)


@contextmanager
def _show_progress() -> Iterator[Progress]:
    """Show a bar with the number of rows done, the total, and the remaining time."""
    from rich import progress as rich

    console = open_error_console()
    columns = (make_text_column(), rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeRemainingColumn())
    with rich.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(translate("moving"), total=None)

        def show(done: int, total: int, what: str) -> None:
            progress.update(bar, description=what[:40], completed=done, total=total)

        yield show


def _print_summary(moved: MoveOutcome, target: Settings) -> None:
    say(
        translate(
            "Moved %(rows)s of %(tables)s tables, %(originals)s, %(files)s and %(vectors)s from "
            "%(source)s to %(target)s. Each table has the same rows in both, byte for byte.",
            rows=format_count(moved.rows, "row"),
            tables=len(moved.tables),
            originals=format_count(moved.originals, "original"),
            files=format_count(moved.files, "small file"),
            vectors=format_count(moved.vectors or 0, "vector"),
            source=moved.source,
            target=moved.target,
        )
    )
    if target.storage.database:
        say(
            translate(
                "From now on set ARGOT_STORE to what you gave with --to, and ARGOT_STORE_SCHEMA=%(schema_name)s.",
                schema_name=target.storage.schema_name,
            )
        )
    else:
        say(translate("From now on leave ARGOT_STORE empty, and give --home %(target)s.", target=moved.target))
    if target.storage.chroma_url:
        say(translate("Its vectors are on the Chroma server: ARGOT_CHROMA_URL has to name it."))
    say(translate("%(source)s is unchanged. Remove it once you no longer need it.", source=moved.source))


def _rebuild_index(home: Path, settings: Settings) -> None:
    from argot.service.transport.knowledge_base_client import connect
    from argot.service.usecases.documents.documents import reindex

    with connect(home, settings) as client:
        say(translate("Indexed %(passages)s.", passages=format_count(client.call(reindex).passages, "passage")))
