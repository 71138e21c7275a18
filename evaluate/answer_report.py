"""The report of the suite `answers`: shares and means by profile and kind of question, and comparisons of profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from argot.evaluate.answer_judging import JudgeReport
from argot.evaluate.answer_measures import OUTCOMES, compute_auroc, compute_refusal_rate
from argot.evaluate.answer_outcomes import LOSSES, AnswerOutcome
from argot.evaluate.answer_questions import UNANSWERABLE, UNDERSPECIFIED, AnswerQuestion
from argot.evaluate.chunk_retrieval import ChunkRetrieval, measure_chunk_retrieval
from argot.evaluate.reference_judging import MatchingReport
from argot.evaluate.reference_precision import PrecisionAt, measure_by_threshold
from argot.evaluate.right_marks import RightMarks
from argot.measures import HIT_DEPTHS, Difference, bootstrap_interval, gold_clusters, paired_difference
from argot.results import Sentence

COMPLETE = "complete"
COMPARED: Mapping[str, Callable[[AnswerOutcome], float | None]] = {
    "complete": lambda one: float(one.outcome == "complete"),
    "complete and clean": lambda one: float(one.is_whole_and_clean),
    "begins with the answer": lambda one: float(one.begins_with_answer),
    "wrong": lambda one: float(one.outcome == "wrong"),
    "exact match": lambda one: one.exact,
    "ROUGE-1": lambda one: one.rouge_1,
    "ROUGE-L": lambda one: one.rouge,
    "BERTScore F1": lambda one: one.bert.f1 if one.bert else None,
}


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One row of the table: shares over the questions of one kind, and their 95 % bootstrap intervals.

    `begins_with_answer` is the share of the complete answers, `beside` the mean share of an answer's sentences and
    items that are beside the point, `marks` the marks on right sentences. `exact_match` to `bert_f1` are means over
    the questions with a reference.
    """

    questions: int
    outcomes: dict[str, float]
    complete_interval: tuple[float, float]
    complete_and_clean: float
    clean_interval: tuple[float, float]
    begins_with_answer: float | None
    beside: float | None
    marks: RightMarks
    right_citation_first: float | None
    sentence_f1: float | None
    exact_match: float | None
    rouge_1: float | None
    rouge_l: float | None
    bert_precision: float | None
    bert_recall: float | None
    bert_f1: float | None
    gold_found: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswersReport:
    """The report by profile: a row for each kind, with "all" and "answerable" first; abstention; and the results of an
    ideal model.

    `chunks`: by profile and kind how often gold was retrieved, separately for right and wrong answers; `right_by`: what
    decides which are right. `references`: by profile how often a cited passage holds gold, by the citation's score.
    `judges`: the verdicts of each judge. `matching`: by profile Argot's references beside a model's. `compared`: by
    "second against first".
    """

    name: str
    questions: int
    rows: dict[str, dict[str, AnswerRow]]
    abstention: dict[str, dict[str, float | None]]
    losses: dict[str, dict[str, int]] = field(default_factory=dict)
    lies: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)
    compared: dict[str, dict[str, Difference]] = field(default_factory=dict)
    right_by: str = COMPLETE
    chunks: dict[str, dict[str, ChunkRetrieval]] = field(default_factory=dict)
    references: dict[str, list[PrecisionAt]] = field(default_factory=dict)
    judges: list[JudgeReport] = field(default_factory=list)
    matching: dict[str, MatchingReport] = field(default_factory=dict)
    each: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def build_answers_report(
    name: str,
    questions: Sequence[AnswerQuestion],
    by_profile: dict[str, list[AnswerOutcome]],
    judges: Sequence[JudgeReport] = (),
    matching: Mapping[str, MatchingReport] | None = None,
) -> AnswersReport:
    """Build the report from the outcome of each question under each profile."""
    # In RAIDD a model decides which answers are right (2.3). Without a judge, the complete answers count as right.
    verdicts = next((one for wanted in ("raidd", "correct") for one in judges if one.judge == wanted), None)
    rows = {profile: _build_rows(outcomes) for profile, outcomes in by_profile.items()}
    return AnswersReport(
        name=name,
        questions=len(questions),
        rows=rows,
        abstention={profile: _measure_abstention(outcomes) for profile, outcomes in by_profile.items()},
        losses={profile: found for profile, outcomes in by_profile.items() if (found := _count_losses(outcomes))},
        lies={profile: lies_found for profile, outcomes in by_profile.items() if (lies_found := _count_lies(outcomes))},
        compared=_compare_profiles(by_profile),
        right_by=COMPLETE if verdicts is None else f"judge {verdicts.judge}",
        chunks={
            profile: _measure_chunks(outcomes, verdicts.verdicts(profile) if verdicts else None)
            for profile, outcomes in by_profile.items()
        },
        references={
            profile: kept for profile, outcomes in by_profile.items() if (kept := _measure_references(outcomes))
        },
        judges=list(judges),
        matching=dict(matching or {}),
        each=[_describe_outcome(profile, one) for profile, outcomes in by_profile.items() for one in outcomes],
    )


