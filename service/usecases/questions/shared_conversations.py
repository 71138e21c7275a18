"""Conversations shared by a link: made and withdrawn by their owner, read by others with their own rights."""

from __future__ import annotations

from dataclasses import dataclass

from argot.errors import InvalidInput, NotAllowed, NotFound
from argot.languages.catalogues import format_local_number, translate
from argot.results import AskResult
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.threads.shared_links import MAX_LINKS, SharedLink
from argot.service.usecases.questions.questions import run_context
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import LOCAL_NAME, Principal

__all__ = ["SharedLink"]

WITHHELD = "*You may not read this source.*"
"""The text in place of sentences whose sources a reader may not read, or that are no longer there."""
SHARED = "/shared"
"""The address below which shared conversations are opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSharedLink(SharedLink):
    """A new link. `address` holds its secret, which cannot be shown again."""

    address: str


@dataclass(frozen=True, slots=True)
class SharedConversation:
    """A shared conversation as its reader may see it. `by`: who shared it."""

    title: str
    by: str
    at: str
    turns: list[AskResult]


@usecase("asker")
async def thread_link_add(kb: KnowledgeBase, principal: Principal, *, thread: Text) -> NewSharedLink:
    """Share a conversation of one's own by a link, as it is now: later questions are not shared.

    Whoever signs in and has the link reads the questions, and of each answer what they may read. `address` is returned
    only now.

    Raises:
        NotAllowed: sharing is switched off.
    """
    from argot.graph.run import read_last_turn

    if not kb.settings.web.share_conversations:
        raise NotAllowed(
            translate("Conversations are not shared by links here: the setting 'share_conversations' is off.")
        )
    threads = await kb.threads()
    found = await threads.own(principal.name, thread)
    last = await read_last_turn(await kb.graph(), await run_context(kb, principal, thread=found), found.id)
    if last is None:
        raise InvalidInput(translate("Nothing was asked in this conversation yet, so there is nothing to share."))
    if len(await threads.links.of(principal.name)) >= MAX_LINKS:
        text = "You have %(number)s links already. Withdraw some: argot threads unlink LINK"
        raise InvalidInput(translate(text, number=format_local_number(MAX_LINKS)))
    made, secret = await threads.links.make(found.id, last.result.turn)
    return NewSharedLink(
        **read_dataclass_fields(made), address=f"{kb.settings.web.public_url.rstrip('/')}{SHARED}/{secret}"
    )


@usecase("asker")
async def thread_link_list(kb: KnowledgeBase, principal: Principal) -> list[SharedLink]:
    """List the links by which the caller shares conversations, the newest first."""
    return await (await kb.threads()).links.of(principal.name)


@usecase("asker")
async def thread_link_withdraw(kb: KnowledgeBase, principal: Principal, *, link: Text) -> SharedLink:
    """Withdraw a link (by its id): from now on nobody reads the conversation by it."""
    return await (await kb.threads()).links.withdraw(principal.name, link)


@usecase("asker")
async def shared_read(kb: KnowledgeBase, principal: Principal, *, secret: Text) -> SharedConversation:
    """Read a conversation that somebody shared, by the secret at the end of its link.

    Each sentence of an answer is shown if the caller may read every source it rests on; a remark stands in place of the
    others. Files of the conversation are nobody's but its owner's.

    Raises:
        NotFound: the link was withdrawn or never existed, its owner is suspended, or sharing is switched off.
    """
    from argot.graph.run import read_thread

    threads = await kb.threads()
    opened = await threads.links.find(secret)
    owner = await kb.blocking(kb.people.find, opened.owner)
    if not kb.settings.web.share_conversations or (owner and owner.suspended_at):
        raise NotFound(
            translate("This link leads nowhere: it was withdrawn, or is misspelt. Ask its sender for another.")
        )
    # Without the thread: its files and settings are its owner's.
    run = await run_context(kb, principal)
    state = await read_thread(await kb.graph(), run, opened.link.thread, withheld=WITHHELD)
    turns = [_reduce_turn(one) for one in state.turns if one.turn <= opened.link.last_turn]
    by = owner.display_name or owner.name if owner else "" if opened.owner == LOCAL_NAME else opened.owner
    return SharedConversation(opened.link.title, by, opened.link.at, turns)


def _reduce_turn(turn: AskResult) -> AskResult:
    """Return the question and the answer alone: how it was found is its owner's, such as the tags that they chose."""
    return AskResult(
        question=turn.question,
        # A model wrote it from earlier answers, which may say more than this reader may read.
        stand_alone_question="",
        status=turn.status,
        thread="",
        turn=turn.turn,
        answer=turn.answer,
        is_weak=turn.is_weak,
        answered_by=turn.answered_by,
        verified=turn.verified,
        sentences=turn.sentences,
        jargon=[one for one in turn.jargon if one.sense_id],
        passages=turn.cited_passages or turn.nearest_passages,
        examples=turn.examples,
    )
