"""Missed terms and proposals as use cases return them, and the outcome of decisions on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from argot.jargon_db.store.misses import MissRecord
from argot.jargon_db.store.proposal_rows import Origin, Proposal, ProposalStatus
from argot.service.usecases.glossary.sense_results import SenseShown
from argot.types import Audience

# For the surfaces, which may not import the glossary's own modules.
__all__ = ["MissRecord", "Proposal"]

Sureness = Literal["sure", "likely", "unsure", "unrated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMiss(MissRecord):
    """A missed term with its open proposals and the closest known terms, the closest first."""

    proposals: list[Proposal]
    similar: list[str]


@dataclass(frozen=True, slots=True)
class DismissedTerm:
    """A term that needs no meaning."""

    term: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Quotation of a passage about a term. If the passage is deleted, `document` and `heading` are empty and `page`
    None.
    """

    passage_id: str
    quote: str
    document: str
    heading: str
    page: int | None


@dataclass(frozen=True, slots=True)
class CommentShown:
    """A comment on a proposal. `who`: its author; empty for those who may not know. `at` is ISO, UTC."""

    who: str
    words: str
    at: str


@dataclass(frozen=True, slots=True)
class ProposalShown:
    """A proposed meaning, as in `Proposal`, with the information for a decision: the places of its evidence, its
    certainty, how many questions missed its term (`asked`), and how many people wait for a decision (`waiting`): those
    who asked, suggested or confirmed.

    `score` is in [0, 1], None: unknown. `created` and `decided` are ISO, UTC. `sense`: the sense it became.
    """

    id: int
    term: str
    context: str | None
    expansion: str
    description: str
    evidence: list[Evidence]
    origin: Origin
    status: ProposalStatus
    created: str
    created_by: str
    audience: Audience
    decided: str | None
    decided_by: str | None
    why: str
    sense: int | None
    score: float | None
    reviewer: str
    suggestions: int
    confirmations: int
    sure: Sureness
    asked: int
    waiting: int
    comments: list[CommentShown]


@dataclass(frozen=True, slots=True)
class ScoreLevel:
    """Number of open proposals that have at least the score `least`, in [0, 1]."""

    name: str
    least: float
    count: int


@dataclass(frozen=True, slots=True)
class OfferPage:
    """Some of the open proposals. `total`: how many have the requested text and score; `all`: how many there are."""

    proposals: list[ProposalShown]
    total: int
    all: int
    levels: list[ScoreLevel]


@dataclass(frozen=True, slots=True)
class LeftProposal:
    """A proposal that could not be accepted; `term` is empty if there is no such proposal."""

    id: int
    term: str
    reason: str


@dataclass(frozen=True, slots=True)
class AcceptedProposals:
    """The new senses, the proposals that were left, and the change (None: there was none)."""

    senses: list[SenseShown]
    left: list[LeftProposal]
    change: int | None


@dataclass(frozen=True, slots=True)
class LeftSense:
    """A sense that could not be approved."""

    id: int
    reason: str


@dataclass(frozen=True, slots=True)
class ApprovedSenses:
    """The senses that answer questions now, and those that could not be approved."""

    senses: list[SenseShown]
    left: list[LeftSense]


@dataclass(frozen=True, slots=True)
class DecidedProposal:
    """The number of a proposal that was dismissed or reopened."""

    id: int


@dataclass(frozen=True, slots=True)
class ToDo:
    """Numbers of open misses and proposals, and of draft senses; `senses`: 1 if there is any, else 0; `documents`:
    their number.
    """

    misses: int
    proposals: int
    drafts: int
    senses: int
    documents: int
