"""The calibration of judges, and of measures with a threshold, against people's labels."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from argot.errors import InvalidInput
from argot.evaluate.answer_measures import compute_auroc
from argot.evaluate.bert_score import compute_bert_scores
from argot.evaluate.failure_tolerance import group_items
from argot.evaluate.human_labels import LabelledAnswer
from argot.evaluate.judge_agreement import (
    Agreement,
    compute_cohen_kappa,
    compute_pairwise_agreement,
    count_confusion,
    measure_agreement,
)
from argot.evaluate.judging import ASPECTS, AnswerJudge, JudgeScores
from argot.settings import Settings
from argot.tools.text.answer_likeness import exact_match, rouge_1, rouge_l

Progress = Callable[[str, int, int], None]
MeasureName = Literal["exact-match", "rouge-1", "rouge-l", "bertscore"]
CALIBRATED_MEASURES: tuple[MeasureName, ...] = get_args(MeasureName)
PARALLEL_CALLS = 4
TRUE_FALSE, SCALE = (0, 1), (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of one judge or measure against people.

    `agreements`: by score, then by kind of answer with "all" first; empty if nothing was judged. `malformed`: the
    number of replies without a verdict; `unavailable`: the number of calls that the server failed; `undecided`: the
    number of answers on which people's labels are tied. `threshold`: the least value of a measure that counts as TRUE;
    `chosen_on`: the number of answers on which it was chosen, which are not part of the others; `auroc`: that of the
    measure, which needs no threshold. `people`: how often two people agree, if there are several.
    """

    name: str
    model: str
    answers: int
    judged: int
    malformed: int
    unavailable: int
    undecided: int
    agreements: dict[str, dict[str, Agreement]]
    people: dict[str, float | None]
    threshold: float | None = None
    chosen_on: int = 0
    auroc: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def require_labels(name: str, answers: Sequence[LabelledAnswer]) -> None:
    """Refuse to calibrate without labels of the kind that is needed.

    Raises:
        InvalidInput: people gave no labels of the kind that this judge or measure is compared with.
    """
    for human in _list_scores(name).values():
        if not any(human in label for one in answers for label in one.labels):
            wanted = {"TRUE": "true or false", "score": "scores from 1 to 5"}.get(human, "the three aspects, 1 to 5")
            raise InvalidInput(f"'{name}' is calibrated on labels that are {wanted}, and no answer has such a label.")


async def calibrate_judge(judge: AnswerJudge, answers: Sequence[LabelledAnswer], progress: Progress) -> Calibration:
    """Ask a judge about every answer, and compare its verdicts with people's.

    Raises:
        ModelUnavailable: the judge's server failed for several calls in a row.
    """
    scores = _list_scores(judge.name)

    async def judge_answer(one: LabelledAnswer) -> JudgeScores:
        (said,) = await judge.judge(one.question, one.reference, [one.answer])
        return said

    said: list[JudgeScores] = []
    for batch in group_items(answers, PARALLEL_CALLS):
        said += await asyncio.gather(*map(judge_answer, batch))
        progress(f"judge {judge.name}", len(said), len(answers))
    return Calibration(
        name=judge.name,
        model=judge.model_name,
        answers=len(answers),
        judged=sum(bool(one.scores) for one in said),
        malformed=sum(one.fault == "malformed" for one in said),
        unavailable=sum(one.fault == "unavailable" for one in said),
        undecided=_count_undecided(answers, scores.values()),
        agreements={
            score: _measure_by_kind(answers, [one.scores.get(score) for one in said], human)
            for score, human in scores.items()
        },
        people={human: _measure_among_people(answers, human) for human in scores.values()},
    )


