"""Measures of one question, for the columns of the papers' tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.bert_score import compute_bert_scores
from argot.evaluate.experiments.api_calls import has_call
from argot.evaluate.experiments.experiment import BY_JUDGE, Measure
from argot.evaluate.failure_tolerance import group_items
from argot.evaluate.judging import AnswerJudge, JudgeName
from argot.measures import measure
from argot.settings import Settings
from argot.tools.text.answer_likeness import exact_match, rouge_1, rouge_l

PARALLEL_QUESTIONS = 4
RANKED: Collection[Measure] = ("hit@3", "hit@5", "ndcg@10", "map@1", "map@5", "map@10")


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """The result of one question. `documents`: the ids in the order found, each once; `gold`: the ids of the documents
    that answer it.

    `evidence_found`: whether a passage with the gold evidence was retrieved; None if no evidence is known.
    """

    question: AnswerQuestion
    answer: str
    documents: tuple[str, ...]
    gold: frozenset[str]
    evidence_found: bool | None = None

    @property
    def gold_place(self) -> int:
        """Return the place of the first gold document among those found, from 1; 0 if there is none."""
        return next((place for place, one in enumerate(self.documents, start=1) if one in self.gold), 0)


Values = dict[Measure, float | None]
Judges = Mapping[JudgeName, AnswerJudge]
"""The judges by name; empty if no model judges."""


async def measure_answers(
    found: Sequence[FoundAnswer],
    measures: Collection[Measure],
    judges: Judges,
    settings: Settings,
    on_progress: Callable[[int, int], None],
) -> list[Values]:
    """Return the measures of each question. A value is None without the gold, reference, judge or reply that it needs.

    `on_progress` receives the number of measured answers and the number of questions.
    """
    values: list[Values] = [
        {one: ranked.get(one) for one in measures if one in RANKED} for ranked in _measure_ranking(found)
    ]
    if "found" in measures:
        for of_question, one in zip(values, found, strict=True):
            of_question["found"] = float(one.gold_place > 0) if one.gold else None
    done = 0
    for batch in group_items(found, PARALLEL_QUESTIONS):
        for of_answer in await asyncio.gather(*(_measure_answer(one, measures, judges) for one in batch)):
            values[done] |= of_answer
            done += 1
        on_progress(done, len(found))
    if "bertscore" in measures:
        of_references = [one for one in found if one.question.reference]
        answers, references = [one.answer for one in of_references], [one.question.reference for one in of_references]
        scores = iter(await asyncio.to_thread(compute_bert_scores, answers, references, settings))
        for of_question, one in zip(values, found, strict=True):
            of_question["bertscore"] = next(scores).f1 if one.question.reference else None
    return values


def _measure_ranking(found: Sequence[FoundAnswer]) -> list[dict[str, float]]:
    run = {str(place): one.documents for place, one in enumerate(found)}
    qrels = {str(place): dict.fromkeys(one.gold, 1) for place, one in enumerate(found)}
    by_question = measure(run, qrels).by_question
    return [by_question.get(str(place), {}) for place in range(len(found))]


async def _measure_answer(found: FoundAnswer, measures: Collection[Measure], judges: Judges) -> Values:
    answer, reference = found.answer, found.question.reference
    if not reference:
        return {}
    values: Values = {}
    if "rouge-1" in measures:
        values["rouge-1"] = rouge_1(answer, reference)
    if "rouge-l" in measures:
        values["rouge-l"] = rouge_l(answer, reference)
    if "exact" in measures:
        values["exact"] = float(exact_match(answer, reference))
    if "api" in measures:
        values["api"] = float(has_call(answer, reference))
    if judges and BY_JUDGE & set(measures):
        values |= await _judge_answer(found, measures, judges)
    return values


async def _judge_answer(found: FoundAnswer, measures: Collection[Measure], judges: Judges) -> Values:
    """Return a judge's values. A missing verdict gives no value: counted as wrong, it would measure the server. A
    missing answer is wrong for every judge.
    """
    values: Values = {}
    if "geval" in measures:
        likeness = await _fetch_verdict(found, judges["geval"], worst=1.0)
        # The judge gives 1 to 5; the papers print 0 to 1.
        values["geval"] = None if likeness is None else (likeness - 1) / 4
    if "correct" in measures:
        values["correct"] = await _fetch_verdict(found, judges["correct"])
    if {"accurate", "found_if_accurate", "found_if_inaccurate"} & set(measures):
        accurate = await _fetch_verdict(found, judges["raidd"])
        values |= {} if accurate is None else _derive_values(bool(accurate), found)
    return values


async def _fetch_verdict(found: FoundAnswer, judge: AnswerJudge, worst: float = 0.0) -> float | None:
    if not found.answer:
        return worst
    (said,) = await judge.judge(found.question.question, found.question.reference, [found.answer])
    return next(iter(said.scores.values()), None)


def _derive_values(accurate: bool, found: FoundAnswer) -> Values:
    """Return the values of RAIDD, table 3: CP-CCR covers only right answers, and IP-CCR only wrong ones."""
    evidence = None if found.evidence_found is None else float(found.evidence_found)
    return {
        "accurate": float(accurate),
        "found_if_accurate": evidence if accurate else None,
        "found_if_inaccurate": None if accurate else evidence,
    }
