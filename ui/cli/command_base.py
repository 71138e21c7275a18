"""The base of all commands: common options, opening the knowledge base, and printing.

Nothing heavy is imported here or in the command modules themselves: `argot --help` must be quick.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from argot.languages.catalogues import format_local_number, page_language, speak, translate, translate_number
from argot.languages.language_data import ENGLISH

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TextColumn

    from argot.service.transport.knowledge_base_client import Client
    from argot.settings import Settings

Home = Annotated[
    Path | None,
    typer.Option(
        "--home", help="The folder of the knowledge base (default: the setting ARGOT_HOME, else ./kb).", metavar="DIR"
    ),
]
AsUser = Annotated[str | None, typer.Option("--as", help="Act as this user, with their rights only.", metavar="USER")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Audience = Annotated[
    list[str] | None,
    typer.Option("--audience", help="A group that may read it, or @NAME; repeatable. None: everyone.", metavar="GROUP"),
]


Rows: TypeAlias = list[list[object]]
"""The rows of a table, each with its cells."""


def format_examples(*lines: str) -> str:
    """Format the examples at the end of a command's help. The backspace keeps the lines from being wrapped into one
    paragraph.
    """
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def read_settings(home: Path | None, **overrides: Any) -> Settings:
    """Load the settings for this command, and set up logging by them."""
    from argot.service.observability.logs import configure
    from argot.settings import load_settings

    settings = load_settings(home=home, **overrides)
    configure(settings)
    return settings


@contextmanager
def open_knowledge_base(home: Path | None, *, create: bool = False) -> Iterator[Client]:
    """Open the knowledge base, here or through the service that has it open. With `create`, make a new one."""
    from argot.service.storage.home_folder import is_knowledge_base, require

    settings = read_settings(home)
    if not (create or settings.storage.database or settings.home.expanduser().exists()):
        # Ahead of the imports below, which take longer than all the rest of such a command.
        require(settings.home.expanduser().absolute())
    from argot.service.transport.knowledge_base_client import connect

    # Checked before it is opened, because opening makes it.
    new = create and not is_knowledge_base(settings.home)
    with connect(settings.home, settings, create=create) as client:
        if new:
            say_aside(translate("Made a knowledge base in %(home)s", home=settings.home))
        yield client


def escape_text(text: object) -> str:
    """Make text of documents and glossaries safe to print: without control or bidirectional characters."""
    return "".join(
        # Cc: escape sequences; Cf: bidirectional and invisible characters; Cs: lone surrogates.
        character if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs") else " "
        for character in str(text)
    )


def line(text: object) -> str:
    """Do the same as `escape_text`, on one line."""
    return " ".join(escape_text(text).split())


def format_count(number: int, one: str, many: str = "") -> str:
    """Format a number with its noun in the language of the terminal: 1 term, 3 terms, 12,000 terms."""
    forms = f"%(number)s {one}", f"%(number)s {many or one + 's'}"
    return translate_number(*forms, number, number=format_local_number(number))


def say(text: object = "") -> None:
    """Print a line of the command's output."""
    typer.echo(escape_text(text))


def say_faintly(text: object) -> None:
    """Print a line of the output that matters less: faint on a terminal, plain in a pipe."""
    typer.secho(escape_text(text), dim=True)


def say_aside(text: object) -> None:
    """Print a line on standard error, so that a pipe gets only the output itself."""
    typer.echo(escape_text(text), err=True)


def say_json(value: Any) -> None:
    """Print JSON that no terminal obeys: invisible characters are escaped, and the value stays the same."""
    from argot.service.json_values import convert_to_json

    typer.echo(json.dumps(convert_to_json(value), ensure_ascii=False, indent=2).translate(_ESCAPES))


class _EscapeTable(dict[int, str]):
    """A table for `str.translate`: the JSON escapes of characters that act on a terminal or hide in a text."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        # Also Zl and Zp (U+2028, U+2029): JSON allows them in strings, but some readers end a line there.
        acts = character != "\n" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        # Stored, so that each character is looked up once, however long the output is.
        self[code] = json.dumps(character)[1:-1] if acts else character
        return self[code]


_ESCAPES = _EscapeTable()


def print_table(headings: list[str], make_rows: Callable[[], Rows] | Rows) -> None:
    """Print columns with headings in the language of the terminal, cut to its width; in a pipe, values separated by
    tabs. Their headings then go to standard error, so that scripts get rows alone.

    Args:
        make_rows: the rows, or, if they have words of Argot's, a function that makes them: in the language of the
            terminal, and in English for a script in a pipe.
    """
    headings = [translate(heading) for heading in headings]
    with speak(page_language.get() if sys.stdout.isatty() else ENGLISH):
        rows = make_rows() if callable(make_rows) else make_rows
    if not sys.stdout.isatty():
        if rows:
            say_aside("\t".join(headings))
        for row in rows:
            # `line` has replaced tabs and line feeds within a cell by blanks.
            typer.echo("\t".join(line(cell) for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        # Folded, not cut: an id without its end could not be copied.
        shown.add_column(heading, overflow="fold")
    for row in rows:
        # As `Text`: Rich would read "[red]" in a cell as markup.
        shown.add_row(*(Text(line(cell)) for cell in row))
    Console(highlight=False).print(shown)


def make_text_column() -> TextColumn:
    """Make a progress bar's column that shows a file name literally, for `[red]` may be part of a name."""
    from rich.progress import TextColumn

    return TextColumn("{task.description}", markup=False)


def open_error_console() -> Console:
    """Open a console for progress and spinners: standard error, if a person is watching it."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def describe_audience(audience: Iterable[str]) -> str:
    """Return who may read."""
    return ", ".join(sorted(audience)) if audience else translate("everyone")


def describe_progress(doing: str, done: int, total: int) -> str:
    """Return the present step, and how much of it is done, if that is known."""
    what = translate(doing)
    return translate("%(what)s, %(done)s of %(total)s", what=what, done=done, total=total) if total else what


def parse_field_values(values: list[str]) -> dict[str, list[str]]:
    """Parse `["region=EU"]` into values by the names of the fields.

    Raises:
        InvalidInput: a field has no name or no value.
    """
    from argot.errors import InvalidInput

    found: dict[str, list[str]] = {}
    for text in values:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise InvalidInput(
                translate("'%(text)s' is not a field with a value. Write both, e.g. region=EU.", text=text)
            )
        found.setdefault(name.lower(), []).append(value)
    return found
