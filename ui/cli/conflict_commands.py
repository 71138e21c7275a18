"""argot glossary conflicts: list the conflicts between meanings, accept one, and reopen it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from argot.errors import InvalidInput
from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    format_count,
    format_examples,
    line,
    open_knowledge_base,
    print_table,
    say,
    say_aside,
    say_json,
)

if TYPE_CHECKING:
    from argot.service.transport.knowledge_base_client import Client
    from argot.service.usecases.glossary.sense_results import ConflictList, ConflictShown

_HEADINGS = ["senses", "kind", "what"]


def register(glossary: typer.Typer) -> None:
    glossary.command(
        "conflicts",
        epilog=format_examples(
            "argot glossary conflicts",
            'argot glossary conflicts 17 23 --accept --why "two departments"',
            "argot glossary conflicts --accepted",
            "argot glossary conflicts --reopen 41",
        ),
    )(conflicts)


def conflicts(
    *,
    senses: Annotated[
        list[int] | None, typer.Argument(help="Only those about these senses, by their numbers.", metavar="SENSE")
    ] = None,
    # The second names are those of version 0.3.
    accept: Annotated[
        bool, typer.Option("--accept", "--let-stand", help="Accept the conflict between exactly these senses.")
    ] = False,
    reopen: Annotated[
        int | None,
        typer.Option(
            "--reopen", "--take-up", min=0, help="Reopen the conflict that this change accepted.", metavar="CHANGE"
        ),
    ] = None,
    accepted: Annotated[
        bool, typer.Option("--accepted", help="List the accepted conflicts, with their changes.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of rows.", metavar="N")] = 50,
    why: Annotated[str, typer.Option("--why", help="The reason, for the history.")] = "",
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """List the conflicts in the glossary, the worst first, and reviews that are due; accept a conflict.

    An accepted conflict leaves the list. It comes back when one of its senses changes, or with --reopen.
    """
    from argot.service.usecases.glossary.senses import glossary_conflicts, glossary_reopen_conflict

    # The numbers of senses also filter the list, so they conflict only with --reopen.
    if accept + (reopen is not None) + accepted > 1 or (reopen is not None and senses):
        raise InvalidInput("Choose one: SENSE... --accept, --reopen CHANGE, or --accepted.")
    if accept and not senses:
        raise InvalidInput("Name the senses: argot glossary conflicts 17 23 --accept")
    with open_knowledge_base(home) as client:
        if reopen is not None:
            done = client.as_user(as_user).call(glossary_reopen_conflict, change=reopen, why=why)
            say(translate("Reopened: %(about)s [change %(id)s]", about=line(", ".join(done.about)), id=done.id))
            return
        if accept:
            _accept(client, senses or [], why, as_user)
            return
        found = client.as_user(as_user).call(glossary_conflicts, accepted=accepted, about=senses, limit=limit)
    if json_:
        say_json(found)
    else:
        _show(found, accepted=accepted)


def _accept(client: Client, numbers: list[int], why: str, as_user: str | None) -> None:
    # With the versions just read, so that a change in between is refused, not accepted unseen.
    from argot.service.usecases.glossary.senses import glossary_accept_conflict, glossary_conflicts

    found = client.as_user(as_user).call(glossary_conflicts, about=numbers, limit=1000).conflicts
    between = [one for one in found if {sense.id for sense in one.senses} == set(numbers)]
    if not between:
        raise InvalidInput(
            "These senses have no conflict with each other. List the conflicts: argot glossary conflicts"
        )
    # Several kinds of conflict may be between the same senses; each is accepted by itself.
    for one in between:
        seen = [(sense.id, sense.version) for sense in one.senses]
        done = client.as_user(as_user).call(glossary_accept_conflict, kind=one.kind, senses=seen, why=why)
        say(translate("Accepted: %(message)s [change %(change)s]", message=line(one.message), change=done.change))


def _show(found: ConflictList, *, accepted: bool) -> None:
    shown = len(found.conflicts)
    print_table(
        [*_HEADINGS, "change", "by", "why"] if accepted else _HEADINGS, lambda: [*map(_make_row, found.conflicts)]
    )
    first = translate(", of which the first %(number)s", number=shown) if found.total > shown else ""
    if accepted:
        # Beside the table, so that a pipe gets rows alone.
        say_aside(f"{format_count(found.total, 'accepted conflict')}{first}")
        if shown:
            say_aside(translate("Reopen one with: argot glossary conflicts --reopen CHANGE"))
        return
    say_aside(
        translate(
            "%(total)s to review%(first)s, %(accepted)s accepted",
            total=format_count(found.total, "item"),
            first=first,
            accepted=found.accepted,
        )
    )
    if any(one.may_accept for one in found.conflicts):
        say_aside(translate("Accept one with: argot glossary conflicts SENSE... --accept"))


def _make_row(one: ConflictShown) -> list[object]:
    from argot.service.usecases.glossary.sense_results import AcceptedConflictShown

    senses = " ".join(str(sense.id) for sense in one.senses)
    row: list[object] = [senses, translate(one.kind.replace("_", " ")), one.message]
    return [*row, one.change, one.who, one.why] if isinstance(one, AcceptedConflictShown) else row
