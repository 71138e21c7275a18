"""The scope and the conversation in which a question from Slack is answered.

Messages for a whole channel rest on documents open to everyone, and on those of the groups an administrator gave the
channel. Messages for one person rest on documents that person may read; for an unknown person, on those open to
everyone. No user can be called what these are called: a name holds no colon.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from argot.errors import NotAllowed, NotFound
from argot.service.glossary_review.miss_loop import TermNews, take_news
from argot.service.knowledge_base import KnowledgeBase
from argot.slack.store.slack_store import PUBLIC, Channel, SlackStore, SlackThread
from argot.types import Principal


@dataclass(frozen=True, slots=True)
class Scope:
    """The readers of an answer, and the rights it may rest on. `known`: the principal is a user of Argot."""

    key: str
    principal: Principal
    known: bool = False

    @property
    def public(self) -> bool:
        return self.key == PUBLIC


def make_stranger(team: str, slack_id: str, groups: frozenset[str] = frozenset()) -> Principal:
    return Principal(f"slack:{team}:{slack_id}", groups)


def build_public_scope(team: str, channel: Channel, *, outsiders: bool) -> Scope:
    """Build the scope of a channel. If people of other companies read along, its groups do not count."""
    groups = frozenset() if outsiders else frozenset(channel.groups)
    return Scope(PUBLIC, make_stranger(team, channel.channel, groups))


def find_user(kb: KnowledgeBase, team: str, slack_user: str, email: str = "") -> str | None:
    """Find a Slack person's user of Argot: the one they were linked with, else the one named by their address."""
    linked = SlackStore(kb.people.database).find_linked_user(team, slack_user)
    if linked is not None or not email or not kb.settings.slack.link_by_email:
        return linked
    same = [user.name for user in kb.people.users() if user.name.casefold() == email.casefold()]
    # If two names differ only in capitals neither is taken, rather than perhaps the wrong one.
    return same[0] if len(same) == 1 else None


def build_own_scope(kb: KnowledgeBase, team: str, slack_user: str, email: str = "") -> Scope:
    """Build the scope of one person.

    Raises:
        NotAllowed: the user is suspended.
    """
    user = find_user(kb, team, slack_user, email)
    if user is None:
        return Scope(slack_user, make_stranger(team, slack_user))
    return Scope(slack_user, kb.people.principal(user), known=True)


async def find_context(kb: KnowledgeBase, principal: Principal, name: str) -> str | None:
    """Find the context of this name, if the principal may know of it."""
    if not name:
        return None
    contexts = await kb.blocking(kb.glossary.contexts.all, principal)
    return next((one.name for one in contexts if one.name.casefold() == name.casefold()), None)


async def find_thread(
    kb: KnowledgeBase, scope: Scope, team: str, *, channel: str, ts: str, question: str
) -> tuple[SlackThread, bool]:
    """Find the conversation of a Slack thread as this scope sees it, and tell whether it begins now."""
    threads = await kb.threads()
    kept = await kb.blocking(SlackStore(kb.people.database).find_thread, team, channel, ts, scope.key)
    # A person who has been linked with a user since then begins a conversation as that user.
    if kept is not None and kept.owner == scope.principal.name:
        try:
            await threads.own(kept.owner, kept.thread)
            return kept, False
        except NotFound:  # deleted by its owner
            pass
    begun = await threads.start(scope.principal.name, question)
    made = SlackThread(team, channel, ts, scope.key, begun.id, scope.principal.name)
    await kb.blocking(SlackStore(kb.people.database).keep_thread, made)
    return made, True


async def find_news(kb: KnowledgeBase) -> AsyncIterator[tuple[SlackThread, TermNews]]:
    """Find the news for Slack's threads: terms asked for there that have a meaning now. Each is given once."""
    store = SlackStore(kb.people.database)
    for owner in await kb.blocking(store.list_owners):
        untold = {miss.thread for miss in await kb.blocking(kb.glossary.misses.list_untold, owner)}
        held = await kb.blocking(store.list_threads, owner) if untold else {}
        for thread in sorted(untold & held.keys()):
            principal = await kb.blocking(_find_owner, kb, held[thread])
            if principal is not None:
                for one in await kb.blocking(take_news, kb, principal, thread):
                    yield held[thread], one


def _find_owner(kb: KnowledgeBase, thread: SlackThread) -> Principal | None:
    """Find the owner of a conversation with their present rights; None: nothing may be sent to them now."""
    if thread.public:
        # The present members of the channel are unknown here: as if people of other companies read along.
        return build_public_scope(
            thread.team, SlackStore(kb.people.database).get_channel(thread.channel), outsiders=True
        ).principal
    if thread.owner == make_stranger(thread.team, thread.scope).name:
        return make_stranger(thread.team, thread.scope)
    try:
        return kb.people.principal(thread.owner)
    except (NotFound, NotAllowed):
        return None


async def note_heard(kb: KnowledgeBase, thread: SlackThread, ts: str) -> None:
    """Note that the conversation knows the Slack thread up to this message."""
    # Messages may be handled out of order. Slack's times can be compared as text.
    await kb.blocking(SlackStore(kb.people.database).keep_thread, replace(thread, last_ts=max(ts, thread.last_ts)))
