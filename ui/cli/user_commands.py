"""argot user: people, their groups and roles, passwords and sessions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from argot.languages.catalogues import translate, translate_number
from argot.ui.cli.command_base import (
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
    from pydantic import SecretStr

    from argot.service.usecases.people.users import Role as RoleName
    from argot.service.usecases.people.users import UserShown

SIGN_INS = (
    "suspended",
    "at the provider, after signing in again",
    "at the provider",
    "with a password",
    "not with a password",
)
"""How a user signs in."""

user = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Users: groups, roles, passwords, sessions.")
user_command = UseCaseCommands(user)

Name = Annotated[str, typer.Argument(help="The name the user signs in with.")]
Role = Annotated[str | None, typer.Option("--role", help="asker, manager (of every context) or admin.")]
Manages = Annotated[
    list[str] | None, typer.Option("--manages", help="A context the user manages; repeatable.", metavar="CONTEXT")
]


def register(app: typer.Typer) -> None:
    app.add_typer(user, name="user")


@user.command(
    "add",
    epilog=format_examples("argot user add ann --password --group hr", "argot user add leo --password --manages Legal"),
)
def add(  # noqa: PLR0917
    name: Name,
    group: Annotated[list[str] | None, typer.Option("--group", help="A group; repeatable.", metavar="GROUP")] = None,
    display_name: Annotated[str, typer.Option("--display-name", help="The name that is shown.")] = "",
    password: Annotated[bool, typer.Option("--password", help="Ask for a password, or read it from a pipe.")] = False,
    role: Role = None,
    manages: Manages = None,
    home: Home = None,
) -> None:
    """Make a user, or change one: more groups, another role, another password."""
    from argot.service.usecases.people.users import user_add

    # Before the knowledge base is opened, so that nobody has to wait while somebody types.
    # Before the knowledge base is opened, as in `add`.
    new_password = _read_new_password(name) if password else None
    with open_knowledge_base(home) as client:
        made = client.call(
            user_add,
            name=name,
            groups=group or [],
            display_name=display_name,
            password=new_password,
            role=_parse_role(role),
            manages=manages,
        )
    say(_format_user(made))


@user_command("people.users.user_list", "argot user list", name="list", json=True)
def list_users(users: list[UserShown], /) -> None:
    """List the users."""
    print_table(
        ["name", "display name", "groups", "role", "manages", "signs in"],
        lambda: [
            [
                one.name,
                one.display_name,
                ", ".join(one.groups),
                one.role,
                _list_managed_contexts(one),
                _describe_sign_in(one),
            ]
            for one in users
        ],
    )
    say_aside(translate_number("%(number)s user", "%(number)s users", len(users)))


@user.command(
    "roles", epilog=format_examples("argot user roles ann", "argot user roles ann --manages NAND --manages Tools")
)
def roles(
    name: Name,
    role: Role = None,
    manages: Manages = None,
    leave: Annotated[list[str] | None, typer.Option("--leave", help="A group to leave.", metavar="GROUP")] = None,
    home: Home = None,
) -> None:
    """Show a user's role and contexts, or change them."""
    from argot.service.usecases.people.users import user_roles

    with open_knowledge_base(home) as client:
        say(_format_user(client.call(user_roles, name=name, role=_parse_role(role), manages=manages, leave=leave)))


def _parse_role(text: str | None) -> RoleName | None:
    from argot.service.usecases.people.users import ROLES
    from argot.service.usecases.usecase_registry import find_choice

    # Without a role, the role stays as it is.
    return None if text is None else find_choice(ROLES, text, "--role")


@user.command("password", epilog=format_examples("argot user password ann"))
def password(name: Name, home: Home = None) -> None:
    """Give a user another password, typed or piped in as a line. All their sessions end."""
    from argot.service.usecases.people.users import user_password

    new_password = _read_new_password(name)
    with open_knowledge_base(home) as client:
        client.call(user_password, name=name, password=new_password)
    say(translate("User %(name)s has a new password and is signed out everywhere.", name=line(name)))


@user_command("people.users.user_suspend", "argot user suspend ann")
def suspend(_: UserShown, /, name: Name) -> None:
    """Shut a user out at once, everywhere. Nothing of theirs is deleted."""
    say(translate("User %(name)s is suspended. Undo it with: argot user restore %(name)s", name=line(name)))


@user_command("people.users.user_restore", "argot user restore ann")
def restore(_: UserShown, /, name: Name) -> None:
    """Let a suspended user in again."""
    say(translate("User %(name)s may sign in again.", name=line(name)))


@user_command("people.users.user_link", "argot user link ann", "argot user link ann --subject 8f14e45f-ceea")
def link(
    linked: UserShown,
    /,
    name: Name,
    subject: Annotated[
        str, typer.Option("--subject", help="The account there ('sub'); default: the first one with this name.")
    ] = "",
) -> None:
    """Let a user sign in at the OpenID Connect provider, and no longer by a password."""
    say(_format_user(linked))


@user_command("people.users.user_unlink", "argot user unlink ann")
def unlink(unlinked: UserShown, /, name: Name) -> None:
    """Stop a user from signing in at the provider. The provider's groups, and the user's sessions and keys, end."""
    say(_format_user(unlinked))


@user.command("sessions", epilog=format_examples("argot user sessions ann", "argot user sessions ann --end"))
def sessions(
    name: Name,
    end: Annotated[bool, typer.Option("--end", help="Sign the user out everywhere.")] = False,
    json_: Json = False,
    home: Home = None,
) -> None:
    """Show where a user is signed in."""
    from argot.service.usecases.people.users import user_end_sessions, user_sessions

    with open_knowledge_base(home) as client:
        if end:
            say(
                translate(
                    "User %(name)s is signed out of %(ended)s sessions.",
                    name=line(name),
                    ended=client.call(user_end_sessions, name=name).ended,
                )
            )
            return
        found = client.call(user_sessions, name=name)
    if json_:
        say_json(found)
        return
    print_table(
        ["session", "since", "last used", "from", "with"],
        [[one.id, one.created_at, one.seen_at, one.address, one.agent] for one in found],
    )
    say_aside(translate_number("%(number)s session", "%(number)s sessions", len(found)))


def _read_new_password(name: str) -> SecretStr:
    # Never an argument of the command: the shell's history keeps those, and every user of the machine can list them.
    from pydantic import SecretStr

    if sys.stdin.isatty():
        return SecretStr(
            typer.prompt(
                translate("Password for %(name)s", name=line(name)), hide_input=True, confirmation_prompt=True, err=True
            )
        )
    # Only the line feed is removed: blanks may be part of a password.
    return SecretStr(sys.stdin.readline().rstrip("\r\n"))


def _format_user(made: UserShown) -> str:
    manages = translate(" of %(total)s", total=_list_managed_contexts(made)) if made.manages else ""
    return translate(
        "User %(name)s, groups: %(groups)s, role: %(role)s, signs in: %(how)s",
        name=line(made.name),
        groups=", ".join(made.groups) or translate("none"),
        role=made.role + manages,
        how=_describe_sign_in(made),
    )


def _list_managed_contexts(made: UserShown) -> str:
    # "*" stands for all of them (`EVERY_CONTEXT`).
    return translate("every context") if "*" in made.manages else ", ".join(made.manages)


def _describe_sign_in(made: UserShown) -> str:
    # First, because a suspended user does not sign in at all.
    if made.suspended_at:
        return translate(SIGN_INS[0])
    if made.linked:
        return translate(SIGN_INS[1 if made.lapsed_at else 2])
    return translate(SIGN_INS[3 if made.has_password else 4])
