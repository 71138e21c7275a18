"""Judges' verdicts on the answers of the suite `answers`, by profile, and the comparison of each profile with the
first.

Only questions with a reference answer are judged. The judge sees what the asker sees, including refusals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from argot.evaluate.answer_outcomes import AnswerOutcome
from argot.evaluate.failure_tolerance import group_items
from argot.evaluate.judging import SCORES, AnswerJudge, JudgeName, JudgeScores
from argot.measures import Difference, bootstrap_interval, gold_clusters, paired_difference

Progress = Callable[[str, int, int], None]
PARALLEL_CALLS = 4
"""The number of questions judged at the same time; a model server processes several together."""


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One profile: the numbers of judged answers, of malformed replies of the judge, and of failures of its server.

    `mean` and `interval95`: by score, over the judged answers.
    """

    questions: int
    judged: int
    malformed: int
    unavailable: int
    mean: dict[str, float] = field(default_factory=dict)
    interval95: dict[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """The verdicts of one judge: `rows` by profile; `compared` by "second against first" and score, over the questions
    for which both profiles have a verdict; `each` question's scores by profile, or the fault if there are none.
    """

    judge: JudgeName
    model: str
    rows: dict[str, JudgeRow]
    compared: dict[str, dict[str, Difference]]
    each: list[dict[str, Any]] = field(default_factory=list)

    def verdicts(self, profile: str) -> dict[str, bool | None]:
        """Return for each question whether a judge of TRUE and FALSE accepts the answer; None without a verdict."""
        own = [one for one in self.each if one["profile"] == profile]
        return {one["id"]: bool(one["scores"]["TRUE"]) if one["scores"] else None for one in own}


async def judge_answers(
    judge: AnswerJudge, by_profile: Mapping[str, Sequence[AnswerOutcome]], progress: Progress
) -> JudgeReport:
    """Ask the judge about every question with a reference, under all profiles.

    Raises:
        InvalidInput: the judge cannot judge that many profiles at once.
        ModelUnavailable: the judge's server failed for several calls in a row.
    """
    first = next(iter(by_profile.values()))
    places = [place for place, one in enumerate(first) if one.has_reference]
    scores: list[list[JudgeScores]] = []

    async def judge_question(place: int) -> list[JudgeScores]:
        question = first[place].question
        answers = [outcomes[place].shown_text for outcomes in by_profile.values()]
        return await judge.judge(question.question, question.reference, answers)

    for batch in group_items(places, PARALLEL_CALLS):
        scores += await asyncio.gather(*map(judge_question, batch))
        progress(f"judge {judge.name}", len(scores), len(places))
    clusters = gold_clusters([first[place].gold for place in places])
    of_profile = {name: [one[number] for one in scores] for number, name in enumerate(by_profile)}
    return JudgeReport(
        judge=judge.name,
        model=judge.model_name,
        rows={name: judge_row(own, SCORES[judge.name], clusters) for name, own in of_profile.items()},
        compared=compare_scores(of_profile, SCORES[judge.name], clusters),
        each=[
            {"profile": name, "id": first[place].question.id, "scores": dict(one.scores), "fault": one.fault}
            for name, own in of_profile.items()
            for place, one in zip(places, own, strict=True)
        ],
    )


def judge_row(judgements: Sequence[JudgeScores], scores: Sequence[str], clusters: Sequence[int]) -> JudgeRow:
    """Return the means over the judged answers, and the numbers of the others."""
    known = [(one, cluster) for one, cluster in zip(judgements, clusters, strict=True) if one.scores]
    row = JudgeRow(
        questions=len(judgements),
        judged=len(known),
        malformed=sum(one.fault == "malformed" for one in judgements),
        unavailable=sum(one.fault == "unavailable" for one in judgements),
    )
    for score in scores if known else ():
        values = [one.scores[score] for one, _ in known]
        row.mean[score] = fmean(values)
        row.interval95[score] = bootstrap_interval(values, clusters=[cluster for _, cluster in known])
    return row


def compare_scores(
    of_profile: Mapping[str, Sequence[JudgeScores]], scores: Sequence[str], clusters: Sequence[int]
) -> dict[str, dict[str, Difference]]:
    (first, ours), *others = of_profile.items()
    found: dict[str, dict[str, Difference]] = {}
    for name, theirs in others:
        both = [(a, b, at) for a, b, at in zip(ours, theirs, clusters, strict=True) if a.scores and b.scores]
        found[f"{name} against {first}"] = {
            score: paired_difference(
                [a.scores[score] for a, *_ in both], [b.scores[score] for _, b, _ in both], [at for *_, at in both]
            )
            for score in scores
        }
    return found
