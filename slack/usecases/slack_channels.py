"""Slack: channels' settings, linked people, and continuing in the web window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from argot.errors import InvalidInput, NotFound
from argot.service.identity.people import require_name
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.profiles import get_profile
from argot.service.usecases.usecase_registry import Text, usecase
from argot.slack.slack_scopes import find_context
from argot.slack.store.slack_store import MODES, REPLIES, Channel, Mode, Replies, SlackStore, SlackThread
from argot.types import Principal

__all__ = ["MODES", "REPLIES", "Channel"]

# Slack's ids begin with their kind: C, D and G are conversations, U and W people, T and E workspaces.
ChannelId = Annotated[Text, Field(pattern=r"^[CDG][A-Z0-9]{2,20}$")]
SlackUser = Annotated[Text, Field(pattern=r"^[UW][A-Z0-9]{2,20}$")]
Team = Annotated[Text, Field(pattern=r"^[TE][A-Z0-9]{2,20}$")]


@dataclass(frozen=True, slots=True)
class ForgottenChannel:
    """A channel that is answered as any other again."""

    channel: str


@dataclass(frozen=True, slots=True)
class LinkedPerson:
    """A person in a Slack workspace (`team`), and the user of Argot that they are."""

    team: str
    slack_user: str
    user: str


@dataclass(frozen=True, slots=True)
class UnlinkedPerson:
    """A person in a Slack workspace (`team`) who is no longer linked to a user."""

    team: str
    slack_user: str


@dataclass(frozen=True, slots=True)
class ContinuedThread:
    """The id of a thread of the principal's own that continues a conversation in Slack."""

    thread: str


@usecase("admin")
async def slack_channel_set(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    channel: ChannelId,
    mode: Mode | None = None,
    replies: Replies | None = None,
    groups: Annotated[list[Text] | None, Field(max_length=100)] = None,
    context: Text | None = None,
    profile: Text | None = None,
) -> Channel:
    """Set how Argot answers in a channel; settings left out stay. An empty context or profile removes it.

    `groups`: everybody in the channel sees what these groups may read.
    """
    known = await kb.blocking(SlackStore(kb.people.database).get_channel, channel)
    for group in groups or ():
        require_name("group", group)
    if profile:
        await get_profile(kb.profiles, profile)
    if context and await find_context(kb, principal, context) is None:
        names = ", ".join(one.name for one in await kb.blocking(kb.glossary.contexts.all, principal))
        raise InvalidInput(f"There is no context '{context}'. Contexts: {names or 'none yet'}.")
    made = Channel(
        channel,
        mode or known.mode,
        replies or known.replies,
        known.groups if groups is None else tuple(sorted(set(groups))),
        known.context if context is None else context,
        known.profile if profile is None else profile,
    )
    await kb.blocking(SlackStore(kb.people.database).set_channel, made)
    return made


@usecase("admin")
async def slack_channel_list(kb: KnowledgeBase, principal: Principal) -> list[Channel]:
    """List the channels that have settings.

    In all others Argot answers when it is mentioned, from public documents.
    """
    return await kb.blocking(SlackStore(kb.people.database).list_channels)


@usecase("admin")
async def slack_channel_forget(kb: KnowledgeBase, principal: Principal, *, channel: ChannelId) -> ForgottenChannel:
    """Remove the settings of a channel, so that it is answered like any other."""
    if not await kb.blocking(SlackStore(kb.people.database).forget_channel, channel):
        raise NotFound(f"Nothing was said of the channel '{channel}'. See which: argot slack channel list")
    return ForgottenChannel(channel)


@usecase("admin")
async def slack_people_link(
    kb: KnowledgeBase, principal: Principal, *, team: Team, slack_user: SlackUser, user: Text
) -> LinkedPerson:
    """Link a Slack member to a user: their private answers use what that user may read."""
    # Only for its error: there may be no such user.
    await kb.blocking(kb.people.user, user)
    await kb.blocking(SlackStore(kb.people.database).link, team, slack_user, user)
    return LinkedPerson(team, slack_user, user)


@usecase("admin")
async def slack_people_unlink(
    kb: KnowledgeBase, principal: Principal, *, team: Team, slack_user: SlackUser
) -> UnlinkedPerson:
    """Remove the link of a Slack member to a user."""
    if not await kb.blocking(SlackStore(kb.people.database).unlink, team, slack_user):
        raise NotFound(f"Nobody is linked with '{slack_user}' of {team}. See who is: argot slack people list")
    return UnlinkedPerson(team, slack_user)


@usecase("admin")
async def slack_people_list(kb: KnowledgeBase, principal: Principal) -> list[LinkedPerson]:
    """List the people in Slack whom an administrator linked with users."""
    return [LinkedPerson(*row) for row in await kb.blocking(SlackStore(kb.people.database).list_links)]


@usecase("asker")
async def slack_continue(kb: KnowledgeBase, principal: Principal, *, thread: Text) -> ContinuedThread:
    """Continue a conversation that was begun in Slack as the caller's own: `thread` is its id.

    If it is the caller's already, it is returned as it is. From a channel's conversation a copy is made, the same one
    each time; whoever has its unguessable id was shown it there. The copy shows what its new owner may read.
    """
    store = SlackStore(kb.people.database)
    found = await kb.blocking(store.find_thread_by_id, thread)
    # A conversation with one person is theirs; others may continue one that a whole channel saw.
    if found is None or (not found.public and found.owner != principal.name):
        raise NotFound(f"There is no conversation '{thread}' from Slack that is yours to read.")
    if found.owner == principal.name:
        return ContinuedThread(thread)
    threads = await kb.threads()
    # Slack has no such scope: it finds the copy again, and is never mistaken for a thread there.
    scope = f"web:{principal.name}"
    kept = await kb.blocking(store.find_thread, found.team, found.channel, found.ts, scope)
    if kept is not None:
        try:
            return ContinuedThread((await threads.own(principal.name, kept.thread)).id)
        except NotFound:  # deleted by its owner
            pass
    copied = await _copy_thread(kb, principal, found)
    mine = SlackThread(found.team, found.channel, found.ts, scope, copied, principal.name)
    # A crash before this leaves a copy that is not found again; the next call makes another.
    await kb.blocking(store.keep_thread, mine)
    return ContinuedThread(copied)


async def _copy_thread(kb: KnowledgeBase, principal: Principal, found: SlackThread) -> str:
    """Copy the turns into a new thread of this person's: ids, of which each reader sees only readable ones."""
    threads, graph = await kb.threads(), await kb.graph()
    old = await threads.own(found.owner, found.thread)
    state = await graph.aget_state({"configurable": {"thread_id": found.thread}})
    made = await threads.start(principal.name, old.title)
    if state.values:
        await graph.aupdate_state({"configurable": {"thread_id": made.id}}, state.values, as_node="match_references")
    return made.id
