"""argot glossary history and roll-back: the changes of the glossary, and undoing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from argot.errors import InvalidInput
from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    format_examples,
    line,
    open_knowledge_base,
    print_table,
    say,
    say_aside,
    say_json,
)

if TYPE_CHECKING:
    from argot.service.usecases.glossary.history import ChangeSet, HistoryEntry


def register(glossary: typer.Typer) -> None:
    glossary.command("history", epilog=format_examples("argot glossary history", "argot glossary history PUC --json"))(
        history
    )
    glossary.command(
        "roll-back",
        epilog=format_examples(
            'argot glossary roll-back 12 --why "the wrong list"', "argot glossary roll-back --term PUC --to 2027-01-31"
        ),
    )(roll_back)


def history(
    term: Annotated[str | None, typer.Argument(help="Only changes of this term.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of rows.", metavar="N")] = 50,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Show who changed what, when and why, newest first."""
    from argot.service.usecases.glossary.history import glossary_changes, glossary_history

    with open_knowledge_base(home) as client:
        if term is None:
            _show_changes(client.as_user(as_user).call(glossary_changes, limit=limit), json_=json_)
        else:
            _show_entries(client.as_user(as_user).call(glossary_history, term=term, limit=limit), json_=json_)


def _show_changes(found: list[ChangeSet], *, json_: bool) -> None:
    if json_:
        say_json(found)
        return
    headings = ["change", "when", "who", "what", "of", "rows", "why"]
    print_table(
        headings,
        lambda: [
            [one.id, _format_time(one.at), one.who, _describe_change(one), _name_subject(one), one.rows, one.why]
            for one in found
        ],
    )
    say_aside(translate("Take one back with: argot glossary roll-back CHANGE"))


def _show_entries(found: list[HistoryEntry], *, json_: bool) -> None:
    if json_:
        say_json(found)
        return
    headings = ["change", "when", "who", "what", "context", "fields", "why"]
    print_table(headings, lambda: [*map(_make_entry_row, found)])


def roll_back(
    *,
    change: Annotated[int | None, typer.Argument(help="Its number (see `argot glossary history`).")] = None,
    term: Annotated[str | None, typer.Option(help="Instead, reset this term to an earlier state.")] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The state to reset to: a date or time, or the number of a change.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite later changes.")] = False,
    why: Annotated[str, typer.Option("--why", help="The reason, for the history.")] = "",
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Roll a change back, or reset a term to an earlier state. This is a change too, and can be rolled back."""
    from argot.service.usecases.glossary.history import glossary_roll_back

    # Exactly one of CHANGE and --term; --to belongs to --term.
    if (change is None) == (term is None) or (term is None) != (to is None):
        raise InvalidInput("Name either a change, or a term with --to: argot glossary roll-back --term PUC --to 12")
    # Only digits are the number of a change: a date has hyphens.
    moment: int | str | None = int(to) if to and to.isascii() and to.isdigit() else to
    target = {"change": change} if term is None else {"term": term, "moment": moment}
    with open_knowledge_base(home) as client:
        done = client.as_user(as_user).call(glossary_roll_back, why=why, force=force, **target)
    say(
        translate(
            "Change %(id)s rolled back %(rows)s entries. Undo it with: argot glossary roll-back %(id)s",
            id=done.id,
            rows=done.rows,
        )
    )


def _format_time(at: str) -> str:
    return at[:16].replace("T", " ")


def _make_entry_row(one: HistoryEntry) -> list[object]:
    fields = ", ".join(translate(name.replace("_", " ")) for name in _list_changed_fields(one))
    return [one.change, _format_time(one.at), one.who, translate(one.kind), one.context, fields, one.why]


def _describe_change(one: ChangeSet) -> str:
    undone = translate(", rolled back by %(change)s", change=one.undone_by) if one.undone_by else ""
    return f"{translate(one.kind)} {line(one.name)}".strip() + undone


def _name_subject(one: ChangeSet) -> str:
    # `about` names the first few terms or contexts of a change.
    more = ", ..." if one.rows > len(one.about) else ""
    return ", ".join(map(line, one.about)) + more


def _list_changed_fields(one: HistoryEntry) -> list[str]:
    before, after = one.before or {}, one.after or {}
    # One side is missing where the sense was added or removed: then every field differs.
    if not before or not after:
        return ["removed" if before else "added"]
    return [name for name in after if after[name] != before.get(name)]
