"""The suite `answers`: is the answer there, is it whole, is it cited rightly, and is nothing said that is not there?

Each question has gold snippets (every item, every step), a reference answer and a kind. Measured is what reaches the
asker: the sentences that are shown as supported. With a server that knows the answers (`known_answers`) the same
questions show where right answers are lost on the way, and which wrong ones get through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from argot.errors import InvalidInput
from argot.evaluate.answer_measures import OUTCOMES, Outcome, answer_outcome, auroc, refused_at, rouge_l, sentence_f1
from argot.evaluate.answer_questions import (
    UNANSWERABLE,
    UNDERSPECIFIED,
    AnswerQuestion,
    GoldSnippet,
    no_such_document,
)
from argot.evaluate.known_answers import HOLDS, Heard, KnownAnswers
from argot.evaluate.measures import HIT_DEPTHS, bootstrap_interval
from argot.evaluate.temporary_base import EVALUATOR, Asker, TemporaryBase
from argot.profile import Profile
from argot.results import AskResult
from argot.tools.answering.support import support
from argot.tools.text.words import bare
from argot.types import Document

if TYPE_CHECKING:
    from argot.tools.llm.model_server import ModelServer

Progress = Callable[[str, int, int], None]
Loss = Literal[
    "reached the asker", "refused before the model was asked", "asked back", "no gold passage in the prompt",
    "replaced or refused behind the model", "sentences left unsupported",
]  # fmt: skip
LOSSES: tuple[Loss, ...] = get_args(Loss)


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What became of one question. `ranks`: the places, from 1, of gold passages among those found."""

    question: AnswerQuestion
    result: AskResult
    outcome: Outcome
    ranks: tuple[int, ...]
    right_citation_first: bool | None
    f1: float | None
    rouge: float | None
    heard: Heard | None = None

    @property
    def evidence(self) -> float:
        """How sure it was that the documents answer: the best passage's score; 0 where none was found."""
        return max((one.score for one in self.result.passages), default=0.0)

    @property
    def loss(self) -> Loss | None:
        """Where the ideal model's answer went; None where no such model answered, or there is nothing to answer."""
        if self.heard is None or not self.question.answerable:
            return None
        if self.outcome == "asked back":
            return "asked back"
        if not self.heard.asked:
            return "refused before the model was asked"
        if not self.heard.gold_shown:
            return "no gold passage in the prompt"
        if self.result.status != "answered" or self.result.answered_by != "model":
            return "replaced or refused behind the model"
        return "reached the asker" if all(s.supported for s in self.result.sentences) else "sentences left unsupported"

    @property
    def lie_shown(self) -> bool | None:
        """Whether the sentence made false was shown as supported; None where nobody lied."""
        if self.heard is None or not self.heard.lie:
            return None
        lie = bare(self.heard.lie)
        return any(s.supported and lie in bare(s.text) for s in self.result.sentences)


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One row of the table: shares over the questions of one kind, and 95 % intervals by bootstrap."""

    questions: int
    outcomes: dict[str, float]
    complete_interval: tuple[float, float]
    right_citation_first: float | None
    sentence_f1: float | None
    rouge_l: float | None
    gold_found: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswersReport:
    """By profile a row by kind, with "all" and "answerable" first; abstention; and what an all-knowing model showed."""

    name: str
    questions: int
    rows: dict[str, dict[str, AnswerRow]]
    abstention: dict[str, dict[str, float | None]]
    losses: dict[str, dict[str, int]] = field(default_factory=dict)
    lies: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)
    compared: dict[str, Any] = field(default_factory=dict)
    each: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


async def evaluate_answers(  # noqa: PLR0917
    base: TemporaryBase,
    name: str,
    questions: Sequence[AnswerQuestion],
    profiles: Sequence[Profile],
    progress: Progress,
    server: ModelServer | None = None,
    known: KnownAnswers | None = None,
) -> AnswersReport:
    """Asks every question once under each profile. `known`: the server behind `server`, where it knows the answers.

    Raises:
        InvalidInput: a question cannot be asked, its asker's context is not in the glossary, or its gold does not stand
            in the documents; the message says where.
    """
    _require_contexts(base, questions)
    documents = base.corpus.store.documents(EVALUATOR)
    gold = {one.id: gold_passages(base, one, documents) for one in questions}
    by_profile: dict[str, list[AnswerOutcome]] = {}
    for profile in profiles:
        ask, outcomes = base.asker(profile, server), []
        for place, question in enumerate(questions):
            heard = known.expect(question, place) if known else None
            outcomes.append(judged(question, await _asked(ask, question), gold[question.id], heard))
            progress(profile.name, place + 1, len(questions))
        by_profile[profile.name] = outcomes
    return _report(name, questions, by_profile)


def _require_contexts(base: TemporaryBase, questions: Sequence[AnswerQuestion]) -> None:
    """Without a glossary, as it is left out for measuring, no context means anything."""
    known = [context.name for context in base.glossary.contexts.all(EVALUATOR)]
    for question in questions if known else ():
        if question.asker_context and question.asker_context not in known:
            raise InvalidInput(
                f"{question.place or question.id}: asker_context cannot be {question.asker_context!r}: the glossary "
                f"has no such context. Contexts: {', '.join(known)}."
            )


async def _asked(ask: Asker, question: AnswerQuestion) -> AskResult:
    try:
        return await ask(question.question, question.asker_context, earlier=question.earlier)
    except InvalidInput as error:
        raise InvalidInput(f"{question.place or question.id}: {error}") from error


def gold_passages(base: TemporaryBase, question: AnswerQuestion, documents: Sequence[Document]) -> frozenset[str]:
    """The ids of the passages that hold a gold snippet; of one without a quote, all of its document's.

    Raises:
        InvalidInput: a question of a file names a document that is not there, or quotes what does not stand in it.
    """
    found: set[str] = set()
    for one in question.gold:
        document = _document(documents, one.document)
        passages = base.corpus.store.passages_of(EVALUATOR, document.id) if document else []
        quote = bare(one.quote)
        holding = {passage.id for passage in passages if quote in bare(passage.text)}
        holding = holding or {p.id for p in passages if support(one.quote, p.text) >= HOLDS}
        # The annotations of a public set are what they are; a file's mistake would count as a wrong answer.
        if question.place and not holding:
            _require_quoted(base, question, one, document)
        found |= holding
    return frozenset(found)


def _require_quoted(
    base: TemporaryBase, question: AnswerQuestion, gold: GoldSnippet, document: Document | None
) -> None:
    if document is None:
        raise no_such_document(question, gold, "the knowledge base")
    # It may run over the end of a passage.
    if bare(gold.quote) not in bare(base.corpus.store.markdown(EVALUATOR, document.revision_id)):
        raise InvalidInput(
            f"{question.place}: {gold.document} does not hold the quotation {gold.quote!r}. Quote it word for word."
        )


def _document(documents: Sequence[Document], name: str) -> Document | None:
    """By the end of its address, which has the folders of a set; by its file name where that is all there is."""
    ending = f"/{name}"
    exactly = (one for one in documents if one.uri.endswith(ending))
    return next(exactly, next((one for one in documents if one.name == Path(name).name), None))


def judged(
    question: AnswerQuestion, result: AskResult, gold: frozenset[str], heard: Heard | None = None
) -> AnswerOutcome:
    """Only sentences shown as supported count: they are what the asker is told to rely on."""
    shown = [sentence for sentence in result.sentences if sentence.supported]
    answer = "\n".join(sentence.text for sentence in shown)
    what = answer_outcome(question, result.status, answer)
    ranks = tuple(place for place, one in enumerate(result.passages, start=1) if one.passage_id in gold)
    answered = question.answerable and result.status == "answered"
    first = shown[0].citations[0].passage_id if shown and shown[0].citations else ""
    return AnswerOutcome(
        question=question,
        result=result,
        outcome=what,
        ranks=ranks,
        right_citation_first=first in gold if answered and gold else None,
        f1=sentence_f1(question, [sentence.text for sentence in shown]) if question.answerable else None,
        rouge=rouge_l(answer, question.reference) if question.answerable and question.reference else None,
        heard=heard,
    )


# -- tables -----------------------------------------------------------------------------------------------------------


def _report(
    name: str, questions: Sequence[AnswerQuestion], by_profile: dict[str, list[AnswerOutcome]]
) -> AnswersReport:
    rows = {profile: _rows(outcomes) for profile, outcomes in by_profile.items()}
    return AnswersReport(
        name=name,
        questions=len(questions),
        rows=rows,
        abstention={profile: _abstention(outcomes) for profile, outcomes in by_profile.items()},
        losses={profile: found for profile, outcomes in by_profile.items() if (found := _losses(outcomes))},
        lies={profile: told for profile, outcomes in by_profile.items() if (told := _lies(outcomes))},
        compared=_compared(by_profile),
        each=[_line(profile, one) for profile, outcomes in by_profile.items() for one in outcomes],
    )


def _rows(outcomes: Sequence[AnswerOutcome]) -> dict[str, AnswerRow]:
    rows = {"all": _row(outcomes), "answerable": _row([one for one in outcomes if one.question.answerable])}
    for kind in dict.fromkeys(one.question.kind for one in outcomes):
        rows[kind] = _row([one for one in outcomes if one.question.kind == kind])
    return rows


def _row(outcomes: Sequence[AnswerOutcome]) -> AnswerRow:
    counts = Counter(one.outcome for one in outcomes)
    with_gold = [one for one in outcomes if one.question.answerable and one.question.gold]
    found = {f"{k}": _mean([any(rank <= k for rank in one.ranks) for one in with_gold]) for k in HIT_DEPTHS}
    return AnswerRow(
        questions=len(outcomes),
        outcomes={what: counts[what] / len(outcomes) if outcomes else 0.0 for what in OUTCOMES},
        complete_interval=bootstrap_interval([float(one.outcome == "complete") for one in outcomes]),
        right_citation_first=_mean([one.right_citation_first for one in outcomes]),
        sentence_f1=_mean([one.f1 for one in outcomes]),
        rouge_l=_mean([one.rouge for one in outcomes]),
        gold_found={k: share for k, share in found.items() if share is not None},
    )


def _mean(values: Sequence[float | bool | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return fmean(known) if known else None


def _abstention(outcomes: Sequence[AnswerOutcome]) -> dict[str, float | None]:
    """Of the evidence as a score for "the documents answer this"; and what came of it at the working point, as the
    table by kind counts it.
    """
    scores = [one.evidence for one in outcomes]
    answerable = [one.question.answerable for one in outcomes]
    refused = [one.outcome == "abstained" for one in outcomes if one.question.kind in UNANSWERABLE]
    asked_back = [one.outcome == "asked back" for one in outcomes if one.question.kind in UNDERSPECIFIED]
    kept = [one.result.status == "answered" for one in outcomes if one.question.answerable]
    return {
        "auroc": auroc(scores, answerable),
        "unanswerable refused": _mean(refused),
        "underspecified asked back": _mean(asked_back),
        "answerable answered": _mean(kept),
        "refused where 90 % are answered": refused_at(scores, answerable),
    }


def _losses(outcomes: Sequence[AnswerOutcome]) -> dict[str, int]:
    counts = Counter(one.loss for one in outcomes if one.loss and one.heard and one.heard.question.reference)
    return {loss: counts[loss] for loss in LOSSES} if counts else {}


def _lies(outcomes: Sequence[AnswerOutcome]) -> dict[str, tuple[int, int]]:
    """By kind of change: how many were told, and how many of them were shown as supported."""
    told: dict[str, list[bool]] = {}
    for one in outcomes:
        if one.heard is not None and one.lie_shown is not None:
            told.setdefault(one.heard.kind_of_lie, []).append(one.lie_shown)
    if not told:
        return {}
    everything = [shown for kind in told.values() for shown in kind]
    return {kind: (len(shown), sum(shown)) for kind, shown in {"all": everything, **told}.items()}


def _compared(by_profile: dict[str, list[AnswerOutcome]]) -> dict[str, Any]:
    """The second profile against the first, question by question: the difference and its 95 % interval."""
    if len(by_profile) != 2:
        return {}
    (first, ours), (second, theirs) = by_profile.items()
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.question.answerable]
    report: dict[str, Any] = {"profiles": [first, second]}
    for what in ("complete", "wrong"):
        change = [float(b.outcome == what) - float(a.outcome == what) for a, b in pairs]
        report[what] = {"difference": float(np.mean(change)), "interval95": bootstrap_interval(change)}
    return report


def _line(profile: str, one: AnswerOutcome) -> dict[str, Any]:
    """One question for the JSON report: enough to read what went wrong."""
    return {
        "profile": profile,
        "id": one.question.id,
        "kind": one.question.kind,
        "question": one.question.question,
        "outcome": one.outcome,
        "answer": one.result.answer,
        "answered_by": one.result.answered_by,
        "evidence": one.evidence,
        "gold_ranks": one.ranks,
        "loss": one.loss,
        "lie": one.heard.lie if one.heard else "",
        "lie_shown": one.lie_shown,
        "unsupported": [sentence.text for sentence in one.result.sentences if not sentence.supported],
    }
