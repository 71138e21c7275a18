"""The loop from a missed term to a meaning: drafts from the documents, effects, and notifying the askers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from argot.errors import InvalidInput
from argot.service.glossary_review import combined_impact as together
from argot.service.glossary_review import impact as tried
from argot.service.glossary_review import miss_loop
from argot.service.glossary_review.impact_results import CombinedImpact, Impact, QuestionAsRead, QuestionImpact
from argot.service.glossary_review.miss_loop import TermNews
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.proposal_results import ProposalShown
from argot.service.usecases.glossary.proposals import ProposalId, glossary_proposal
from argot.service.usecases.glossary.senses import SenseFields, SenseId, Words
from argot.service.usecases.questions.profiles import get_profile
from argot.service.usecases.usecase_registry import Number, Text, usecase
from argot.types import Principal

__all__ = ["CombinedImpact", "QuestionAsRead", "QuestionImpact", "TermNews"]

MAX_TEXT_CHARS = 2000
"""Characters from which a context is guessed."""
Questions = Annotated[list[Text], Field(max_length=1000)]


@usecase("manager")
async def glossary_propose(kb: KnowledgeBase, principal: Principal, *, term: Words) -> list[ProposalShown]:
    """Search the documents for the meaning of a term, and propose it.

    If there is a language model, it reads the documents, too. Returns the open proposals for the term, each with its
    evidence. None: no document that the caller may read explains it.
    """
    if not term.strip():
        raise InvalidInput("The term is empty. Name the one to look for.")
    by = principal.name
    await kb.blocking(miss_loop.propose_meanings, kb.document_store, kb.glossary, principal, term, created_by=by)
    await miss_loop.define(kb, principal, term)
    found = await kb.blocking(kb.glossary.proposals.find, principal, "open", term)
    # The function itself, because role and count are those of this use case.
    return [await glossary_proposal.function(kb, principal, proposal_id=one.id) for one in found]


@usecase("manager")
async def glossary_effects(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    sense_id: SenseId | None = None,
    proposal_id: ProposalId | None = None,
    context: Words = "",
    change: Literal["approve", "retire"] = "approve",
    questions: Questions | None = None,
) -> Impact:
    """Show how approving (or retiring) a sense, or accepting a proposal, would change past questions.

    Nothing is stored. The questions are the caller's own, those that askers shared, and those given here. `rows`: each
    with `before` and `after`, those that change first.

    Raises:
        InvalidInput: neither or both of sense and proposal are named.
    """
    if (sense_id is None) == (proposal_id is None):
        raise InvalidInput("Name either a sense or a proposal, to see what it would change.")
    if proposal_id is not None:
        wanted = await kb.blocking(tried.plan_acceptance, kb.glossary, principal, proposal_id, context)
    else:
        assert sense_id is not None
        make = tried.plan_approval if change == "approve" else tried.plan_retirement
        wanted = await kb.blocking(make, kb.glossary, principal, sense_id)
    return await tried.measure_effects(kb, principal, wanted, questions or ())


@usecase("manager")
async def glossary_effects_together(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    senses: Annotated[list[tuple[SenseId, Number]], Field(max_length=10_000)] | None = None,
    proposal_ids: Annotated[list[ProposalId], Field(max_length=10_000)] | None = None,
    context: Words = "",
) -> CombinedImpact:
    """Show how approving several drafts, or accepting several proposals, would change past questions.

    Each draft is named with the version that the caller saw; proposals are treated as approved meanings. Nothing is
    stored. The result is as for `glossary_effects`, with `tried` (how many were tried) and `not_tried` (how many were
    left out).

    Raises:
        InvalidInput: neither or both of senses and proposals are named.
    """
    if (senses is None) == (proposal_ids is None):
        raise InvalidInput("Name either drafts or proposals, to see what they would change.")
    most = together.MAX_SENSES
    if senses is not None:
        count: int = len(senses)
        wanted = await kb.blocking(together.plan_approvals, kb.glossary, principal, senses[:most])
    else:
        assert proposal_ids is not None
        count = len(proposal_ids)
        # A sense needs a context: until one is chosen, the effects are computed in one that this person manages.
        home = context.strip() or ("General" if principal.manages_all else min(principal.manages, default=""))
        wanted = await kb.blocking(together.plan_acceptances, kb.glossary, principal, proposal_ids[:most], home)
    found = await tried.measure_effects(kb, principal, wanted, seconds=together.SECONDS)
    return CombinedImpact(**read_dataclass_fields(found), tried=min(count, most), not_tried=max(count - most, 0))


@usecase("manager")
async def glossary_edit_effects(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    sense_id: SenseId,
    version: Number,
    sense: SenseFields,
    questions: Questions | None = None,
) -> Impact:
    """Show how saving this edit (as `glossary_save` would) would change past questions; nothing is stored.

    Raises:
        Conflict, InvalidInput, NotAllowed, NotFound: what saving would raise.
    """
    wanted = await kb.blocking(tried.plan_edit, kb.glossary, principal, sense_id, version, sense.given_values)
    return await tried.measure_effects(kb, principal, wanted, questions or ())


@usecase("manager")
async def glossary_likely_context(kb: KnowledgeBase, principal: Principal, *, texts: Questions) -> str:
    """Return the context to which questions or passages around a term most likely belong; empty if there is none.

    Only contexts that the caller manages are considered. It is a suggestion; a person decides.
    """
    from argot.graph.run_context import build_extractive_context

    known = await kb.blocking(kb.glossary.contexts.all, principal)
    contexts = [one for one in known if principal.may_manage(one.name)]
    joined_text = "\n".join(text.strip() for text in texts if text.strip())[:MAX_TEXT_CHARS]
    # No choice: the corpus and the reader need not be loaded.
    if len(contexts) < 2 or not joined_text:
        return contexts[0].name if len(contexts) == 1 else ""
    corpus = await kb.load()
    profile = await get_profile(kb.profiles, kb.settings.profile)
    # The extractive reader: a suggestion in a form is not worth a call of the model.
    run = build_extractive_context(corpus, kb.glossary, principal, profile, kb.settings)
    scores = await run.reader.identify_context(joined_text, contexts)
    return scores[0].context if scores else ""


# -- for askers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SharedQuestions:
    """Number of questions of a thread that the glossary's managers may read from now on, or no longer."""

    thread: str
    shared: bool
    questions: int


@usecase("asker")
async def thread_news(kb: KnowledgeBase, principal: Principal, *, thread: Text) -> list[TermNews]:
    """List the news for the asker in this thread since it was last read: missed terms that now have a meaning.

    Each is returned once, with `term`, the `question` that missed it, and those of its `senses` that the caller may
    read.
    """
    threads = await kb.threads()
    # Only for its error: another's thread is not found.
    await threads.own(principal.name, thread)
    return await kb.blocking(miss_loop.take_news, kb, principal, thread)


@usecase("asker")
async def thread_share(kb: KnowledgeBase, principal: Principal, *, thread: Text, share: bool = True) -> SharedQuestions:
    """Let the glossary's managers read the questions of this thread that met unknown terms, or stop it.

    Questions that are not shared are only counted. Nothing else of the thread is shared.
    """
    threads = await kb.threads()
    # Only for its error: another's thread is not found.
    await threads.own(principal.name, thread)
    count = await kb.blocking(kb.glossary.misses.share, principal.name, thread, shared=share)
    return SharedQuestions(thread, share, count)
