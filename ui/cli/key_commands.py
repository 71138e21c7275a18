"""argot key: make, list and revoke keys for the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from argot.languages.catalogues import translate, translate_number
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
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.people.api_keys import Key, NewKey

key = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Keys by which programs use the API.")
key_command = UseCaseCommands(key, as_user=True)


def register(app: typer.Typer) -> None:
    app.add_typer(key, name="key")


@key_command(
    "people.api_keys.key_add",
    "argot key add ann",
    'argot key add ann --label "nightly report" --days 90',
    "argot key add local",
)
def add(
    made: NewKey,
    /,
    user: Annotated[
        str,
        typer.Argument(metavar="name", help="Whose key it is: a user, or 'local', the person at this machine."),
    ],
    name: Annotated[str, typer.Option("--label", help="What will use it.")] = "made on the command line",
    days: Annotated[
        int | None, typer.Option("--days", help="Days until it expires; default: valid until revoked.")
    ] = None,
) -> None:
    """Make a key, and print it this once. It has all rights of its user."""
    # Only the key on standard output, so that a script can read it from there.
    say(made.key)
    say_aside(
        translate(
            "Key %(id)s of %(user)s. It is not shown again. Revoke it: argot key revoke %(id)s",
            id=made.id,
            user=line(made.user),
        )
    )
    if made.ends_at:
        say_aside(translate("It ends on %(ends_at)s.", ends_at=_format_moment(made.ends_at)))
    if made.user == "local":
        say_aside(translate("It works only as long as nobody has a password; after that, make one for a user."))


@key.command("list", epilog=format_examples("argot key list", "argot key list ann", "argot key list --json"))
def list_keys(
    name: Annotated[str, typer.Argument(help="The owner of the keys; default: everybody's keys.")] = "",
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """List the keys that are not revoked: owner, purpose, last use, and end."""
    from argot.service.usecases.people.api_keys import key_list

    with open_knowledge_base(home) as client:
        # "*": everybody's keys, for the person at this machine. With --as only that user's own.
        found = client.as_user(as_user).call(key_list, user=name or (None if as_user else "*"))
    if json_:
        say_json(found)
        return
    print_table(
        ["key", "user", "label", "since", "last used", "ends"],
        lambda: [
            [one.id, one.user, one.name, *map(_format_moment, (one.created_at, one.used_at, one.ends_at))]
            for one in found
        ],
    )
    say_aside(translate_number("%(number)s key", "%(number)s keys", len(found)))


@key_command("people.api_keys.key_revoke", "argot key revoke k1f2e3d4c5b6")
def revoke(
    gone: Key,
    /,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key's id, as 'argot key list' shows it.")],
) -> None:
    """Revoke a key: it stops working at once, also for open connections."""
    say(
        translate(
            "Key %(id)s of %(user)s (%(name)s) is revoked.", id=gone.id, user=line(gone.user), name=line(gone.name)
        )
    )


def _format_moment(time: str | None) -> str:
    return f"{time[:16].replace('T', ' ')} UTC" if time else translate("never")
