"""argot terms check: texts checked against the glossary, for their authors and for continuous integration."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from argot.errors import InvalidInput
from argot.files import NotAFile, read_bytes
from argot.languages.catalogues import format_local_number, translate
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    format_count,
    format_examples,
    line,
    open_knowledge_base,
    read_settings,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.term_commands import terms

if TYPE_CHECKING:
    from argot.service.usecases.glossary.text_checks import TextCheck, TextFinding

Format = Literal["text", "json", "sarif"]
FailOn = Literal["error", "warning", "note", "never"]
_RANKS = ("note", "warning", "error", "never")


def register(_: typer.Typer) -> None:
    terms.command(
        "check",
        epilog=format_examples(
            "argot terms check manual.md",
            "argot terms check docs/*.md --context 'NAND design' --fail-on error",
            "argot terms check docs/*.md report.pdf --format sarif > terms.sarif",
            "git show HEAD:README.md | argot terms check - --name README.md",
        ),
    )(check)


def check(
    *,
    files: Annotated[
        list[str],
        typer.Argument(help="Texts in any format that Argot reads, or - for one from a pipe.", metavar="FILE..."),
    ],
    context: Annotated[
        list[str] | None, typer.Option("--context", help="Only the meanings of this context; repeatable.")
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="text, json or sarif (SARIF 2.1.0).")] = "text",
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="The lowest level of a finding that gives exit code 1.")
    ] = "warning",
    name: Annotated[str, typer.Option("--name", help="The file name of the text from a pipe.")] = "text.md",
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Check the terms of texts: names that the glossary forbids or deprecates, abbreviations that nothing explains or
    that are explained too late, and terms in several spellings. Nothing is stored.

    Exit code 1: there is a finding of the level --fail-on or above, or a file could not be checked.
    """
    from argot.service.usecases.glossary.text_checks import terms_check

    checks: dict[str, TextCheck] = {}
    failures: dict[str, str] = {}
    most = int(read_settings(home).limits.max_file_mb * 1_000_000) + 1
    with open_knowledge_base(home) as client:
        asking = client.as_user(as_user)
        for file in dict.fromkeys(files):
            path = name if file == "-" else file
            try:
                data = _read_file(file, most)
                checks[path] = asking.call(terms_check, name=path, data=data, contexts=context)
            except InvalidInput as error:
                failures[path] = str(error)
            if format_ == "text" and path in checks:
                _show(path, checks[path])
    for why in failures.values():
        say_aside(f"argot: {why}")
    _show_whole(format_, checks, failures)
    found = [one for check in checks.values() for one in check.findings]
    if failures or any(_RANKS.index(one.level) >= _RANKS.index(fail_on) for one in found):
        raise typer.Exit(1)


def _read_file(file: str, most: int) -> bytes:
    """
    Raises:
        InvalidInput: it is no file, or cannot be read.
    """
    try:
        return sys.stdin.buffer.read(most) if file == "-" else read_bytes(Path(file), most)
    except NotAFile as error:
        raise InvalidInput(f"{file} is {error.strerror}. Give files, such as {file}/*.md.") from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}.") from error


def _show(path: str, found: TextCheck) -> None:
    for one in found.findings:
        say(f"{line(path)}:{_format_place(one)} {one.level}: {line(one.reason)} {line(one.remedy)} [{one.kind}]")
    if found.left_out:
        say_aside(
            translate("%(path)s: %(left_out)s more", path=line(path), left_out=format_local_number(found.left_out))
        )


def _format_place(one: TextFinding) -> str:
    """Format the place as compilers do, "12:5:"; without lines by page and words."""
    if one.line is not None:
        return f"{one.line}:{one.column}:"
    where = f"{one.page_kind or 'page'} {one.page}, " if one.page else ""
    return f" {where}“{line(one.before[-40:] + one.text)}”:"


def _show_whole(format_: Format, checks: dict[str, TextCheck], failures: dict[str, str]) -> None:
    if format_ == "json":
        say_json({"files": checks, "failures": failures})
    elif format_ == "sarif":
        from argot.ui.rendering.sarif import build_sarif

        # Escaped by JSON itself: text of documents may hold what a terminal obeys.
        typer.echo(json.dumps(build_sarif(checks, failures), indent=2))
    else:
        count = sum(len(one.findings) + one.left_out for one in checks.values())
        say_aside(
            translate(
                "%(count)s in %(checks)s",
                count=format_count(count, "finding"),
                checks=format_count(len(checks), "text"),
            )
        )