def _build_rows(outcomes: Sequence[AnswerOutcome]) -> dict[str, AnswerRow]:
    rows = {
        "all": _build_row(outcomes),
        "answerable": _build_row([one for one in outcomes if one.question.is_answerable]),
    }
    for kind in dict.fromkeys(one.question.kind for one in outcomes):
        rows[kind] = _build_row([one for one in outcomes if one.question.kind == kind])
    return rows


def _build_row(outcomes: Sequence[AnswerOutcome]) -> AnswerRow:
    counts = Counter(one.outcome for one in outcomes)
    with_gold = [one for one in outcomes if one.question.is_answerable and one.question.gold]
    found = {f"{k}": _compute_mean([any(rank <= k for rank in one.ranks) for one in with_gold]) for k in HIT_DEPTHS}
    clusters = gold_clusters([one.gold for one in outcomes])
    complete = [one for one in outcomes if one.outcome == "complete"]
    return AnswerRow(
        questions=len(outcomes),
        outcomes={what: counts[what] / len(outcomes) if outcomes else 0.0 for what in OUTCOMES},
        complete_interval=bootstrap_interval([float(one.outcome == "complete") for one in outcomes], clusters=clusters),
        complete_and_clean=_compute_mean([one.is_whole_and_clean for one in outcomes]) or 0.0,
        clean_interval=bootstrap_interval([float(one.is_whole_and_clean) for one in outcomes], clusters=clusters),
        begins_with_answer=_compute_mean([one.begins_with_answer for one in complete]),
        beside=_compute_mean([one.beside for one in outcomes]),
        marks=sum((one.marks for one in outcomes), RightMarks()),
        right_citation_first=_compute_mean([one.right_citation_first for one in outcomes]),
        sentence_f1=_compute_mean([one.f1 for one in outcomes]),
        exact_match=_compute_mean([one.exact for one in outcomes]),
        rouge_1=_compute_mean([one.rouge_1 for one in outcomes]),
        rouge_l=_compute_mean([one.rouge for one in outcomes]),
        bert_precision=_compute_mean([one.bert.precision if one.bert else None for one in outcomes]),
        bert_recall=_compute_mean([one.bert.recall if one.bert else None for one in outcomes]),
        bert_f1=_compute_mean([one.bert.f1 if one.bert else None for one in outcomes]),
        gold_found={k: share for k, share in found.items() if share is not None},
    )


