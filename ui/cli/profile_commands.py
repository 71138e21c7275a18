"""argot profile: named sets of switches that set how questions are answered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.questions.profiles import ProfileShown, ProfileSummary

profile = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Profiles: how questions are answered.")
profile_command = UseCaseCommands(profile, as_user=True)


def register(app: typer.Typer) -> None:
    app.add_typer(profile, name="profile")


@profile_command(
    "questions.profiles.profile_list", "argot profile list", "argot profile list --json", name="list", json=True
)
def list_profiles(found: list[ProfileSummary], /) -> None:
    """List the profiles: purpose, origin, and differences from the default."""
    print_table(
        ["profile", "from", "for", "other than the default"],
        lambda: [[one.name, translate(one.origin), translate(one.about), _describe_changes(one)] for one in found],
    )
    say_aside(translate("Ask with one: argot ask --profile NAME. See its switches: argot profile show NAME"))


@profile_command(
    "questions.profiles.profile_show",
    "argot profile show default",
    "argot profile show paper > my.toml",
    "argot profile show strict --json",
    json=True,
)
def show(
    found: ProfileShown,
    /,
    name: Annotated[str, typer.Argument(help="Its name, as 'argot profile list' shows it.", metavar="NAME")],
) -> None:
    """Print a profile as TOML, with every switch and its meaning: to edit, and to use with --profile FILE.toml."""
    # Without an empty line at the end, because it is a file.
    say(found.toml.rstrip("\n"))


@profile.command(
    "save",
    epilog=format_examples(
        "argot profile save careful --from strict --set passages=20",
        'argot profile save lab --from my.toml --about "Lab notes: short answers"',
        "argot profile save lab --from lab --set rerank=off --force",
    ),
)
def save(  # noqa: PLR0917
    name: Annotated[str, typer.Argument(help="Small letters, digits and hyphens.", metavar="NAME")],
    base: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="The profile or file to start from; default: the default profile.",
            metavar="NAME_OR_FILE",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="A switch, e.g. rerank=off; repeatable.", metavar="SWITCH=VALUE")
    ] = None,
    about: Annotated[str | None, typer.Option("--about", help="What it is for.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a saved profile of this name.")] = False,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Save a profile in the knowledge base, for everybody who asks there: in its folder profiles, as NAME.toml."""
    from argot.profile import parse_changes
    from argot.profile_files import format_profile, is_file, read_profile_file
    from argot.service.usecases.questions.profiles import profile_save

    # A file is read here, because the service may run on another machine.
    toml = format_profile(read_profile_file(Path(base))) if base and is_file(base) else None
    with open_knowledge_base(home) as client:
        saved = client.as_user(as_user).call(
            profile_save,
            name=name,
            base=None if toml else base,
            toml=toml,
            switches=parse_changes(changes or ()),
            about=about,
            force=force,
        )
    if json_:
        say_json(saved)
        return
    switches = _format_switches(saved.changed) or translate("as the default")
    say(translate("Saved %(name)s: %(switches)s", name=saved.name, switches=switches))
    say_aside(translate("Ask with it: argot ask --profile %(name)s", name=saved.name))


def _describe_changes(one: ProfileSummary) -> str:
    if one.problem:
        return translate("cannot be used: %(problem)s", problem=line(one.problem))
    return _format_switches(one.changed)


def _format_switches(changed: Mapping[str, object]) -> str:
    from argot.profile import format_switch

    return " ".join(f"{switch}={format_switch(value)}" for switch, value in changed.items())
