"""argot documents: find, label and replace documents, their former revisions, and the removed documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from argot.errors import InvalidInput
from argot.languages.catalogues import format_local_number, translate
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    describe_audience,
    format_count,
    format_examples,
    line,
    open_knowledge_base,
    parse_field_values,
    print_table,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.document_commands import Document, resolve_reference
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.documents.dustbin import RemovedDocument
    from argot.service.usecases.documents.listing import NearDuplicate, State
    from argot.service.usecases.documents.passages import DocumentUse
    from argot.service.usecases.documents.revisions import Comparison, Revision
    from argot.service.usecases.documents.uploads import UploadReport
    from argot.types import Document as StoredDocument

documents = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Find, label and replace documents; bring removed ones back."
)
document_command = UseCaseCommands(documents)

REMOVED_HELP = "Its id, name or URI (see `argot documents removed`)."
Removed = Annotated[str, typer.Argument(help=REMOVED_HELP, metavar="DOCUMENT")]
RevisionId = Annotated[str, typer.Argument(help="Its id (see `argot documents revisions`).", metavar="REVISION")]


def register(app: typer.Typer) -> None:
    app.add_typer(documents, name="documents")


@documents.command(
    epilog=format_examples(
        "argot documents find plan", "argot documents find --tag policy --json", "argot documents find --incomplete"
    )
)
def find(
    text: Annotated[str, typer.Argument(help="Words of its name, title or address.", metavar="[TEXT]")] = "",
    *,
    tag: Annotated[str, typer.Option("--tag", help="Only those with this tag.", metavar="TAG")] = "",
    audience: Annotated[
        str, typer.Option("--audience", help="Only those for this group, @NAME, or 'everyone'.", metavar="GROUP")
    ] = "",
    incomplete: Annotated[
        bool, typer.Option("--incomplete", help="Only those with parts that could not be read.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of rows.", metavar="N")] = 50,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Find documents by their names, titles, tags and readers."""
    from argot.service.usecases.documents.listing import DocumentFilter, document_find

    state: State | None = "incomplete" if incomplete else None
    wanted = DocumentFilter(text=text, tag=tag, audience=audience, state=state)
    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(document_find, wanted=wanted, limit=limit)
    if json_:
        say_json(found)
        return
    print_table(["id", "name", "title", "tags", "audience", "added"], lambda: [*map(_make_found_row, found.documents)])
    for one in found.documents:
        if one.warnings:
            say_aside(f"{line(one.name)}: {line('; '.join(one.warnings))}")
    say_aside(
        translate(
            "%(found)s of %(total)s",
            found=format_local_number(found.found),
            total=format_count(found.total, "document"),
        )
    )


@documents.command(
    epilog=format_examples(
        "argot documents label plan.pdf --tag policy --audience hr",
        "argot documents label plan.pdf --everyone",
        "argot documents label plan.pdf --field region=EU --field status=draft",
    )
)
def label(
    document: Document,
    *,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="A tag that replaces the present ones; repeatable.", metavar="TAG")
    ] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Remove all its tags.")] = False,
    audience: Annotated[
        list[str] | None,
        typer.Option("--audience", help="A group or @NAME that replaces its readers; repeatable.", metavar="GROUP"),
    ] = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="Everyone may read it.")] = False,
    field: Annotated[
        list[str] | None,
        typer.Option("--field", help="A field that replaces those given before; repeatable.", metavar="NAME=VALUE"),
    ] = None,
    no_fields: Annotated[bool, typer.Option("--no-fields", help="Remove the fields that were given.")] = False,
    home: Home = None,
) -> None:
    """Change the tags, readers and fields of a document. Options that are left out change nothing."""
    from argot.service.usecases.documents.revisions import document_label

    if (no_tags and tag) or (everyone and audience) or (no_fields and field):
        raise InvalidInput(
            "Give either --tag or --no-tags, either --audience or --everyone, and either --field or --no-fields."
        )
    fields = {} if no_fields else parse_field_values(field) if field else None
    tags = [] if no_tags else tag or None
    readers = [] if everyone else audience or None
    with open_knowledge_base(home) as client:
        found = client.call(document_label, document=document, tags=tags, audience=readers, fields=fields)
    field_text = "".join(f", {line(one.name)} {line(one.value)}" for one in found.fields)
    tags_text = ", ".join(map(line, found.tags)) or "none"
    say(
        translate(
            "%(name)s: tags %(tags_text)s, for %(audience)s%(said)s.",
            name=line(found.name),
            tags_text=tags_text,
            audience=describe_audience(found.audience),
            said=field_text,
        )
    )
    for notice in found.notices:
        say_aside(line(notice))


@documents.command(
    epilog=format_examples(
        "argot documents change tag --value policy plan.pdf rules.pdf",
        "argot documents change audience --value hr plan.pdf rules.pdf",
        "argot documents change remove old-1.pdf old-2.pdf",
    )
)
def change(
    what: Annotated[str, typer.Argument(help="tag, untag, audience, reread or remove.", metavar="CHANGE")],
    several: Annotated[list[str], typer.Argument(help="Ids, names or URIs (see `argot list`).", metavar="DOCUMENTS")],
    *,
    value: Annotated[
        list[str] | None,
        typer.Option("--value", help="A tag, or a group or @NAME; repeatable. No readers: everyone.", metavar="VALUE"),
    ] = None,
    json_: Json = False,
    home: Home = None,
) -> None:
    """Make the same change to several documents. Failures are named, and the others go on; the exit code is then 1."""
    from argot.service.usecases.documents.bulk_changes import Change, document_change
    from argot.service.usecases.usecase_registry import find_choice

    chosen = find_choice(get_args(Change), what, "CHANGE")
    with open_knowledge_base(home) as client:
        done = client.call(
            document_change, documents=list(map(resolve_reference, several)), change=chosen, values=value
        )
    if json_:
        say_json(done)
    else:
        for problem in done.problems:
            say_aside(
                translate(
                    "failed: %(document)s: %(detail)s", document=line(problem.document), detail=line(problem.detail)
                )
            )
        say(f"{chosen}: {format_count(done.done, 'document')}")
        for notice in done.notices:
            say_aside(line(notice))
    if done.problems:
        raise typer.Exit(1)


