"""argot glossary import and export: the glossary as a file, with a preview of an import."""

from __future__ import annotations

import base64
import sys
from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from argot.errors import InvalidInput
from argot.files import NotAFile, read_bytes
from argot.languages.catalogues import format_local_number, translate, translate_number
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    escape_text,
    format_examples,
    line,
    open_knowledge_base,
    read_settings,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.progress_bar import show_progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from argot.errors import RowProblem
    from argot.service.transport.knowledge_base_client import Client
    from argot.service.usecases.glossary.files import ColumnUse, EverydayChoice, ImportReport, PreviewShown
    from argot.types import Sense

File = Annotated[str, typer.Argument(help="A file, or - for the standard stream.", metavar="FILE")]
Format = Annotated[
    str,
    typer.Option(
        "--format", help="csv, tsv, xlsx, tbx, json, turtle, rdfxml or jsonld; default: detected.", metavar="FORMAT"
    ),
]
_MAX_ROWS = 50
_MAX_NAMED = 10


class _File(TypedDict):
    """A file as use cases take it, with `data` in base64."""

    data: str
    name: str


class _UploadOptions(_File):
    """A file with defaults for values that it leaves open."""

    context: str
    language: str
    format: str
    columns: str
    everyday: EverydayChoice
    contexts: str


class Everyday(StrEnum):
    """The decisions about new terms that are everyday words."""

    draft = "draft"
    take = "take"
    leave = "leave"


