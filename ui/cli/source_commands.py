"""argot source: folders, repositories, web sites and mail that the documents are synced with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argot.errors import Conflict, InvalidInput
from argot.languages.catalogues import format_local_number, translate
from argot.ui.cli.command_base import (
    Audience,
    Home,
    Json,
    describe_progress,
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
    from argot.service.transport.knowledge_base_client import Client
    from argot.service.usecases.documents.sources import (
        RemovedSource,
        SourceKind,
        SourceRecord,
        SyncReport,
        SyncUnderWay,
    )

source = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Sources that documents are synced with.")

SourceName = Annotated[str, typer.Argument(help="Its name (see `argot source list`).", metavar="NAME")]
_UNITS = ((86_400, "d"), (3600, "h"), (60, "m"))


def register(app: typer.Typer) -> None:
    app.add_typer(source, name="source")


@source.command(
    "add",
    epilog=format_examples(
        "argot source add /srv/handbook --every 6h",
        "argot source add /srv/hr --name hr --audience hr --exclude 'drafts/' --exclude '*.tmp.docx'",
        "argot source add https://git.example.org/team/handbook.git --include 'docs/' --with branch=main",
        "argot source add https://wiki.example.org/help/ --every 1d --with pages=2000",
        "argot source add imaps://mail.example.org/INBOX --with user=ann --with-env password=MAIL_PASSWORD",
        "argot source add /srv/exports/ENG.zip --kind confluence --with base_uri=https://wiki.example.org",
        "argot source add --loader WikipediaLoader --with query=NAND --with load_max_docs=5",
    ),
)
def add(
    *,
    address: Annotated[
        str,
        typer.Argument(
            help="A folder, a git repository (URL or path), a web site (URL), or a folder of mail.", metavar="ADDRESS"
        ),
    ] = "",
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            help="folder, git, web, imap, confluence or sharepoint, where the address does not say.",
            metavar="KIND",
        ),
    ] = None,
    loader: Annotated[
        str | None,
        typer.Option("--loader", help="Instead of an address: one of LangChain's loaders.", metavar="LOADER"),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Its name (default: made from the address).", metavar="NAME")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option("--include", help="Only paths like this; repeatable.", metavar="PATTERN")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="No paths like this; repeatable.", metavar="PATTERN")
    ] = None,
    audience: Audience = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="A tag for its documents; repeatable.", metavar="TAG")
    ] = None,
    every: Annotated[
        str, typer.Option("--every", help="How often a running service syncs it: 30m, 6h, 1d.", metavar="TIME")
    ] = "",
    with_: Annotated[
        list[str] | None, typer.Option("--with", help="An option of its kind; repeatable.", metavar="KEY=VALUE")
    ] = None,
    with_env: Annotated[
        list[str] | None,
        typer.Option(
            "--with-env", help="An option whose value stands in an environment variable.", metavar="KEY=VARIABLE"
        ),
    ] = None,
    json_: Json = False,
    home: Home = None,
) -> None:
    """Add a source. Nothing is read yet: `argot source sync` does that, or a running service if --every is given.

    A pattern with `/` matches the path, one without it any name on the path. Options for --with: base_uri (the address
    of a folder's or repository's originals, for citations), follow_links=yes (of a folder), branch, user, private=yes
    (a server in your own network), encrypted=no (mail without encryption), pages (of a web site, at most), and the
    parameters of a loader. Secrets: --with-env.
    """
    from argot.service.usecases.documents.sources import source_add

    if bool(address) == bool(loader):
        raise InvalidInput("Give an address or --loader. For the folder you are in, write: argot source add .")
    with open_knowledge_base(home, create=True) as client:
        made = client.call(
            source_add,
            address=loader or _resolve_address(address),
            kind="loader" if loader else _parse_kind(kind),
            name=name,
            include=include,
            exclude=exclude,
            audience=audience,
            tags=tag,
            every=every,
            options=_parse_pairs(with_),
            variables=_parse_pairs(with_env),
        )
    if json_:
        say_json(made)
    else:
        template = "Source %(name)s (%(kind)s): %(address)s"
        say(translate(template, name=made.name, kind=made.kind, address=line(made.address)))
        say(translate("Read it with: argot source sync %(name)s", name=made.name))


@source.command("list", epilog=format_examples("argot source list", "argot source list --json"))
def list_sources(json_: Json = False, home: Home = None) -> None:
    """List the sources, with the result of each one's last sync and the progress of running syncs."""
    from argot.service.usecases.documents.sources import source_list, source_progress

    with open_knowledge_base(home) as client:
        found = client.call(source_list)
        under_way = {} if json_ else {one.source: one for one in client.call(source_progress)}
    if json_:
        say_json(found)
        return
    print_table(
        ["name", "kind", "address", "every", "documents", "state", "last sync", "changed"],
        lambda: [
            [
                *(one.name, one.kind, one.address, _format_time(one.every), one.documents),
                *describe_last_sync(one, under_way.get(one.name)),
            ]
            for one in found
        ],
    )
    for one in found:
        for detail in (one.detail, *(f"{problem.name}: {problem.detail}" for problem in one.problems)):
            if detail:
                say_aside(f"{one.name}: {line(detail)}")
        if one.gone and one.state == "held":
            say_aside(f"{one.name}: {_list_gone(one.gone, one.counts.get('gone', 0))}")
    say_aside(
        format_count(len(found), "source")
        if found
        else translate("No sources yet. Add one with: argot source add FOLDER")
    )