def _make_found_row(one: StoredDocument) -> list[object]:
    readers = describe_audience(one.audience)
    return [one.id, one.listed_name, one.title, ", ".join(one.all_tags), readers, one.added_at[:10]]


@document_command("documents.passages.document_use", "argot documents use handbook.pdf", json=True)
def use(found: DocumentUse, /, document: Document) -> None:
    """Count the answers that cited a document, and list the questions that their askers shared."""
    last = translate(", the last on %(day)s", day=found.last) if found.last else ""
    answers = format_count(found.answers, "answer")
    say(
        translate(
            "%(name)s: %(answers)s, %(lately)s in the last 30 days%(last)s",
            name=line(found.document.name),
            answers=answers,
            lately=found.lately,
            last=last,
        )
    )
    for question in found.questions:
        say(f"  {line(question)}")


@UseCaseCommands(documents, as_user=True)(
    "documents.listing.document_near", "argot documents near", "argot documents near plan.pdf --json", json=True
)
def near(
    found: list[NearDuplicate],
    /,
    document: Annotated[
        str,
        typer.Argument(
            help="Its id, name or URI; default: all documents.", metavar="[DOCUMENT]", callback=resolve_reference
        ),
    ] = "",
) -> None:
    """List the documents that are nearly the same as another."""
    print_table(
        ["alike", "document", "and"], [[f"{one.likeness:.0%}", one.document.uri, one.other.uri] for one in found]
    )
    say_aside(format_count(len(found), "pair"))


@document_command("documents.revisions.document_reread", "argot documents reread scan.pdf")
def reread(report: UploadReport, /, document: Document) -> None:
    """Read a document again from its stored original, with this version of Argot.

    Texts that a language model derived from it are lost; `argot derive` makes them again.
    """
    _say_report(report)


@documents.command(epilog=format_examples("argot documents replace plan.pdf new/plan-2027.pdf"))
def replace(
    document: Document,
    file: Annotated[Path, typer.Argument(help="A file of the same format.", metavar="FILE")],
    home: Home = None,
) -> None:
    """Put in a new revision of a document. The former one is no longer used in answers, and can be brought back."""
    from argot.service.usecases.documents.revisions import document_replace

    if not file.is_file():
        raise InvalidInput(f"There is no file {file}.")
    data = file.read_bytes()
    with open_knowledge_base(home) as client:
        _say_report(client.call(document_replace, document=document, name=file.name, data=data))


@document_command("documents.revisions.document_revisions", "argot documents revisions plan.pdf", json=True)
def revisions(found: list[Revision], /, document: Document) -> None:
    """List the revisions of a document, the current one first."""
    print_table(
        ["revision", "state", "added", "bytes"],
        lambda: [[one.id, translate(one.state), one.added_at[:16], one.size] for one in found],
    )


@document_command(
    "documents.revisions.document_compare", "argot documents compare plan.pdf r0123456789abcdef", json=True
)
def compare(found: Comparison, /, document: Document, revision: RevisionId) -> None:
    """Compare a former revision of a document with the current one."""
    for one in found.differences:
        say(f"@@ {translate('line')} {one.line}")
        for mark, text in (("-", one.older), ("+", one.newer)):
            for part in text.splitlines():
                say(f"{mark} {part}")
    say_aside(format_count(len(found.differences), "difference"))


@document_command(
    "documents.revisions.document_bring_back",
    "argot documents bring-back plan.pdf r0123456789abcdef",
    name="bring-back",
)
def bring_back(report: UploadReport, /, document: Document, revision: RevisionId) -> None:
    """Make a former revision of a document the current one."""
    _say_report(report)


@document_command("documents.dustbin.removed_list", "argot documents removed", name="removed", json=True)
def list_removed(found: list[RemovedDocument], /) -> None:
    """List the removed documents that can be brought back, the last removed first."""
    rows: list[list[object]] = [[one.id, one.name, one.title, one.passages, one.removed_at[:16]] for one in found]
    print_table(["id", "name", "title", "passages", "removed"], rows)
    say_aside(format_count(len(found), "removed document"))


@document_command("documents.dustbin.document_restore", "argot documents restore plan.pdf")
def restore(report: UploadReport, /, document: Removed) -> None:
    """Bring a removed document back, with its readers, tags and former revisions."""
    _say_report(report)


@documents.command(epilog=format_examples("argot documents erase plan.pdf", "argot documents erase --all"))
def erase(
    document: Annotated[str | None, typer.Argument(help=REMOVED_HELP, metavar="[DOCUMENT]")] = None,
    all_: Annotated[bool, typer.Option("--all", help="All removed documents.")] = False,
    home: Home = None,
) -> None:
    """Erase a removed document now, for good."""
    from argot.service.usecases.documents.dustbin import removed_erase

    if (document is None) != all_:
        raise InvalidInput("Name one removed document, or give --all.")
    with open_knowledge_base(home) as client:
        found = client.call(removed_erase, document=document)
    say(translate("Erased %(found)s.", found=format_count(len(found), "removed document")))


def _say_report(report: UploadReport) -> None:
    say(f"{line(report.name)}: {report.kind}" + (f", {line(report.detail)}" if report.detail else ""))
