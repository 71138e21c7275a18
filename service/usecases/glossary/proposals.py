"""Work of managers: undefined terms that people asked for, and meanings that were proposed for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.jargon_db.glossary import Glossary
from argot.jargon_db.lookup.normalise import normalise
from argot.service.glossary_review.document_mining import LIKELY, SURE
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.proposal_results import (
    AcceptedProposals,
    ApprovedSenses,
    CommentShown,
    DecidedProposal,
    DismissedTerm,
    Evidence,
    LeftProposal,
    LeftSense,
    MissRecord,
    OfferPage,
    Proposal,
    ProposalShown,
    QueuedMiss,
    ScoreLevel,
    Sureness,
    ToDo,
)
from argot.service.usecases.glossary.sense_results import SenseShown, show_sense
from argot.service.usecases.glossary.senses import Limit, SenseFields, SenseId, Words
from argot.service.usecases.usecase_registry import Count, Number, Text, usecase
from argot.types import Document, Passage, Principal, SenseStatus

ProposalId = Number
Score = Annotated[float, Field(ge=0, le=1)]
SCORES: dict[Sureness, float] = {"sure": SURE, "likely": LIKELY}


@dataclass(frozen=True, kw_only=True)
class EditedProposal(SenseFields):
    """Fields of a sense that may differ from its proposal, which has no notes."""

    notes: Words = ""


@usecase("manager")
async def glossary_misses(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    status: Literal["open", "dismissed", "defined"] | None = "open",
    term: Words | None = None,
) -> list[MissRecord]:
    """List terms that people asked for and nobody has defined, the most wanted first.

    `status` null: also terms that have been dealt with. Questions are shown to those who may read them. With `term`
    only that one, in any spelling.
    """
    found = await kb.blocking(kb.glossary.misses.find, principal, status)
    return [miss for miss in found if term is None or normalise(miss.term) == normalise(term)]


@usecase("manager")
async def glossary_queue(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    status: Literal["open", "dismissed", "defined"] | None = "open",
    limit: Limit = 50,
    similar: bool = True,
) -> list[QueuedMiss]:
    """List the next tasks: the first of `glossary_misses`, each with its open `proposals`.

    Each also has the closest known terms (`similar`, which takes a moment for each and can be turned off).
    """

    def list_queue() -> list[QueuedMiss]:
        glossary = kb.glossary
        offered = _group_by_key(glossary.proposals.find(principal))
        return [
            QueuedMiss(
                **read_dataclass_fields(miss),
                proposals=offered.get(normalise(miss.term), []),
                similar=glossary.lookup.suggest(principal, miss.term) if similar else [],
            )
            for miss in glossary.misses.find(principal, status)[:limit]
        ]

    return await kb.blocking(list_queue)


@usecase("manager")
async def glossary_dismiss_miss(
    kb: KnowledgeBase, principal: Principal, *, term: Words, why: Words = ""
) -> DismissedTerm:
    """Dismiss a missed term, which needs no meaning, for good."""
    await kb.blocking(kb.glossary.misses.dismiss, principal, term, why)
    return DismissedTerm(term)


@usecase("manager")
async def glossary_proposals(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    status: Literal["open", "accepted", "merged", "dismissed"] | None = "open",
    term: Words | None = None,
) -> list[Proposal]:
    """List proposed meanings, oldest first."""
    return await kb.blocking(kb.glossary.proposals.find, principal, status, term)


@usecase("manager")
async def glossary_offers(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    text: Text = "",
    least: Score = 0.0,
    start: Count = 0,
    limit: Limit = 50,
) -> OfferPage:
    """List the open proposals: those for which most people wait come first, then those for the terms asked for most,
    then the surest.

    `proposals`: each with how often its term was `asked` for, how `sure` it is (sure, likely, unsure) and its
    `evidence` with document and heading; `total`: the number with this text and at least this score; `all`: the number
    of all; `levels`: the numbers of these by how sure they are at least.
    """

    def offers() -> OfferPage:
        every = kb.glossary.proposals.find(principal)
        asked = _find_misses(kb.glossary, principal)
        wanted = [one for one in every if (one.score or 0.0) >= least and _has_text(one, text)]
        # The number is last, so that pages neither repeat nor skip a proposal if all else is equal.
        wanted.sort(key=lambda one: _rank_proposal(one, asked))
        # Evidence is looked up only for this page.
        shown = _show_proposals(kb, principal, wanted[start : start + limit], asked)
        levels = [
            ScoreLevel(name, score, sum((one.score or 0.0) >= score for one in every)) for name, score in SCORES.items()
        ]
        return OfferPage(shown, len(wanted), len(every), levels)

    return await kb.blocking(offers)


@usecase("manager")
async def glossary_proposal(kb: KnowledgeBase, principal: Principal, *, proposal_id: ProposalId) -> ProposalShown:
    """Show one proposal; its evidence has document and heading of each passage that still exists."""
    found = await kb.blocking(kb.glossary.proposals.get, principal, proposal_id)
    (shown,) = await kb.blocking(_show_proposals, kb, principal, [found], {})
    return shown


@usecase("manager")
async def glossary_accept(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    proposal_id: ProposalId,
    sense: EditedProposal,
    status: SenseStatus = "draft",
    why: Words = "",
) -> SenseShown:
    """Create a sense from a proposal, as edited: a draft, unless it is approved at the same time."""
    accept = kb.glossary.proposals.accept
    return show_sense(
        principal, await kb.blocking(accept, principal, proposal_id, **sense.given_values, status=status, why=why)
    )


@usecase("manager")
async def glossary_accept_many(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    proposal_ids: Annotated[list[ProposalId], Field(max_length=10_000)] | None = None,
    least: Score | None = None,
    context: Words = "",
    status: Literal["draft", "approved"] = "draft",
    why: Words = "",
) -> AcceptedProposals:
    """Create senses from several proposals as they are, in one change.

    Instead of their numbers, `least` takes all proposals that are at least so sure. `context` applies to those for
    which none was proposed. `senses`: the new senses; `left`: the proposals that could not be accepted, each with the
    `reason`; `change`: the number with which it can be rolled back, null if nothing was created.
    """
    if (proposal_ids is None) == (least is None):
        raise InvalidInput("Name the proposals to accept, or how sure they have to be.")

    def accept_all() -> AcceptedProposals:
        # Includes decided ones: one that was decided meanwhile is named with its term among those `left`.
        every = {one.id: one for one in kb.glossary.proposals.find(principal, None)}
        ids = proposal_ids
        if ids is None:
            best = sorted(every.values(), key=lambda one: (-(one.score or 0.0), one.id))
            ids = [one.id for one in best if one.status == "open" and (one.score or 0.0) >= (least or 0.0)]
        homeless = [one for number in ids if (one := every.get(number)) and one.status == "open" and not one.context]
        # Raised once and before anything is made, instead of as the reason for each that is left.
        if homeless and not context.strip():
            raise InvalidInput(f"Choose the context in which '{homeless[0].term}' has this meaning.")
        made, left = kb.glossary.proposals.accept_many(principal, ids, context=context, status=status, why=why)
        # All are made in one change, so the newest entry of any of them names it.
        change = kb.glossary.history.entries(principal, sense_id=made[0].id, limit=1)[0].change if made else None
        return AcceptedProposals(
            [show_sense(principal, sense) for sense in made],
            [LeftProposal(one, every[one].term if one in every else "", reason) for one, reason in left],
            change,
        )

    return await kb.blocking(accept_all)


@usecase("manager")
async def glossary_approve_many(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    senses: Annotated[list[tuple[SenseId, Number]], Field(max_length=10_000)],
    why: Words = "",
) -> ApprovedSenses:
    """Approve several drafts, so that they answer questions.

    Each is named with the version that the caller saw. `senses`: those that were approved; `left`: those that could not
    be, each with the `reason`.
    """

    def approve_all() -> ApprovedSenses:
        made: list[SenseShown] = []
        left: list[LeftSense] = []
        for number, version in senses:
            try:
                made.append(show_sense(principal, kb.glossary.senses.approve(principal, number, version, why)))
            # One that was changed meanwhile does not prevent the approval of the others.
            except (Conflict, NotAllowed, NotFound) as error:
                left.append(LeftSense(number, str(error)))
        return ApprovedSenses(made, left)

    return await kb.blocking(approve_all)


@usecase("manager")
async def glossary_merge(
    kb: KnowledgeBase, principal: Principal, *, proposal_id: ProposalId, sense_id: SenseId, why: Words = ""
) -> SenseShown:
    """Make the proposed term an alias of an existing sense."""
    return show_sense(principal, await kb.blocking(kb.glossary.proposals.merge, principal, proposal_id, sense_id, why))


@usecase("manager")
async def glossary_alias(
    kb: KnowledgeBase, principal: Principal, *, term: Words, sense_id: SenseId, version: Number, why: Words = ""
) -> SenseShown:
    """Make a term, for example a missed one, an alias of an existing sense."""
    sense = await kb.blocking(kb.glossary.senses.get, principal, sense_id)
    aliases = [*sense.aliases, term]
    saved = await kb.blocking(kb.glossary.senses.save, principal, sense_id, version=version, aliases=aliases, why=why)
    return show_sense(principal, saved)


@usecase("manager")
async def glossary_dismiss(
    kb: KnowledgeBase, principal: Principal, *, proposal_id: ProposalId, why: Words = ""
) -> DecidedProposal:
    """Dismiss a proposal for good."""
    await kb.blocking(kb.glossary.proposals.dismiss, principal, proposal_id, why)
    return DecidedProposal(proposal_id)


@usecase("manager")
async def glossary_reopen(kb: KnowledgeBase, principal: Principal, *, proposal_id: ProposalId) -> DecidedProposal:
    """Reopen a proposal that was dismissed."""
    await kb.blocking(kb.glossary.proposals.reopen, principal, proposal_id)
    return DecidedProposal(proposal_id)


@usecase("manager")
async def glossary_to_do(kb: KnowledgeBase, principal: Principal) -> ToDo:
    """Count the tasks of a manager: open misses and proposals, drafts, and whether there is any sense or document."""

    def count_all() -> ToDo:
        glossary = kb.glossary
        return ToDo(
            misses=len(glossary.misses.open(principal)),
            proposals=len(glossary.proposals.find(principal)),
            drafts=len(glossary.senses.find(principal, status="draft")),
            # Existence is enough, and saves reading the whole glossary.
            senses=len(glossary.senses.find(principal, limit=1)),
            documents=len(kb.document_store.documents(principal)),
        )

    return await kb.blocking(count_all)


# -- how they look ----------------------------------------------------------------------------------------------------


def _show_proposals(
    kb: KnowledgeBase, principal: Principal, proposals: Sequence[Proposal], asked: Mapping[str, MissRecord]
) -> list[ProposalShown]:
    """Return the proposals, each passage of their evidence with its document and heading, if it still exists."""
    # The passages of all proposals in one look-up; several may quote the same.
    ids = list(dict.fromkeys(passage_id for one in proposals for passage_id, _ in one.evidence))
    held = kb.document_store.passages(principal, ids)
    voices = kb.glossary.suggestions.list_voices(one.id for one in proposals)
    return [
        ProposalShown(
            **{
                **read_dataclass_fields(one),
                "evidence": [
                    _show_evidence(passage_id, quote, held.get(passage_id)) for passage_id, quote in one.evidence
                ],
            },
            sure=_measure_sureness(one.score),
            asked=miss.count if (miss := asked.get(normalise(one.term))) else 0,
            waiting=_count_waiting(one, asked),
            comments=[
                CommentShown(voice.person, voice.words, voice.at)
                for voice in voices.get(one.id, [])
                if voice.words and (voice.kind == "comment" or voice.words != one.description)
            ],
        )
        for one in proposals
    ]


def _show_evidence(passage_id: str, quote: str, held: tuple[Passage, Document] | None) -> Evidence:
    if held is None:
        return Evidence(passage_id, quote, document="", heading="", page=None)
    passage, document = held
    return Evidence(passage_id, quote, document.name, passage.heading, passage.page)


def _measure_sureness(score: float | None) -> Sureness:
    if score is None:
        return "unrated"
    # `SCORES` names the highest first.
    return next((name for name, least in SCORES.items() if score >= least), "unsure")


def _find_misses(glossary: Glossary, principal: Principal) -> dict[str, MissRecord]:
    """Find the record of each missed term, by its normalised form."""
    return {normalise(miss.term): miss for miss in glossary.misses.find(principal)}


def _count_waiting(one: Proposal, asked: Mapping[str, MissRecord]) -> int:
    miss = asked.get(normalise(one.term))
    return (miss.waiting if miss else 0) + one.suggestions + one.confirmations


def _rank_proposal(one: Proposal, asked: Mapping[str, MissRecord]) -> tuple[float | str, ...]:
    miss = asked.get(normalise(one.term))
    return (-_count_waiting(one, asked), -(miss.count if miss else 0), -(one.score or 0.0), one.term, one.id)


def _group_by_key(proposals: Iterable[Proposal]) -> dict[str, list[Proposal]]:
    found: defaultdict[str, list[Proposal]] = defaultdict(list)
    for one in proposals:
        found[normalise(one.term)].append(one)
    return found


def _has_text(one: Proposal, text: str) -> bool:
    wanted = text.strip().casefold()
    return not wanted or wanted in f"{one.term}\n{one.expansion}\n{one.description}".casefold()