def _compute_mean(values: Sequence[float | bool | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return fmean(known) if known else None


def _measure_abstention(outcomes: Sequence[AnswerOutcome]) -> dict[str, float | None]:
    """Measure the passages' best score as a predictor that the documents hold an answer, and the share of outcomes at
    the actual threshold, counted as in the table by kind.
    """
    scores = [one.evidence for one in outcomes]
    answerable = [one.question.is_answerable for one in outcomes]
    refused = [one.outcome == "abstained" for one in outcomes if one.question.kind in UNANSWERABLE]
    asked_back = [one.outcome == "asked back" for one in outcomes if one.question.kind in UNDERSPECIFIED]
    kept = [one.result.status == "answered" for one in outcomes if one.question.is_answerable]
    return {
        "auroc": compute_auroc(scores, answerable),
        "unanswerable refused": _compute_mean(refused),
        "underspecified asked back": _compute_mean(asked_back),
        "answerable answered": _compute_mean(kept),
        "refused where 90 % are answered": compute_refusal_rate(scores, answerable),
    }


def _count_losses(outcomes: Sequence[AnswerOutcome]) -> dict[str, int]:
    counts = Counter(one.loss for one in outcomes if one.loss)
    return {loss: counts[loss] for loss in LOSSES} if counts else {}


def _count_lies(outcomes: Sequence[AnswerOutcome]) -> dict[str, tuple[int, int]]:
    """Return for each kind of change the number of lies, and how many of them were shown as supported."""
    accepted: dict[str, list[bool]] = {}
    for one in outcomes:
        if one.served is not None and one.lie_shown is not None:
            accepted.setdefault(one.served.kind_of_lie, []).append(one.lie_shown)
    if not accepted:
        return {}
    everything = [shown for kind in accepted.values() for shown in kind]
    return {kind: (len(shown), sum(shown)) for kind, shown in {"all": everything, **accepted}.items()}


def _compare_profiles(by_profile: Mapping[str, Sequence[AnswerOutcome]]) -> dict[str, dict[str, Difference]]:
    """Compare every further profile with the first, paired by question."""
    (first, ours), *others = by_profile.items()
    found: dict[str, dict[str, Difference]] = {}
    for name, theirs in others:
        pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.question.is_answerable]
        found[f"{name} against {first}"] = {
            what: _compute_difference([(value(a), value(b), a.gold) for a, b in pairs])
            for what, value in COMPARED.items()
        }
    return found


def _compute_difference(pairs: Sequence[tuple[float | None, float | None, frozenset[str]]]) -> Difference:
    """Return the difference over the questions for which both profiles have a value."""
    known = [(a, b, gold) for a, b, gold in pairs if a is not None and b is not None]
    clusters = gold_clusters([gold for *_, gold in known])
    return paired_difference([a for a, *_ in known], [b for _, b, _ in known], clusters)


def _measure_chunks(
    outcomes: Sequence[AnswerOutcome], correct: Mapping[str, bool | None] | None
) -> dict[str, ChunkRetrieval]:
    """Measure chunk retrieval. `correct`: a judge's verdict by question; None: an answer is right if it is complete."""
    asked = [one for one in outcomes if one.question.is_answerable and one.gold]
    is_complete = [one.outcome == "complete" if correct is None else correct.get(one.question.id) for one in asked]
    known = [(right, one) for right, one in zip(is_complete, asked, strict=True) if right is not None]
    return measure_chunk_retrieval(
        [right for right, _ in known], [one.gold_retrieved for _, one in known], [one.question.kind for _, one in known]
    )


def _measure_references(outcomes: Sequence[AnswerOutcome]) -> list[PrecisionAt]:
    answers = [
        [_rate_citation(sentence, one.gold) for sentence in one.result.sentences]
        for one in outcomes
        if one.question.is_answerable and one.gold and one.result.sentences
    ]
    return measure_by_threshold(answers) if answers else []


def _rate_citation(sentence: Sentence, gold: frozenset[str]) -> tuple[float | None, bool]:
    best = max(sentence.citations, key=lambda citation: citation.score, default=None)
    return (None, False) if best is None else (best.score, best.passage_id in gold)


def _describe_outcome(profile: str, one: AnswerOutcome) -> dict[str, Any]:
    """Return one question for the JSON report, with enough detail to see what went wrong."""
    return {
        "profile": profile,
        "id": one.question.id,
        "kind": one.question.kind,
        "question": one.question.question,
        "outcome": one.outcome,
        "answer": one.result.answer,
        "reference": one.question.reference,
        "exact_match": one.exact,
        "rouge_1": one.rouge_1,
        "rouge_l": one.rouge,
        "bert_score": None if one.bert is None else one.bert.f1,
        "answered_by": one.result.answered_by,
        "evidence": one.evidence,
        "gold_ranks": one.ranks,
        "complete_and_clean": one.is_whole_and_clean,
        "begins_with_answer": one.begins_with_answer,
        "beside": one.beside,
        "units": [asdict(unit) for unit in one.units],
        "marks": asdict(one.marks),
        "loss": one.loss,
        "lie": one.served.lie if one.served else "",
        "lie_shown": one.lie_shown,
        "unsupported": [sentence.text for sentence in one.result.sentences if not sentence.supported],
    }
