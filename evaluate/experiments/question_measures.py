"""What the columns of the papers' tables measure of one question."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.bert_score import bert_scores
from argot.evaluate.experiments.api_calls import makes_call
from argot.evaluate.experiments.experiment import BY_JUDGE, Measure
from argot.evaluate.failure_tolerance import batched
from argot.evaluate.judging import AnswerJudge, JudgeName
from argot.measures import measure
from argot.settings import Settings
from argot.tools.text.answer_likeness import exact_match, rouge_1, rouge_l

AT_ONCE = 4
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
Judges = Mapping[JudgeName, AnswerJudge]
"""Empty where no model judges."""


async def measured_answers(
    found: Sequence[FoundAnswer],
    measures: Collection[Measure],
    judges: Judges,
    settings: Settings,
    told: Callable[[int, int], None],
) -> list[Values]:
    """The measures of each question; None where one cannot be taken: no gold, no reference, no judge, no reply.

    `told`: of how many questions the answers are measured, out of how many.
    """
    values: list[Values] = [{one: ranked.get(one) for one in measures if one in RANKED} for ranked in _ranking(found)]
    done = 0
    for batch in batched(found, AT_ONCE):
        for of_answer in await asyncio.gather(*(_of_answer(one, measures, judges) for one in batch)):
            values[done] |= of_answer
            done += 1
        told(done, len(found))
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


async def _of_answer(found: FoundAnswer, measures: Collection[Measure], judges: Judges) -> Values:
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
        values["api"] = float(makes_call(answer, reference))
    if judges and BY_JUDGE & set(measures):
        values |= await _judged(found, measures, judges)
    return values


async def _judged(found: FoundAnswer, measures: Collection[Measure], judges: Judges) -> Values:
    """No verdict is none: counted as wrong, it would measure the server. No answer is wrong, whoever judges."""
    values: Values = {}
    if "geval" in measures:
        likeness = await _verdict(found, judges["geval"], worst=1.0)
        # 1 to 5; as the papers print it, from 0 to 1.
        values["geval"] = None if likeness is None else (likeness - 1) / 4
    if "correct" in measures:
        values["correct"] = await _verdict(found, judges["correct"])
    if {"accurate", "found_if_accurate", "found_if_inaccurate"} & set(measures):
        accurate = await _verdict(found, judges["raidd"])
        values |= {} if accurate is None else _by_accuracy(bool(accurate), found)
    return values


async def _verdict(found: FoundAnswer, judge: AnswerJudge, worst: float = 0.0) -> float | None:
    if not found.answer:
        return worst
    (said,) = await judge.judged(found.question.question, found.question.reference, [found.answer])
    return next(iter(said.scores.values()), None)


def _by_accuracy(accurate: bool, found: FoundAnswer) -> Values:
    """RAIDD, table 3: CP-CCR is over right answers alone, IP-CCR over wrong ones."""
    evidence = None if found.evidence_found is None else float(found.evidence_found)
    return {
        "accurate": float(accurate),
        "found_if_accurate": evidence if accurate else None,
        "found_if_inaccurate": None if accurate else evidence,
    }
