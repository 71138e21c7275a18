"""argot glossary and argot context."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from argot.errors import InvalidInput
from argot.ui.cli_base import (
    AsUser,
    Audience,
    Home,
    Json,
    examples,
    knowledge_base,
    line,
    note,
    plain,
    say,
    say_json,
    table,
)

glossary = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Terms and what they mean in each context.")
context = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Teams or fields in which terms have a meaning."
)

File = Annotated[str, typer.Argument(help="A CSV file, or - for the standard stream.", metavar="FILE")]


def register(app: typer.Typer) -> None:
    app.add_typer(glossary, name="glossary")
    app.add_typer(context, name="context")


@glossary.command("import", epilog=examples("argot glossary import glossary.csv"))
def import_(file: File, home: Home = None) -> None:
    """Take in a CSV file, all of it or nothing.

    Columns: term,context,expansion,description,notes,aliases,owner (aliases separated by |). With a bad row nothing
    is changed, and row and column are named.
    """
    text = _read(file)
    with knowledge_base(home, create=True) as client:
        report = client.call("glossary_import", text=text, name="standard input" if file == "-" else Path(file).name)
    contexts = f", new contexts: {', '.join(map(line, report['contexts_added']))}" if report["contexts_added"] else ""
    say(f"{report['added']} added, {report['updated']} updated, {report['unchanged']} unchanged{contexts}")


@glossary.command(
    "export", epilog=examples("argot glossary export - > glossary.csv", "argot glossary export terms.csv")
)
def export(file: File = "-", as_user: AsUser = None, home: Home = None) -> None:
    """Write the glossary as CSV that can be imported again."""
    with knowledge_base(home) as client:
        text = client.call("glossary_export", as_user=as_user)
    if file == "-":
        # As typed, so that it can be imported again; but a terminal would obey what stands in it.
        typer.echo(plain(text) if sys.stdout.isatty() else text, nl=False, color=True)
        return
    try:
        Path(file).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}. Give another file.") from error
    note(f"Wrote {file}")


@glossary.command("list", epilog=examples("argot glossary list PUC", "argot glossary list --context Legal --json"))
def list_senses(
    query: Annotated[str | None, typer.Argument(help="Only terms, aliases or expansions with this in them.")] = None,
    in_context: Annotated[str | None, typer.Option("--context", help="Only the senses of this context.")] = None,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """List terms with their meanings."""
    with knowledge_base(home) as client:
        senses = client.call("glossary_list", as_user=as_user, query=query, context=in_context)
    if json_:
        say_json(senses)
        return
    rows = [[one["term"], one["context"], one["expansion"], ", ".join(one["aliases"])] for one in senses]
    table(["term", "context", "expansion", "aliases"], rows)
    note(
        f"{len(senses)} senses"
        if senses
        else "No such senses. Define one with: argot glossary add TERM CONTEXT EXPANSION"
    )


@glossary.command("add", epilog=examples('argot glossary add PUC "NAND Design" "Peripheral Under Cell" --alias P.U.C.'))
def add_sense(
    *,
    term: Annotated[str, typer.Argument(help="The term or abbreviation.")],
    of_context: Annotated[str, typer.Argument(help="The context it has this meaning in.", metavar="CONTEXT")],
    expansion: Annotated[str, typer.Argument(help="What it stands for.")],
    description: Annotated[str, typer.Option(help="What that is, in a sentence.")] = "",
    notes: Annotated[str, typer.Option(help="Anything else an asker should know.")] = "",
    alias: Annotated[list[str] | None, typer.Option("--alias", help="Another spelling; repeatable.")] = None,
    audience: Audience = None,
    home: Home = None,
) -> None:
    """Define what a term means in a context, or change it."""
    with knowledge_base(home) as client:
        sense = client.call(
            "glossary_add",
            term=term,
            context=of_context,
            expansion=expansion,
            description=description,
            notes=notes,
            aliases=alias or [],
            audience=audience,
        )
    say(f"{line(sense['term'])} ({line(sense['context'])}): {line(sense['expansion'])}")


@glossary.command("misses", epilog=examples("argot glossary misses", "argot glossary misses --json"))
def misses(json_: Json = False, as_user: AsUser = None, home: Home = None) -> None:
    """List terms that people asked for and nobody has defined."""
    with knowledge_base(home) as client:
        found = client.call("glossary_misses", as_user=as_user)
    if json_:
        say_json(found)
        return
    table(
        ["term", "times", "last", "question"],
        [[m["term"], m["count"], m["last"], _first(m["questions"])] for m in found],
    )
    note(f"{len(found)} terms nobody has defined")


@context.command("add", epilog=examples('argot context add "NAND Design" --contact nand-terms@example.org'))
def add_context(
    name: Annotated[str, typer.Argument(help="Its name.")],
    description: Annotated[str, typer.Option(help="What it is about; helps to recognise its questions.")] = "",
    contact: Annotated[str, typer.Option(help="Whom to ask about its terms.")] = "",
    audience: Audience = None,
    home: Home = None,
) -> None:
    """Make a context, or change what is known of one."""
    with knowledge_base(home, create=True) as client:
        made = client.call("context_add", name=name, description=description, contact=contact, audience=audience)
    say(f"Context {line(made['name'])}")


@context.command("list", epilog=examples("argot context list"))
def list_contexts(json_: Json = False, as_user: AsUser = None, home: Home = None) -> None:
    """List the contexts."""
    with knowledge_base(home) as client:
        found = client.call("context_list", as_user=as_user)
    if json_:
        say_json(found)
        return
    table(["context", "description", "contact"], [[one["name"], one["description"], one["contact"]] for one in found])


def _first(questions: list[str]) -> str:
    return questions[0] if questions else ""


def _read(file: str) -> str:
    """The text of a CSV file: UTF-8 with or without a byte order mark, or UTF-16 with one, as spreadsheets save it."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}. Nothing was imported.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{file} is not UTF-8 at byte {error.start}. Save it as UTF-8; nothing was imported."
        ) from error
