"""argot user."""

from __future__ import annotations

from typing import Annotated

import typer

from argot.ui.cli_base import Home, Json, examples, knowledge_base, line, note, say, say_json, table

user = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Users and their groups.")


def register(app: typer.Typer) -> None:
    app.add_typer(user, name="user")


@user.command("add", epilog=examples("argot user add ann --group hr --group managers"))
def add(
    name: Annotated[str, typer.Argument(help="The name the user signs in with.")],
    group: Annotated[
        list[str] | None, typer.Option("--group", help="A group; repeatable. Members of 'managers' may change things.")
    ] = None,
    display_name: Annotated[str, typer.Option("--display-name", help="The name that is shown.")] = "",
    home: Home = None,
) -> None:
    """Make a user, or put one into more groups."""
    with knowledge_base(home) as client:
        made = client.call("user_add", name=name, groups=group or [], display_name=display_name)
    say(f"User {line(made['name'])}, groups: {', '.join(made['groups']) or 'none'}")


@user.command("list", epilog=examples("argot user list"))
def list_users(json_: Json = False, home: Home = None) -> None:
    """List the users."""
    with knowledge_base(home) as client:
        users = client.call("user_list")
    if json_:
        say_json(users)
        return
    table(
        ["name", "display name", "groups"],
        [[one["name"], one["display_name"], ", ".join(one["groups"])] for one in users],
    )
    note(f"{len(users)} users")