@source.command(
    "sync",
    epilog=format_examples("argot source sync", "argot source sync handbook", "argot source sync handbook --confirm"),
)
def sync(
    name: Annotated[
        str | None, typer.Argument(help="Its name (see `argot source list`); default: all sources.", metavar="NAME")
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Remove deleted documents even if they are most of the source.")
    ] = False,
    json_: Json = False,
    home: Home = None,
) -> None:
    """Sync documents with their sources: new and changed ones are read, deleted ones are removed.

    The exit code is 1 if a source could not be read, a document of it failed, or deletions wait for --confirm.
    """
    from argot.service.usecases.documents.sources import source_list

    if confirm and name is None:
        raise InvalidInput("--confirm is for one source. Name it: argot source sync NAME --confirm")
    with open_knowledge_base(home) as client:
        if name is not None:
            reports = [_sync_source(client, name, confirm=confirm)]
        else:
            reports = _sync_sources(client, [one.name for one in client.call(source_list)])
    if json_:
        say_json(reports)
    else:
        for report in reports:
            _print_summary(report)
    if any(report.failed or report.state != "synced" for report in reports):
        raise typer.Exit(1)


@UseCaseCommands(source)(
    "documents.sources.source_remove",
    "argot source remove handbook",
    "argot source remove old --with-documents",
    json=True,
)
def remove(
    gone: RemovedSource,
    /,
    name: SourceName,
    with_documents: Annotated[bool, typer.Option("--with-documents", help="Remove its documents, too.")] = False,
) -> None:
    """Remove a source. Its documents stay, unless --with-documents is given."""
    say(
        translate(
            "Removed the source %(name)s; %(removed)s removed, %(kept)s kept.",
            name=gone.name,
            removed=format_count(gone.removed, "document"),
            kept=gone.kept,
        )
    )


def _sync_sources(client: Client, names: list[str]) -> list[SyncReport]:
    """Sync one source after the other; one that a running service is syncing is named and left to it."""
    reports = []
    for name in names:
        try:
            reports.append(_sync_source(client, name, confirm=False))
        except Conflict as error:
            say_aside(error)
    return reports


def _sync_source(client: Client, name: str, *, confirm: bool) -> SyncReport:
    from argot.service.usecases.documents.sources import source_sync

    with show_progress(translate("syncing"), elapsed=True) as move:
        return client.watch(move).call(source_sync, name=name, confirm=confirm)


def _print_summary(report: SyncReport) -> None:
    for problem in report.problems:
        say_aside(translate("failed: %(name)s: %(detail)s", name=line(problem.name), detail=line(problem.detail)))
    for one in report.near:
        say_aside(translate("%(name)s is nearly the same as %(detail)s", name=line(one.name), detail=line(one.detail)))
    kinds = ("added", "updated", "renamed", "removed", "unchanged", "duplicate", "skipped", "failed")
    counts = [f"{count} {translate(kind)}" for kind in kinds if (count := getattr(report, kind))]
    state = translate("nothing there" if report.state == "synced" else report.state)
    say(f"{report.source}: {', '.join(counts) or state}")
    if report.detail:
        say_aside(line(report.detail))
    if report.gone:
        say_aside(_list_gone(report.gone, report.waiting))


def _list_gone(names: Sequence[str], number: int) -> str:
    """Name the first of the documents that wait to be removed."""
    more = (
        translate(" and %(number)s more", number=format_local_number(number - len(names)))
        if number > len(names)
        else ""
    )
    return translate("deleted there: %(names)s", names=", ".join(map(line, names)) + more)


def describe_last_sync(one: SourceRecord, under_way: SyncUnderWay | None) -> tuple[str, str, str]:
    """Return the state of a source, the time of its last sync, and the changes of that."""
    if under_way is not None:
        return describe_progress("syncing", under_way.done, under_way.total), (one.synced_at or "")[:16], ""
    kinds = ("added", "updated", "renamed", "removed")
    changes = ", ".join(f"{one.counts[kind]} {translate(kind)}" for kind in kinds if one.counts.get(kind))
    failed = f", {one.failed} {translate('failed')}" if one.failed else ""
    return translate(one.state) + failed, (one.synced_at or "")[:16], changes


def _format_time(seconds: int) -> str:
    """Return an interval as it is typed: 6h."""
    return next((f"{seconds // unit}{letter}" for unit, letter in _UNITS if seconds and seconds % unit == 0), "")


def _parse_kind(text: str | None) -> SourceKind | None:
    from argot.service.usecases.documents.sources import KINDS
    from argot.service.usecases.usecase_registry import find_choice

    return None if text is None else find_choice(KINDS, text, "--kind")


def _resolve_address(address: str) -> str:
    """Make a path absolute, because the process that reads it may work in another folder."""
    # Anything else is passed on as typed, for the message that refuses it.
    if "://" in address or (":" in address and not Path(address).exists()):
        return address
    return str(Path(address).expanduser().absolute())


def _parse_pairs(given: list[str] | None) -> dict[str, str] | None:
    pairs = [one.partition("=") for one in given or ()]
    for key, sign, _ in pairs:
        if not key or not sign:
            raise typer.BadParameter(translate("'%(key)s' is not written as KEY=VALUE", key=key))
    return {key.replace("-", "_"): value for key, _, value in pairs} or None
