"""Insight into questions and their outcomes, as managers see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

OutcomeName = Literal["answered", "unsure", "judged wrong", "unanswered", "asked back", "small talk", "failed"]


@dataclass(frozen=True, slots=True)
class DayCount:
    """The questions of a day (2027-01-31, UTC), how many of them had no answer, and all by surface."""

    day: str
    questions: int
    unanswered: int
    surfaces: dict[str, int]


@dataclass(frozen=True, slots=True)
class OutcomeShare:
    """Number of questions with one outcome, and their share, from 0 to 1.

    `unsure`: the answer called itself a weak match. `judged wrong`: somebody's thumb points down. Neither counts as
    answered. `asked back`: they wait for a choice.
    """

    name: OutcomeName
    questions: int
    share: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Half of the answers took at most `p50` seconds, 95 percent at most `p95`; None: none was measured."""

    p50: float | None = None
    p95: float | None = None


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Calls to the language model, how many of them failed, and tokens in both directions."""

    calls: int = 0
    failed: int = 0
    sent: int = 0
    received: int = 0


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """Totals of the questions of a period. `asked_back`: those for which Argot asked the asker at all."""

    questions: int
    days: list[DayCount]
    surfaces: dict[str, int]
    outcomes: list[OutcomeShare]
    asked_back: int
    first_word: Wait
    whole_answer: Wait
    model: ModelUse


@dataclass(frozen=True, slots=True)
class UnansweredGroup:
    """Questions about one subject that had no answer. `last`: the day of the latest.

    `typical`: the one most similar to the others, among those with readable wording; empty: none is readable.
    `examples` are further ones. `terms`: frequent in the group.
    """

    questions: int
    readable: int
    last: str
    typical: str = ""
    examples: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The groups, the largest first. `looked_at`: the latest questions that were grouped, of all existing ones.

    `unnamed`: those in no group here, because nobody shared the wording and few used the same terms.
    """

    looked_at: int
    groups: list[UnansweredGroup]
    unnamed: int


@dataclass(frozen=True, slots=True)
class ThumbReason:
    """Reason that somebody entered for a thumb (`value`: 1 or -1) and shared, with the question. `at`: ISO, UTC."""

    value: int
    comment: str
    question: str
    at: str


@dataclass(frozen=True, slots=True)
class Thumbs:
    """Thumbs, and the latest reasons that their askers shared; without them for managers of some contexts."""

    up: int
    down: int
    reasons: list[ThumbReason]


@dataclass(frozen=True, slots=True)
class DocumentCount:
    """A readable document, by id, and how many answers of the period cite it."""

    document: str
    name: str
    answers: int


@dataclass(frozen=True, slots=True)
class DocumentsUsed:
    """The most cited documents, and those that no answer ever cited: `never` of them, here a page from `start` on."""

    cited: list[DocumentCount]
    cited_in_all: int
    never: int
    start: int
    never_cited: list[DocumentCount]


@dataclass(frozen=True, slots=True)
class TermCount:
    """An unknown term, and the number of the period's questions with it."""

    term: str
    questions: int


@dataclass(frozen=True, slots=True)
class Insight:
    """Questions from the day `since` to the day `until` (both included, UTC), and their outcomes.

    `counted_from`: the day of the first question ever recorded; empty: none was.
    """

    since: str
    until: str
    counted_from: str
    counts: QuestionCounts
    unanswered: Unanswered
    thumbs: Thumbs
    documents: DocumentsUsed
    missed: list[TermCount]
