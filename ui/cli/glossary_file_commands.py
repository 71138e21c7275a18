"""argot glossary import and export: the glossary as a file, with a preview of an import."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from argot.errors import InvalidInput
from argot.files import NotAFile, read_bytes
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    escape_text,
    format_count,
    format_examples,
    line,
    open_knowledge_base,
    read_settings,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.document_commands import show_progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argot.service.transport.knowledge_base_client import Client
    from argot.service.usecases.glossary.files import ImportReport, PreviewShown
    from argot.types import Sense

File = Annotated[str, typer.Argument(help="A file, or - for the standard stream.", metavar="FILE")]
Format = Annotated[
    str,
    typer.Option("--format", help="csv, json, turtle, rdfxml or jsonld; default: detected.", metavar="FORMAT"),
]
_MAX_ROWS = 50


class _File(TypedDict):
    """A file as use cases take it, with `data` in base64."""

    data: str
    name: str


class _UploadOptions(_File):
    """A file with defaults for values that it leaves open."""

    context: str
    language: str
    format: str


def register(glossary: typer.Typer) -> None:
    glossary.command(
        "import",
        epilog=format_examples(
            "argot glossary import glossary.csv",
            "argot glossary import thesaurus.ttl --context NAND --language de --dry-run",
        ),
    )(import_)
    glossary.command(
        "export",
        epilog=format_examples(
            "argot glossary export - > glossary.csv",
            "argot glossary export terms.ttl",
            "argot glossary export --format json",
        ),
    )(export)


def import_(
    *,
    file: File,
    format_: Format = "",
    in_context: Annotated[
        str, typer.Option("--context", help="The context of terms for which the file names none.")
    ] = "",
    language: Annotated[str, typer.Option(help="The preferred language of a multilingual thesaurus.")] = "en",
    why: Annotated[str, typer.Option(help="The reason, for the history.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    json_: Json = False,
    home: Home = None,
) -> None:
    """Import a file, all of it or nothing: CSV, JSON, or SKOS as Turtle, RDF/XML or JSON-LD.

    CSV columns: term,context,expansion,description,notes,aliases,owner,status (aliases separated by |; status is draft,
    approved or retired). One bad row stops the whole import, and every bad row is named.
    """
    from argot.service.usecases.glossary.files import glossary_preview

    given: _UploadOptions = {"context": in_context, "language": language, "format": format_, **_upload(file, home)}
    # A dry run must not create a knowledge base.
    with open_knowledge_base(home, create=not dry_run) as client:
        if dry_run:
            _show_preview(client.call(glossary_preview, **given, limit=_MAX_ROWS), json_)
            return
        report = _import_file(client, given, why)
    if json_:
        say_json(report)
        return
    contexts = f", new contexts: {', '.join(map(line, report.contexts_added))}" if report.contexts_added else ""
    say(f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged{contexts}")
    _say_ignored(report.ignored)


def _import_file(client: Client, given: _UploadOptions, why: str) -> ImportReport:
    from argot.service.usecases.glossary.files import glossary_import_file

    with show_progress("importing") as move:
        return client.watch(move).call(glossary_import_file, **given, why=why)


def export(file: File = "-", format_: Format = "", as_user: AsUser = None, home: Home = None) -> None:
    """Write the glossary as a file that can be imported again. Without --format, the file's name sets the format.

    JSON holds everything. CSV leaves out audiences, review dates and the properties of contexts.
    """
    from argot.service.usecases.glossary.files import choose_written_format, glossary_export_file

    wanted = format_ or choose_written_format(file)
    with open_knowledge_base(home) as client:
        text = client.as_user(as_user).call(glossary_export_file, format=wanted)
    if file == "-":
        # Unchanged, so that it can be imported again; but a terminal would obey escape sequences in it.
        # `color=True`: otherwise escape sequences would be removed from the texts in a pipe.
        typer.echo(escape_text(text) if sys.stdout.isatty() else text, nl=False, color=True)
        return
    try:
        # `newline=""`: CSV has its own line ends, which Windows would double.
        Path(file).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}. Give another file.") from error
    say_aside(f"Wrote {file}")


def _upload(file: str, home: Path | None) -> _File:
    """Read the file in the form that a use case takes; of one that is too large, only the beginning.

    Raises:
        InvalidInput: the file cannot be read.
    """
    # One byte more than is allowed, so that the use case can tell that the file is too large.
    most = int(read_settings(home).limits.max_glossary_mb * 2**20) + 1
    try:
        data = sys.stdin.buffer.read(most) if file == "-" else read_bytes(Path(file), most)
    except NotAFile as error:
        raise InvalidInput(f"{file} is {error.strerror}. Give a file, or - for the standard stream.") from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}. Nothing was imported.") from error
    return {"data": base64.b64encode(data).decode(), "name": "standard input" if file == "-" else Path(file).name}


def _show_preview(found: PreviewShown, json_: bool) -> None:
    """Show the changes that the import would make, or every problem.

    Raises:
        InvalidInput: nothing would be imported.
    """
    from argot.service.json_values import convert_to_json

    counts = found.counts
    if json_:
        say_json(found)
    else:
        for one in found.added:
            say(f"+ {_describe_sense(one)}")
        for update in found.updated:
            say(f"~ {_describe_sense(update.after)}")
            before, after = convert_to_json(update.before), convert_to_json(update.after)
            for name in (name for name in after if after[name] != before[name]):
                say(f"    {name}: {_format_value(before[name])} -> {_format_value(after[name])}")
        for problem in found.problems:
            say(f"! {line(problem.where)}: {line(problem.message)}" if problem.where else f"! {line(problem.message)}")
        _say_ignored(found.ignored)
        say_aside(f"{counts.added} would be added, {counts.updated} updated, {counts.unchanged} unchanged")
    # Raised last, so that every problem is shown; it makes the exit code 1 even with --json.
    if counts.problems:
        raise InvalidInput(f"Nothing would be imported, for {format_count(counts.problems, 'reason')}.")


def _describe_sense(sense: Sense) -> str:
    return f"{line(sense.term)} ({line(sense.context)}): {line(sense.expansion)}"


def _format_value(value: Any) -> str:
    text = line(", ".join(value) if isinstance(value, list) else value or "")
    return f"'{text if len(text) <= 100 else text[:100] + '...'}'"


def _say_ignored(ignored: Mapping[str, int]) -> None:
    if ignored:
        say_aside(
            "Left out, because a glossary has no field for it: "
            + ", ".join(f"{line(k)} ({n})" for k, n in ignored.items())
        )