def calibrate_measure(
    name: MeasureName, answers: Sequence[LabelledAnswer], settings: Settings, threshold: float | None = None
) -> Calibration:
    """Use a measure of similarity to the reference as a verdict with a threshold, and compare it with people's labels.

    Args:
        threshold: the threshold; None: the one with the best kappa on half of the questions, and the other half is
            reported.

    Raises:
        InvalidInput: there are too few questions to choose a threshold.
    """
    values = measure_likeness(name, answers, settings)
    chosen_on: list[int] = []
    reported = list(range(len(answers)))
    if name == "exact-match":
        threshold = 1.0  # an exact match is 1 or 0
    if threshold is None:
        chosen_on = [place for place, one in enumerate(answers) if _is_in_first_half(one.question)]
        reported = [place for place in reported if not _is_in_first_half(answers[place].question)]
        threshold = _choose_threshold([values[place] for place in chosen_on], [answers[place] for place in chosen_on])
    if threshold is None or not reported:
        raise InvalidInput(
            f"There are too few questions to choose a threshold of {name} on one half of them and report the other. "
            "Give --threshold."
        )
    own, found = [answers[place] for place in reported], [values[place] for place in reported]
    known = _pair_with_labels(found, own)
    return Calibration(
        name=name,
        model="",
        answers=len(own),
        judged=len(own),
        malformed=0,
        unavailable=0,
        undecided=_count_undecided(own, ["TRUE"]),
        agreements={"TRUE": _measure_by_kind(own, [float(value >= threshold) for value in found], "TRUE")},
        people={"TRUE": _measure_among_people(own, "TRUE")},
        threshold=threshold,
        chosen_on=len(chosen_on),
        auroc=compute_auroc([value for value, _ in known], [bool(human) for _, human in known]),
    )


def measure_likeness(name: MeasureName, answers: Sequence[LabelledAnswer], settings: Settings) -> list[float]:
    """Return the measure's value for each answer and its reference."""
    if name == "bertscore":
        scores = compute_bert_scores([one.answer for one in answers], [one.reference for one in answers], settings)
        return [one.f1 for one in scores]
    measure = {"exact-match": exact_match, "rouge-1": rouge_1, "rouge-l": rouge_l}[name]
    return [float(measure(one.answer, one.reference)) for one in answers]


# -- parts ------------------------------------------------------------------------------------------------------------


def _list_scores(name: str) -> Mapping[str, str]:
    """Return each score of a judge or measure with the label of people that it is compared with."""
    if name == "aspects":
        return {aspect: aspect for aspect in ASPECTS}
    return {"similarity": "score"} if name == "geval" else {"TRUE": "TRUE"}


def _count_undecided(answers: Sequence[LabelledAnswer], humans: Iterable[str]) -> int:
    scores = tuple(humans)
    return sum(any(one.decide_label(score) is None for score in scores) for one in answers)


def _measure_by_kind(
    answers: Sequence[LabelledAnswer], scores: Sequence[float | None], human: str
) -> dict[str, Agreement]:
    """Measure the agreement over all answers with both labels and, if there are several kinds, by kind."""
    labels = TRUE_FALSE if human == "TRUE" else SCALE
    known = [
        (label, value, one)
        for one, value in zip(answers, scores, strict=True)
        if value is not None and (label := one.decide_label(human)) is not None
    ]
    kinds = dict.fromkeys(one.kind for *_, one in known)
    parts = {"all": known}
    if len(kinds) > 1:
        parts |= {kind or "(no kind)": [row for row in known if row[2].kind == kind] for kind in kinds}
    return {
        kind: measure_agreement(
            [row[0] for row in rows], [row[1] for row in rows], labels, [row[2].question for row in rows]
        )
        for kind, rows in parts.items()
        if rows
    }


def _measure_among_people(answers: Sequence[LabelledAnswer], human: str) -> float | None:
    return compute_pairwise_agreement([[label[human] for label in one.labels if human in label] for one in answers])


def _pair_with_labels(values: Sequence[float], answers: Sequence[LabelledAnswer]) -> list[tuple[float, int]]:
    """Return each value with people's label; answers on which people are tied are left out."""
    pairs = [(value, one.decide_label("TRUE")) for value, one in zip(values, answers, strict=True)]
    return [(value, human) for value, human in pairs if human is not None]


def _is_in_first_half(question: str) -> bool:
    """Return true for half of the questions, by a hash, so that all answers to a question are in the same half."""
    return hashlib.blake2b(question.encode(), digest_size=1).digest()[0] % 2 == 0


def _choose_threshold(values: Sequence[float], answers: Sequence[LabelledAnswer]) -> float | None:
    """Return the threshold with the best kappa, the lowest of equals; None if there is nothing to choose it by."""
    known = [
        (value, human)
        for value, one in zip(values, answers, strict=True)
        if (human := one.decide_label("TRUE")) is not None
    ]
    people = np.asarray([human for _, human in known], dtype=np.intp)
    best: tuple[float, float] | None = None
    for threshold in sorted({value for value, _ in known}):
        verdicts = np.asarray([value >= threshold for value, _ in known], dtype=np.intp)
        kappa = compute_cohen_kappa(count_confusion(people, verdicts, 2))
        if kappa is not None and (best is None or kappa > best[0]):
            best = kappa, threshold
    return None if best is None else best[1]
