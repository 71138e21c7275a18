"""argot add, remove, list, show and reindex: the documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote, urlsplit

import typer

from argot.errors import InvalidInput
from argot.languages.catalogues import format_local_percent, translate, translate_language_name
from argot.types import LANGUAGE
from argot.ui.cli.command_base import (
    AsUser,
    Audience,
    Home,
    Json,
    describe_audience,
    format_count,
    format_examples,
    line,
    open_knowledge_base,
    print_table,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.progress_bar import show_progress
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.documents.documents import AddReport
    from argot.types import Document as StoredDocument


def resolve_reference(document: str) -> str:
    """Make a path absolute, because the process that looks it up may work in another folder."""
    # Names may contain a slash too: this is a path only if the file exists.
    if "/" in document and "://" not in document and Path(document).exists():
        return str(Path(document).absolute())
    return document


Document = Annotated[
    str, typer.Argument(help="Its id, name or URI (see `argot list`).", metavar="DOCUMENT", callback=resolve_reference)
]


def register(app: typer.Typer) -> None:
    app.command(
        epilog=format_examples(
            "argot add handbook.pdf notes/",
            "argot add hr/ --audience hr --audience @ann --tag policy",
            "argot add wiki-export/ --base-uri https://wiki.example.org",
            "argot add https://example.org/handbook.pdf --tag policy",
        )
    )(add)
    app.command(epilog=format_examples("argot remove handbook.pdf", "argot remove handbook.pdf --forever"))(remove)
    UseCaseCommands(app, as_user=True)(
        "documents.documents.list_documents", "argot list", "argot list --json --as ann", name="list", json=True
    )(list_documents)
    app.command(epilog=format_examples("argot show handbook.pdf", "argot show handbook.pdf --json"))(show)
    app.command(epilog=format_examples("argot reindex"))(reindex)


def add(
    *,
    paths: Annotated[
        list[str],
        typer.Argument(help="Files and folders, searched for readable files; or web addresses.", metavar="PATHS"),
    ],
    audience: Audience = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="A tag for these documents; repeatable.", metavar="TAG")
    ] = None,
    base_uri: Annotated[
        str | None,
        typer.Option("--base-uri", help="The address of the originals, for citations.", metavar="URI"),
    ] = None,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Also follow links that leave their folder.")
    ] = False,
    json_: Json = False,
    home: Home = None,
) -> None:
    """Add documents. Unchanged ones are left alone, changed ones are replaced.

    A file that cannot be read is named with the reason, and the others are added; the exit code is then 1. Links are
    followed only within their folder; links that are skipped are named.
    """
    from argot.service.usecases.documents.documents import add as add_case

    # `Path("")` is the current folder: an unset variable in a script would add everything in it.
    if "" in paths:
        raise InvalidInput(translate("An empty path was given. For the folder you are in, write: argot add ."))
    for path in paths:
        if path.startswith("file:"):
            plain = unquote(urlsplit(path).path)
            raise InvalidInput(translate("Give the path itself: argot add %(path)s", path=plain))
    if any(map(_is_address, paths)):
        _add_addresses(paths, audience, tag, json_=json_, home=home)
        return
    with open_knowledge_base(home, create=True) as client, show_progress(translate("adding"), elapsed=True) as move:
        result = client.watch(move).call(
            add_case,
            # Absolute, because the service that does the work may run in another folder.
            paths=[str(Path(path).expanduser().absolute()) for path in paths],
            audience=audience,
            tags=tag,
            base_uri=base_uri,
            follow_links=follow_links,
        )
    if json_:
        say_json(result)
    else:
        _print_summary(result)
    # After the summary, which names the documents that were added in any case.
    if result.failed:
        raise typer.Exit(1)


def _is_address(path: str) -> bool:
    return path.startswith(("http://", "https://"))


def _add_addresses(
    addresses: list[str], audience: list[str] | None, tags: list[str] | None, *, json_: bool, home: Path | None
) -> None:
    from argot.service.usecases.documents.fetch import document_fetch
    from argot.service.usecases.documents.read_faults import translate_read_fault
    from argot.ui.translation.finding_texts import translate_finding

    if not all(map(_is_address, addresses)):
        raise InvalidInput(translate("Give either paths or web addresses, not both at once."))
    with open_knowledge_base(home, create=True) as client:
        reports = [client.call(document_fetch, address=one, audience=audience, tags=tags) for one in addresses]
    if json_:
        say_json(reports)
        return
    for report in reports:
        say(f"{translate(report.kind)}: {line(report.name)}: {line(translate_read_fault(report.detail))}")
        for notice in report.notices:
            say_aside(line(translate_finding(notice)))


def remove(
    document: Document,
    forever: Annotated[bool, typer.Option("--forever", help="Erase it for good: it cannot be brought back.")] = False,
    home: Home = None,
) -> None:
    """Remove a document, with everything derived from it.

    It can be brought back for 30 days (setting `keep_removed_days`).
    """
    from argot.service.usecases.documents.documents import remove as remove_case
    from argot.service.usecases.documents.dustbin import removed_list

    with open_knowledge_base(home) as client:
        removed = client.call(remove_case, document=document, forever=forever)
        kept = any(one.id == removed.id for one in client.call(removed_list))
    say(
        translate(
            "Removed %(name)s (%(id)s), %(passages)s.",
            name=line(removed.name),
            id=removed.id,
            passages=format_count(removed.passages, "passage"),
        )
    )
    if kept:
        say_aside(translate("It can be brought back with: argot documents restore %(id)s", id=removed.id))


def list_documents(documents: list[StoredDocument], /) -> None:
    """List the documents."""
    print_table(
        ["id", "name", "title", "passages", "audience", "added"],
        lambda: [
            [one.id, one.listed_name, one.title, one.passages, describe_audience(one.audience), one.added_at[:10]]
            for one in documents
        ],
    )
    say_aside(
        format_count(len(documents), "document")
        if documents
        else translate("No documents yet. Add some with: argot add PATHS")
    )


def show(document: Document, json_: Json = False, as_user: AsUser = None, home: Home = None) -> None:
    """Show a document: its properties, and its passages under their headings."""
    from argot.service.usecases.documents.documents import show as show_case
    from argot.service.usecases.documents.listing import document_near

    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(show_case, document=document)
        near = client.as_user(as_user).call(document_near, document=found.document.id)
    if json_:
        say_json(found)
        return
    about = found.document
    say(f"{line(about.title)}\n{line(about.uri)}")
    say(
        translate(
            "%(id)s, revision %(revision_id)s of %(added_at)s",
            id=about.id,
            revision_id=about.revision_id,
            added_at=about.added_at[:10],
        )
    )
    say(
        translate(
            "%(passages)s, for %(audience)s",
            passages=format_count(len(found.passages), "passage"),
            audience=describe_audience(about.audience),
        )
    )
    if about.date:
        say(f"{translate('date')}: {about.date}")
    for one in about.fields:
        if one.name == LANGUAGE:
            say(f"{translate('language')}: {line(translate_language_name(one.value))}")
        else:
            say(f"{line(one.name)}: {line(one.value)}")
    for warning in about.warnings:
        say(translate("Not fully read: %(warning)s", warning=line(warning)))
    for twin in near:
        say(
            translate(
                "Nearly the same as %(name)s (%(likeness)s alike)",
                name=line(twin.other.name),
                likeness=format_local_percent(twin.likeness),
            )
        )
    for passage in found.passages:
        where = f" ({translate(passage.page_kind or 'page')} {passage.page})" if passage.page else ""
        # With its id, which the API uses for a passage.
        say(f"\n[{passage.id}] {line(passage.heading)}{where}\n{passage.text}")


def reindex(home: Home = None) -> None:
    """Rebuild the vectors and the keyword index from the stored documents (after a change of embedding model, or as a
    repair).
    """
    from argot.service.usecases.documents.documents import reindex as reindex_case

    with open_knowledge_base(home) as client, show_progress(translate("indexing")) as move:
        result = client.watch(move).call(reindex_case)
    say(translate("Indexed %(passages)s.", passages=format_count(result.passages, "passage")))


def _print_summary(result: AddReport) -> None:
    from argot.service.usecases.documents.documents import COUNTED
    from argot.service.usecases.documents.read_faults import translate_read_fault
    from argot.ui.translation.finding_texts import translate_finding

    counts = {name: count for name in COUNTED if (count := getattr(result, name))}
    for problem in result.problems:
        say_aside(f"{translate(problem.kind)}: {line(problem.name)}: {line(translate_read_fault(problem.detail))}")
    for notice in result.notices:
        say_aside(line(translate_finding(notice)))
    for one in result.near:
        text = translate("%(name)s is nearly the same as %(other)s", name=line(one.name), other=line(one.detail))
        say_aside(text)
    counted = ", ".join(f"{count} {translate(name)}" for name, count in counts.items())
    say(counted or translate("Nothing to add there."))