def register(glossary: typer.Typer) -> None:
    glossary.command(
        "import",
        epilog=format_examples(
            "argot glossary import glossary.csv",
            'argot glossary import words.xlsx --map "Abbreviation=term,Meaning=expansion" --dry-run',
            "argot glossary import words.xlsx --partial --rest left-out.csv",
            "argot glossary import thesaurus.ttl --context NAND --language de --dry-run",
        ),
    )(import_)
    glossary.command(
        "export",
        epilog=format_examples(
            "argot glossary export - > glossary.csv",
            "argot glossary export terms.tsv",
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
    map_: Annotated[
        str, typer.Option("--map", help="What columns hold, where it is not recognised.", metavar="COLUMN=FIELD,...")
    ] = "",
    contexts: Annotated[
        str | None,
        typer.Option(help="A list of contexts; default: contexts.csv beside the file.", metavar="FILE"),
    ] = None,
    everyday: Annotated[
        Everyday, typer.Option(help="Whether new terms that are everyday words become drafts, are taken or left out.")
    ] = Everyday.draft,
    partial: Annotated[
        bool, typer.Option("--partial", help="Import what is right, and write the rest with a reason for each row.")
    ] = False,
    rest: Annotated[
        str, typer.Option(help="Where --partial writes the rest; default: NAME-rest.csv.", metavar="FILE")
    ] = "",
    why: Annotated[str, typer.Option(help="The reason, for the history.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    json_: Json = False,
    home: Home = None,
) -> None:
    """Import a list of terms: CSV, TSV, XLSX, TBX, JSON, or SKOS as Turtle, RDF/XML or JSON-LD.

    The columns of a table are recognised by name and content, and shown; --map corrects them, and is remembered for the
    file's name. Fields: term, abbreviation, expansion, description, context, aliases, notes, owner, status, source,
    example, language and others. Rows that say the same count once. One wrong row stops the whole import, and every
    wrong row is named; with --partial the right ones are imported.
    """
    from argot.service.usecases.glossary.files import glossary_preview

    listed = _find_contexts(file) if contexts is None else contexts
    options: _UploadOptions = {
        "context": in_context,
        "language": language,
        "format": format_,
        "columns": map_,
        "everyday": everyday.value,
        "contexts": _upload(listed, home)["data"] if listed else "",
        **_upload(file, home),
    }
    if listed:
        say_aside(translate("Contexts: %(names)s", names=line(listed)))
    # A dry run must not create a knowledge base.
    with open_knowledge_base(home, create=not dry_run) as client:
        if dry_run:
            _show_preview(client.call(glossary_preview, **options, limit=_MAX_ROWS), json_, partial=partial)
            return
        report = _import_file(client, options, why, partial=partial)
    if json_:
        say_json(report)
        return
    _say_columns(report.columns)
    _say_notices(report.notices)
    counts = {"added": report.added, "updated": report.updated, "unchanged": report.unchanged}
    parts = [translate("%(added)s added, %(updated)s updated, %(unchanged)s unchanged", **counts)]
    if report.contexts_added:
        parts.append(translate("new contexts: %(names)s", names=", ".join(map(line, report.contexts_added))))
    say(", ".join(parts))
    _say_ignored(report.ignored)
    if report.left_out:
        _write_rest(rest or f"{Path(file).stem if file != '-' else 'glossary'}-rest.csv", report)


def _find_contexts(file: str) -> str:
    """Return the list of contexts that lies beside a glossary; empty if there is none."""
    beside = Path(file).with_name("contexts.csv")
    return str(beside) if file != "-" and Path(file).name != beside.name and beside.is_file() else ""


def _import_file(client: Client, options: _UploadOptions, why: str, *, partial: bool) -> ImportReport:
    from argot.service.usecases.glossary.files import glossary_import_file

    with show_progress(translate("importing")) as move:
        return client.watch(move).call(glossary_import_file, **options, why=why, partial=partial)


def _write_rest(file: str, report: ImportReport) -> None:
    _write_file(file, report.rest.encode("utf-8-sig"))
    one = "%(number)s row left out, with a reason each: %(file)s"
    many = "%(number)s rows left out, with a reason each: %(file)s"
    say_aside(translate_number(one, many, report.left_out, file=line(file)))


def _write_file(file: str, data: bytes) -> None:
    try:
        Path(file).write_bytes(data)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}. Give another file.") from error


def _say_columns(columns: Sequence[ColumnUse]) -> None:
    """Show the field that each column was taken for, if it does not have its name."""
    if all(one.header == one.field for one in columns):
        return
    assignments = [f"{line(one.header)} = {one.field}" for one in columns if one.field != "-"]
    unused = [line(one.header) for one in columns if one.field == "-"]
    more = "; " + translate("left out: %(names)s", names=", ".join(unused[:_MAX_NAMED])) if unused else ""
    shown = "Columns: %(columns)s. Correct them with --map COLUMN=FIELD."
    say_aside(translate(shown, columns=f"{', '.join(assignments)}{more}"))


def _say_notices(notices: Sequence[RowProblem]) -> None:
    for notice in notices[:_MAX_NAMED]:
        say_aside(_describe_problem(notice.place, notice.message))
    if len(notices) > _MAX_NAMED:
        say_aside(translate("and %(number)s more notices", number=len(notices) - _MAX_NAMED))


def _describe_problem(place: str, message: str) -> str:
    from argot.service.usecases.glossary.import_texts import translate_place, translate_reason

    reason = line(translate_reason(message))
    return f"{line(translate_place(place))}: {reason}" if place else reason


def export(file: File = "-", format_: Format = "", as_user: AsUser = None, home: Home = None) -> None:
    """Write the glossary as a file that can be imported again. Without --format, the file's name sets the format.

    Every format holds everything that the glossary has.
    """
    from argot.service.usecases.glossary.files import (
        choose_written_format,
        decode_export,
        find_format,
        glossary_export_file,
    )

    wanted = format_ or choose_written_format(file)
    with open_knowledge_base(home) as client:
        text = client.as_user(as_user).call(glossary_export_file, format=wanted)
    if file == "-" and find_format(wanted).is_binary:
        if sys.stdout.isatty():
            raise InvalidInput("A workbook cannot be shown. Give a file: argot glossary export glossary.xlsx")
        sys.stdout.buffer.write(decode_export(text, wanted))
        return
    if file == "-":
        # Unchanged, so that it can be imported again; but a terminal would obey escape sequences in it.
        # `color=True`: otherwise escape sequences would be removed from the texts in a pipe.
        typer.echo(escape_text(text) if sys.stdout.isatty() else text, nl=False, color=True)
        return
    # As bytes: CSV has its own line ends, which Windows would double.
    _write_file(file, decode_export(text, wanted))
    say_aside(translate("Wrote %(file)s", file=file))


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
        template = "%(file)s is %(what)s. Give a file, or - for the standard stream."
        raise InvalidInput(translate(template, file=file, what=translate(str(error.strerror)))) from error
    except OSError as error:
        template = "%(file)s cannot be read: %(reason)s. Nothing was imported."
        raise InvalidInput(translate(template, file=file, reason=translate(str(error.strerror)))) from error
    return {"data": base64.b64encode(data).decode(), "name": "standard input" if file == "-" else Path(file).name}


def _show_preview(found: PreviewShown, json_: bool, *, partial: bool) -> None:
    """Show the changes that the import would make, or every problem.

    Raises:
        InvalidInput: nothing would be imported.
    """
    counts = found.counts
    if json_:
        say_json(found)
    else:
        _say_columns(found.columns)
        _say_notices([replace(one, row=0, column="") for one in found.notices])
        if found.everyday:
            more = translate(" and %(number)s more", number=found.everyday_count - len(found.everyday))
            names = ", ".join(map(line, found.everyday)) + (more if found.everyday_count > len(found.everyday) else "")
            say_aside(
                translate(
                    "Everyday words among the terms: %(names)s. They become drafts unless you decide "
                    "with --everyday take or leave.",
                    names=names,
                )
            )
        for one in found.added:
            say(f"+ {_describe_sense(one)}")
        _say_more(counts.added - len(found.added), translate("that would be added"))
        for update in found.updated:
            say(f"~ {_describe_sense(update.after)}")
            for name in (one.name for one in fields(update.after)):
                before, after = getattr(update.before, name), getattr(update.after, name)
                if after != before:
                    say(f"    {name}: {_format_value(before)} -> {_format_value(after)}")
        _say_more(counts.updated - len(found.updated), translate("that would be updated"))
        for problem in found.problems:
            say(f"! {_describe_problem(problem.where, problem.message)}")
        _say_ignored(found.ignored)
        _say_more(counts.problems - len(found.problems), translate("problems"))
        _say_named(translate("Drafts among the added"), found.drafts, found.drafts_count)
        _say_named(translate("Several meanings in the same context"), found.conflicting, found.conflicting_count)
        wording = (
            "With --partial, %(added)s would be added, %(updated)s updated, %(unchanged)s unchanged"
            if counts.problems and not partial
            else "%(added)s would be added, %(updated)s updated, %(unchanged)s unchanged"
        )
        counts_by_name = {"added": counts.added, "updated": counts.updated, "unchanged": counts.unchanged}
        say_aside(translate(wording, **counts_by_name))
    # Raised last, so that every problem is shown; it makes the exit code 1 even with --json.
    if counts.problems and not partial:
        raise InvalidInput(
            f"Without --partial, nothing would be imported (problems: {counts.problems:,}). With it, what is right is"
            " imported, and a file has the other rows with a reason each, those that say nothing included (rows: "
            f"{found.left_out:,})."
        )


def _say_more(more: int, what: str) -> None:
    if more > 0:
        say_aside(translate("and %(more)s more %(what)s", more=format_local_number(more), what=what))


def _say_named(what: str, names: Sequence[str], count: int) -> None:
    """Show how many terms these are, and the first of them."""
    if count:
        shown = names[:_MAX_NAMED]
        more = (
            translate(" and %(number)s more", number=format_local_number(count - len(shown)))
            if count > len(shown)
            else ""
        )
        say_aside(f"{what}: {count:,}: {', '.join(map(line, shown))}{more}")


def _describe_sense(sense: Sense) -> str:
    return f"{line(sense.term)} ({line(sense.context)}): {line(sense.expansion or sense.description)}"


def _format_value(value: Any) -> str:
    parts = value if isinstance(value, tuple) else sorted(value) if isinstance(value, frozenset) else [value or ""]
    text = line(", ".join(map(_format_part, parts)))
    return f"'{text if len(text) <= 100 else text[:100] + '...'}'"


def _format_part(part: Any) -> str:
    from argot.types import Label, Relation
    from argot.ui.rendering.label_lines import format_label, format_relation

    if isinstance(part, Label):
        return format_label(part)
    return format_relation(part) if isinstance(part, Relation) else str(part)


def _say_ignored(ignored: Mapping[str, int]) -> None:
    if ignored:
        say_aside(
            translate(
                "Left out, because a glossary has no field for it: %(names)s",
                names=", ".join(f"{line(k)} ({n})" for k, n in ignored.items()),
            )
        )
