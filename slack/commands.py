"""argot slack: the app, its channels, and linked people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    Home,
    format_examples,
    line,
    open_knowledge_base,
    print_table,
    read_settings,
    say,
    say_aside,
)
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.slack.usecases.slack_channels import Channel, ForgottenChannel, LinkedPerson

slack = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Slack: the app, its channels, who is who.")
channel = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="How channels are answered.")
people = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Who in Slack is which user.")
CASES = "argot.slack.usecases.slack_channels"
slack.add_typer(channel, name="channel")
slack.add_typer(people, name="people")

ChannelId = Annotated[
    str, typer.Argument(help="The channel's id (C...; at the end of its 'About').", metavar="CHANNEL")
]
SlackUser = Annotated[str, typer.Argument(help="The member id (U...; in the menu of their profile).", metavar="MEMBER")]
Team = Annotated[
    str | None, typer.Option("--team", help="The workspace (T...); else the one of the bot token.", metavar="TEAM")
]


def register(app: typer.Typer) -> None:
    app.add_typer(slack, name="slack")


@slack.command(
    "manifest", epilog=format_examples("argot slack manifest", "argot slack manifest --url https://argot.example.com")
)
def manifest(
    url: Annotated[
        str, typer.Option("--url", help="Where Slack reaches Argot over HTTP; without it by Socket Mode.")
    ] = "",
    home: Home = None,
) -> None:
    """Print the manifest to make the app in Slack with (api.slack.com/apps, 'From a manifest')."""
    from argot.slack.app.manifest import build_manifest as made

    settings = read_settings(home)
    # With a signing secret HTTP has been set up; an address alone may be for the window.
    over_http = settings.web.public_url and settings.slack.signing_secret.get_secret_value()
    # As it is and without a line end: it is for pasting, or for a file.
    typer.echo(made(url or (settings.web.public_url if over_http else "")), nl=False)


@slack.command("check", epilog=format_examples("argot slack check"))
def check(home: Home = None) -> None:
    """See whether the tokens work and the app may do what it needs. Exit code 1 if not."""
    from argot.slack.slack_check import check_slack
    from argot.ui.translation.finding_texts import translate_finding, translate_finding_line

    findings = check_slack(read_settings(home))
    for one in findings:
        mark = "ok  " if one["ok"] else "BAD "
        say(f"{mark} {translate_finding_line(one['name'], one['detail'])}")
        if one["remedy"]:
            say(f"      {translate_finding(one['remedy'])}")
    if not all(one["ok"] for one in findings):
        raise typer.Exit(1)


@channel.command(
    "set",
    epilog=format_examples(
        "argot slack channel set C0123ABC --mode questions --context NAND",
        "argot slack channel set C0123ABC --group hr --replies ephemeral",
    ),
)
def set_channel(  # noqa: PLR0917
    channel: ChannelId,
    mode: Annotated[
        str | None, typer.Option("--mode", help="mention (only when mentioned), questions, all, or off.")
    ] = None,
    replies: Annotated[
        str | None, typer.Option("--replies", help="thread (all see them) or ephemeral (the asker alone).")
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            help="Everybody in it is shown what this group may read; repeatable; '' for none.",
            metavar="GROUP",
        ),
    ] = None,
    context: Annotated[str | None, typer.Option("--context", help="The context it is at home in; '' for none.")] = None,
    profile: Annotated[str | None, typer.Option("--profile", help="The profile of its answers; '' for none.")] = None,
    home: Home = None,
) -> None:
    """Say how a channel is answered; what is left out stays as it is."""
    from argot.service.usecases.usecase_registry import find_choice
    from argot.slack.usecases.slack_channels import MODES, REPLIES, slack_channel_set

    # --group '' alone empties the list, and no --group leaves it as it is.
    groups = None if group is None else [one for one in group if one]
    with open_knowledge_base(home) as client:
        made = client.call(
            slack_channel_set,
            channel=channel,
            # Checked here: the use case takes only the known words, and mypy wants to see that.
            mode=None if mode is None else find_choice(MODES, mode, "--mode"),
            replies=None if replies is None else find_choice(REPLIES, replies, "--replies"),
            groups=groups,
            context=context,
            profile=profile,
        )
    say(_describe_channel(made))
    if made.groups:
        say_aside(
            translate(
                "Everybody in %(channel)s is shown what may be read by: %(groups)s",
                channel=line(made.channel),
                groups=line(", ".join(made.groups)),
            )
        )


@UseCaseCommands(channel, CASES)("slack_channel_list", "argot slack channel list", name="list", json=True)
def list_channels(found: list[Channel], /) -> None:
    """List the channels with settings of their own; others are answered when mentioned, from public documents."""
    rows: list[list[object]] = [
        [one.channel, one.mode, one.replies, ", ".join(one.groups), one.context, one.profile] for one in found
    ]
    print_table(["channel", "mode", "replies", "groups", "context", "profile"], rows)


@UseCaseCommands(channel, CASES)("slack_channel_forget", "argot slack channel forget C0123ABC", name="forget")
def forget_channel(_: ForgottenChannel, /, channel: ChannelId) -> None:
    """Answer a channel as any other again."""
    say(translate("Channel %(channel)s is answered when mentioned, from public documents.", channel=line(channel)))


@people.command("link", epilog=format_examples("argot slack people link U0123ABC ann"))
def link(
    member: SlackUser,
    user: Annotated[str, typer.Argument(help="The user of Argot.", metavar="USER")],
    team: Team = None,
    home: Home = None,
) -> None:
    """Say which user a member is. Without that it is the user called as the member's e-mail address."""
    from argot.slack.usecases.slack_channels import slack_people_link

    with open_knowledge_base(home) as client:
        client.call(slack_people_link, team=team or _find_team(home), slack_user=member, user=user)
    say(
        translate(
            "%(member)s is %(user)s: in direct messages they are shown what %(user)s may read.",
            member=line(member),
            user=line(user),
        )
    )


@people.command("unlink", epilog=format_examples("argot slack people unlink U0123ABC"))
def unlink(member: SlackUser, team: Team = None, home: Home = None) -> None:
    """Take that back."""
    from argot.slack.usecases.slack_channels import slack_people_unlink

    with open_knowledge_base(home) as client:
        client.call(slack_people_unlink, team=team or _find_team(home), slack_user=member)
    say(translate("%(member)s is linked with nobody.", member=line(member)))


@UseCaseCommands(people, CASES)("slack_people_list", "argot slack people list", name="list", json=True)
def list_people(found: list[LinkedPerson], /) -> None:
    """List who was linked by hand."""
    print_table(["team", "slack_user", "user"], [[one.team, one.slack_user, one.user] for one in found])


def _find_team(home: Home) -> str:
    from argot.slack.slack_check import find_bot_team

    # Asked of Slack: the token does not say it.
    return find_bot_team(read_settings(home))


def _describe_channel(made: Channel) -> str:
    template = "Channel %(channel)s: %(mode)s, replies %(replies)s"
    parts = [translate(template, channel=line(made.channel), mode=made.mode, replies=made.replies)]
    parts += [
        f"{translate(name)} {line(value)}"
        for name, value in (("context", made.context), ("profile", made.profile))
        if value
    ]
    return ", ".join(parts)
