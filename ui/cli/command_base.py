"""What all commands share: common options, opening the knowledge base, and printing.

Nothing heavy is imported here or in the command modules themselves: `argot --help` must be quick.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TextColumn

    from argot.service.transport.knowledge_base_client import Client
    from argot.settings import Settings

Home = Annotated[
    Path | None,
    typer.Option(
        "--home", help="The folder of the knowledge base (else the setting ARGOT_HOME, else ./kb).", metavar="DIR"
    ),
]
AsUser = Annotated[str | None, typer.Option("--as", help="See and do only what this user may.", metavar="USER")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Audience = Annotated[
    list[str] | None,
    typer.Option("--audience", help="A group that may read it, or @NAME; repeatable. None: everyone.", metavar="GROUP"),
]


def format_examples(*lines: str) -> str:
    """The end of a command's help. The backspace keeps the lines from being wrapped into one paragraph."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def settings_for(home: Path | None, **overrides: Any) -> Settings:
    """The settings in force for this command, with logging set up by them."""
    from argot.service.observability.logs import configure
    from argot.settings import load_settings

    settings = load_settings(home=home, **overrides)
    configure(settings)
    return settings


@contextmanager
def open_knowledge_base(home: Path | None, *, create: bool = False) -> Iterator[Client]:
    """The knowledge base, opened here or through the service that has it open. With `create`, a new one is made."""
    from argot.service.storage.home_folder import is_knowledge_base
    from argot.service.transport.knowledge_base_client import connect

    settings = settings_for(home)
    # Asked before it is opened, because opening makes it.
    new = create and not is_knowledge_base(settings.home)
    with connect(settings.home, settings, create=create) as client:
        if new:
            say_aside(f"Made a knowledge base in {settings.home}")
        yield client


def escape_text(text: object) -> str:
    """Text of documents and glossaries, safe to print: no control or bidirectional characters reach the terminal."""
    return "".join(
        # Cc: escape sequences; Cf: bidirectional and invisible characters; Cs: half characters, which cannot be
        # written.
        character if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs") else " "
        for character in str(text)
    )


def line(text: object) -> str:
    """The same on one line."""
    return " ".join(escape_text(text).split())


def format_count(number: int, one: str, many: str = "") -> str:
    """As in 1 term, 3 terms, 12,000 terms."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def say(text: object = "") -> None:
    """A line of the command's output."""
    typer.echo(escape_text(text))


def say_aside(text: object) -> None:
    """A line beside the output: on standard error, so that pipes get only what was asked for."""
    typer.echo(escape_text(text), err=True)


def say_json(value: Any) -> None:
    """JSON that reads the same and that no terminal obeys: invisible characters are escaped."""
    from argot.service.json_values import convert_to_json

    typer.echo(json.dumps(convert_to_json(value), ensure_ascii=False, indent=2).translate(_ESCAPES))


class _EscapeTable(dict[int, str]):
    """For `str.translate`: the JSON escapes of characters that act on a terminal or hide in a text."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        # Also Zl and Zp (U+2028, U+2029): JSON allows them in strings, and some readers end a line there.
        acts = character != "\n" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        # Kept, so that each character is looked at once, however long the output.
        self[code] = json.dumps(character)[1:-1] if acts else character
        return self[code]


_ESCAPES = _EscapeTable()


def print_table(headings: list[str], rows: list[list[object]]) -> None:
    """Columns, cut to the width of a terminal; in a pipe, values separated by tabs."""
    if not sys.stdout.isatty():
        for row in rows:
            # `line` has made blanks of tabs and line feeds within a cell.
            typer.echo("\t".join(line(cell) for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        # Folded, not cut: an id that lost its end could not be copied.
        shown.add_column(heading, overflow="fold")
    for row in rows:
        # As `Text`: Rich would read "[red]" in a cell as markup.
        shown.add_row(*(Text(line(cell)) for cell in row))
    Console(highlight=False).print(shown)


def make_text_column() -> TextColumn:
    """The column of a progress bar that names a file: literally, for `[red]` may be part of a name."""
    from rich.progress import TextColumn

    return TextColumn("{task.description}", markup=False)


def open_error_console() -> Console:
    """For progress and spinners: standard error, and only if a person is looking at it."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def format_audience(audience: Iterable[str]) -> str:
    return ", ".join(sorted(audience)) if audience else "everyone"


def parse_field_values(given: list[str]) -> dict[str, list[str]]:
    """`["region=EU"]` as values by the names of the fields.

    Raises:
        InvalidInput: one has no name or no value.
    """
    from argot.errors import InvalidInput

    found: dict[str, list[str]] = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise InvalidInput(f"'{text}' is no field with a value. Write both, e.g. region=EU.")
        found.setdefault(name.lower(), []).append(value)
    return found
