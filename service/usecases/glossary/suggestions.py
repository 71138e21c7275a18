"""Suggestions: everybody proposes meanings, confirms those of others and comments on them; managers decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from argot.jargon_db.store.proposal_rows import Proposal, ProposalStatus
from argot.service.glossary_review import miss_loop, suggestion_digest
from argot.service.glossary_review.suggestion_digest import SentDigest
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.proposal_results import CommentShown, Evidence
from argot.service.usecases.glossary.proposals import ProposalId, glossary_proposal
from argot.service.usecases.glossary.senses import Word, Words
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import Principal

if TYPE_CHECKING:
    from argot.jargon_db.store.suggestions import Voice

__all__ = ["SentDigest"]

MAX_OWN = 50
"""Own suggestions in the list, the latest."""
Comment = Annotated[Text, Field(max_length=10_000)]


@dataclass(frozen=True, slots=True)
class SuggestionShown:
    """A proposed meaning as everybody who may read it sees it: people's names are for managers alone.

    `own`: the caller suggested it. `confirmed`: the caller confirmed it. `confirmations`: how many people did.
    `why`: the reason for the decision, mostly for a rejection. `created` is ISO, UTC.
    """

    id: int
    term: str
    context: str | None
    expansion: str
    description: str
    evidence: list[Evidence]
    status: ProposalStatus
    created: str
    own: bool
    confirmed: bool
    confirmations: int
    reviewer: str
    why: str
    comments: list[CommentShown]


@usecase("asker")
async def term_suggest(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    term: Word,
    expansion: Words = "",
    context: Text = "",
    description: Words = "",
) -> SuggestionShown:
    """Suggest what a term means. Those who look after the glossary decide on it.

    `expansion`: what it stands for; `description`: what it is, in a sentence; one of the two is enough. The readers of
    `context` may read the suggestion; without a context everybody may. What the documents say about the term is added
    as evidence. The same suggestion of another person confirms it.
    """
    suggest = kb.glossary.suggestions.suggest
    made = await kb.blocking(suggest, principal, term, expansion, context=context, description=description)
    await kb.blocking(_add_evidence, kb, term)
    return await _show(kb, principal, made.id)


@usecase("asker")
async def term_suggestions(kb: KnowledgeBase, principal: Principal, *, term: Words = "") -> list[SuggestionShown]:
    """List the open proposals for a term that the caller may read; without a term, the caller's own suggestions in any
    state, the latest first.
    """
    if term.strip():
        found: Sequence[Proposal] = await kb.blocking(kb.glossary.proposals.find, principal, "open", term)
    else:
        found = await kb.blocking(kb.glossary.suggestions.list_own, principal, MAX_OWN)
    return [await _show(kb, principal, one.id) for one in found[:MAX_OWN]]


@usecase("asker")
async def term_confirm(kb: KnowledgeBase, principal: Principal, *, proposal_id: ProposalId) -> SuggestionShown:
    """Confirm that a term means what a proposal says."""
    await kb.blocking(kb.glossary.suggestions.confirm, principal, proposal_id)
    return await _show(kb, principal, proposal_id)


@usecase("asker")
async def term_comment(
    kb: KnowledgeBase, principal: Principal, *, proposal_id: ProposalId, words: Comment
) -> SuggestionShown:
    """Comment on an open proposal. Everybody who may read it reads the comment."""
    await kb.blocking(kb.glossary.suggestions.comment, principal, proposal_id, words)
    return await _show(kb, principal, proposal_id)


@usecase("manager")
async def glossary_review(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    proposal_id: ProposalId,
    reviewer: Annotated[Text, Field(max_length=200)] = "",
) -> SuggestionShown:
    """Name the person who looks at a proposal; empty: nobody yet."""
    await kb.blocking(kb.glossary.suggestions.assign, principal, proposal_id, reviewer)
    return await _show(kb, principal, proposal_id)


@usecase("admin")
async def glossary_digest(kb: KnowledgeBase, principal: Principal) -> list[SentDigest]:
    """Send the digests of new suggestions to the contacts of the contexts by mail now; normally it is done daily."""
    return await suggestion_digest.send_mails(kb, at_once=True)


def _add_evidence(kb: KnowledgeBase, term: str) -> None:
    """Search the documents for meanings of the term, unless that was done before. Each has its documents' readers."""
    offered = kb.glossary.proposals.find(miss_loop.LOOP, None, term)
    if all(one.origin == "person" and not one.evidence for one in offered):
        miss_loop.propose_meanings(kb.document_store, kb.glossary, miss_loop.LOOP, term)


async def _show(kb: KnowledgeBase, principal: Principal, number: int) -> SuggestionShown:
    # The function itself, because role and count are those of this use case.
    found = await glossary_proposal.function(kb, principal, proposal_id=number)
    voices = (await kb.blocking(kb.glossary.suggestions.list_voices, [number])).get(number, [])
    return SuggestionShown(
        id=found.id,
        term=found.term,
        context=found.context,
        expansion=found.expansion,
        description=found.description,
        evidence=found.evidence,
        status=found.status,
        created=found.created,
        own=_has_said(voices, principal, "suggest"),
        confirmed=_has_said(voices, principal, "confirm"),
        confirmations=found.confirmations,
        reviewer=found.reviewer,
        why=found.why,
        comments=[
            CommentShown(one.who if principal.is_manager or one.who == principal.name else "", one.words, one.at)
            for one in found.comments
        ],
    )


def _has_said(voices: Sequence[Voice], principal: Principal, kind: str) -> bool:
    return any(one.person == principal.name and one.kind == kind for one in voices)
