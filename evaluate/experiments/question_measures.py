"""What the columns of the papers' tables measure of one question."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from argot.errors import ModelUnavailable
from argot.evaluate.answer_measures import exact_match, rouge_1, rouge_l
from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.bert_score import bert_scores
from argot.evaluate.experiments.api_calls import makes_call
from argot.evaluate.experiments.experiment import BY_JUDGE, Measure
from argot.evaluate.measures import measure
from argot.settings import Settings
from argot.tools.llm.judge import ModelJudge

RANKED: Collection[Measure] = ("hit@3", "hit@5", "ndcg@10", "map@1", "map@5", "map@10")


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """What came of one question. `documents`: ids in the order found, each once; `gold`: of those that answer it.

    `evidence_found`: whether a passage with the gold evidence was retrieved; None where no evidence is known.
    """

    question: AnswerQuestion
    answer: str
    documents: tuple[str, ...]
    gold: frozenset[str]
    evidence_found: bool | None = None


Values = dict[Measure, float | None]


async def measured_answers(
    found: Sequence[FoundAnswer], measures: Collection[Measure], judge: ModelJudge | None, settings: Settings
) -> list[Values]:
    """The measures of each question; None where one cannot be taken: no gold, no reference, no judge, no reply."""
    ranked = _ranking(found)
    values = [
        {**{one: ranked[place].get(one) for one in measures if one in RANKED}, **await _of_answer(one, measures, judge)}
        for place, one in enumerate(found)
    ]
    if "bertscore" in measures:
        of_references = [one for one in found if one.question.reference]
        answers, references = [one.answer for one in of_references], [one.question.reference for one in of_references]
        scores = iter(await asyncio.to_thread(bert_scores, answers, references, settings))
        for of_question, one in zip(values, found, strict=True):
            of_question["bertscore"] = next(scores).f1 if one.question.reference else None
    return values


def _ranking(found: Sequence[FoundAnswer]) -> list[dict[str, float]]:
    run = {str(place): one.documents for place, one in enumerate(found)}
    qrels = {str(place): dict.fromkeys(one.gold, 1) for place, one in enumerate(found)}
    by_question = measure(run, qrels).by_question
    return [by_question.get(str(place), {}) for place in range(len(found))]


async def _of_answer(found: FoundAnswer, measures: Collection[Measure], judge: ModelJudge | None) -> Values:
    question, answer, reference = found.question, found.answer, found.question.reference
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
        values["api"] = float(makes_call(answer, reference))
    if judge is not None and BY_JUDGE & set(measures):
        values |= await _judged(found, question, measures, judge)
    return values


async def _judged(
    found: FoundAnswer, question: AnswerQuestion, measures: Collection[Measure], judge: ModelJudge
) -> Values:
    asked, answer, reference = question.question, found.answer, question.reference
    values: Values = {}
    try:
        if "geval" in measures:
            # 1 to 5, as the papers print it: from 0 to 1.
            values["geval"] = (await judge.geval(asked, reference, answer) - 1) / 4 if answer else 0.0
        if "correct" in measures:
            values["correct"] = float(bool(answer) and await judge.is_correct(asked, answer, reference))
        if {"accurate", "found_if_accurate", "found_if_inaccurate"} & set(measures):
            values |= _by_accuracy(bool(answer) and await judge.is_accurate(asked, answer, reference), found)
    except ModelUnavailable:
        # No verdict is none: counted as wrong, it would measure the server.
        return values
    return values


def _by_accuracy(accurate: bool, found: FoundAnswer) -> Values:
    """RAIDD, table 3: CP-CCR is over right answers alone, IP-CCR over wrong ones."""
    evidence = None if found.evidence_found is None else float(found.evidence_found)
    return {
        "accurate": float(accurate),
        "found_if_accurate": evidence if accurate else None,
        "found_if_inaccurate": None if accurate else evidence,
    }
