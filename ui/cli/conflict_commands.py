"""argot glossary conflicts: conflicts between meanings, accepting one, and taking it up again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from argot.errors import InvalidInput
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    counted,
    examples,
    knowledge_base,
    line,
    note,
    say,
    say_json,
    table,
)

if TYPE_CHECKING:
    from argot.service.transport.knowledge_base_client import Client
    from argot.service.usecases.sense_results import ConflictList, ConflictShown

_HEADINGS = ["senses", "kind", "what"]


def register(glossary: typer.Typer) -> None:
    glossary.command(
        "conflicts",
        epilog=examples(
            "argot glossary conflicts",
            'argot glossary conflicts 17 23 --let-stand --why "two departments"',
            "argot glossary conflicts --accepted",
            "argot glossary conflicts --take-up 41",
        ),
    )(conflicts)


def conflicts(
    *,
    senses: Annotated[
        list[int] | None, typer.Argument(help="Only those about these senses, by their numbers.", metavar="SENSE")
    ] = None,
    let_stand: Annotated[
        bool, typer.Option("--let-stand", help="Let what is between just these senses stand.")
    ] = False,
    take_up: Annotated[
        int | None,
        typer.Option("--take-up", min=0, help="Look again at what this change let stand.", metavar="CHANGE"),
    ] = None,
    accepted: Annotated[bool, typer.Option("--accepted", help="List what is let stand, with its change.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of rows.", metavar="N")] = 50,
    why: Annotated[str, typer.Option("--why", help="The reason, for the history.")] = "",
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """List the conflicts in the glossary, the worst first, and reviews that are due; accept a conflict.

    What is let stand leaves the list. It comes back when one of its senses says another thing, or with --take-up.
    """
    from argot.service.usecases.senses import glossary_conflicts, glossary_take_up

    # The numbers of senses filter the list as well, so only with --take-up are they one thing too many.
    if let_stand + (take_up is not None) + accepted > 1 or (take_up is not None and senses):
        raise InvalidInput("Choose one: SENSE... --let-stand, --take-up CHANGE, or --accepted.")
    if let_stand and not senses:
        raise InvalidInput("Name the senses: argot glossary conflicts 17 23 --let-stand")
    with knowledge_base(home) as client:
        if take_up is not None:
            done = client.as_user(as_user).call(glossary_take_up, change=take_up, why=why)
            say(f"To look at again: {line(', '.join(done.about))} [change {done.id}]")
            return
        if let_stand:
            _let_stand(client, senses or [], why, as_user)
            return
        found = client.as_user(as_user).call(glossary_conflicts, accepted=accepted, about=senses, limit=limit)
    if json_:
        say_json(found)
    else:
        _show(found, accepted=accepted)


def _let_stand(client: Client, numbers: list[int], why: str, as_user: str | None) -> None:
    # In the versions just read: what somebody changes in between is refused, not accepted unseen.
    from argot.service.usecases.senses import glossary_conflicts, glossary_let_stand

    found = client.as_user(as_user).call(glossary_conflicts, about=numbers, limit=1000).conflicts
    between = [one for one in found if {sense.id for sense in one.senses} == set(numbers)]
    if not between:
        raise InvalidInput("No conflict is between just these senses. List those there are: argot glossary conflicts")
    for one in between:
        seen = [(sense.id, sense.version) for sense in one.senses]
        done = client.as_user(as_user).call(glossary_let_stand, kind=one.kind, senses=seen, why=why)
        say(f"Let stand: {line(one.message)} [change {done.change}]")


def _show(found: ConflictList, *, accepted: bool) -> None:
    rows = [_row(one) for one in found.conflicts]
    table([*_HEADINGS, "change", "by", "why"] if accepted else _HEADINGS, rows)
    first = f", of which the first {len(rows)}" if found.total > len(rows) else ""
    if accepted:
        note(f"{counted(found.total, 'thing')} let stand{first}")
        if rows:
            note("Look at one again with: argot glossary conflicts --take-up CHANGE")
        return
    note(f"{counted(found.total, 'thing')} to look at{first}, {found.accepted} let stand")
    if any(one.may_accept for one in found.conflicts):
        note("Let one stand with: argot glossary conflicts SENSE... --let-stand")


def _row(one: ConflictShown) -> list[object]:
    from argot.service.usecases.sense_results import AcceptedConflictShown

    senses = " ".join(str(sense.id) for sense in one.senses)
    told: list[object] = [senses, one.kind.replace("_", " "), one.message]
    return [*told, one.change, one.who, one.why] if isinstance(one, AcceptedConflictShown) else told
