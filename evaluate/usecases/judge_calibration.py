"""The calibration of judges and measures against people's labels of the same answers: `argot evaluate calibrate`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from argot.errors import InvalidInput
from argot.evaluate.calibration import (
    CALIBRATED_MEASURES,
    Calibration,
    Progress,
    calibrate_judge,
    calibrate_measure,
    require_labels,
)
from argot.evaluate.calibration_tables import build_calibration_tables
from argot.evaluate.human_labels import LabelledAnswer, load_financebench_labels, load_labels
from argot.evaluate.usecases.evaluation import Report
from argot.evaluate.usecases.measured_models import REFERENCES, JudgeChoice, build_answer_judges, run_closing
from argot.settings import Settings

LabelledSet = Literal["financebench"]


def calibrate(  # noqa: PLR0917
    labels: Path | None,
    public: LabelledSet | None,
    judges: JudgeChoice,
    threshold: float | None,
    limit: int | None,
    settings: Settings,
    progress: Progress,
) -> Report:
    """Measure how well judges and measures agree with the people who labelled answers.

    Args:
        labels: a file of labelled answers (`evaluate/human_labels.py`); the alternative is `public`, a set in the
            folder of data sets.
        judges: names of judges and of measures (`CALIBRATED_MEASURES`).
        threshold: the threshold of the measures; by default chosen on half of the questions, and the other half
            reported.
        limit: the number of answers, drawn in the same way each time; by default all.

    Raises:
        InvalidInput: there are no labels, or none of the kind a judge needs; or a judge is unknown or has no model.
        ModelUnavailable: a judge's server does not answer.
    """
    if (labels is None) == (public is None):
        raise InvalidInput("Give either --labels FILE or --set financebench: where the people's labels are.")
    if not judges.names:
        raise InvalidInput("Give --judge, the judge or measure to calibrate; repeatable.")
    if REFERENCES in judges.names:
        raise InvalidInput("'references' gives no verdict on an answer, and cannot be calibrated on labels of answers.")
    if "ranking" in judges.names:
        raise InvalidInput(
            "The judge 'ranking' compares four answers; labels of single answers cannot be compared with that."
        )
    # Check all input before a model is asked.
    asked = [name for name in judges.names if name not in CALIBRATED_MEASURES]
    judging = build_answer_judges(JudgeChoice(asked, judges.url, judges.model), 1, settings)
    answers = _sample_answers(load_labels(labels) if labels else load_financebench_labels(settings.datasets), limit)
    for name in dict.fromkeys(judges.names):
        require_labels(name, answers)
    found: list[Calibration] = [
        calibrate_measure(name, answers, settings, threshold) for name in CALIBRATED_MEASURES if name in judges.names
    ]

    async def ask_judges() -> list[Calibration]:
        return [await calibrate_judge(judge, answers, progress) for judge in judging]

    found += run_closing(ask_judges(), *(one.model.server for one in judging if one.model))
    report = {"labels": str(labels or public), "answers": len(answers), "judges": [one.to_json() for one in found]}
    return report, build_calibration_tables(found)


def _sample_answers(answers: Sequence[LabelledAnswer], limit: int | None) -> Sequence[LabelledAnswer]:
    if limit is None or limit >= len(answers):
        return answers
    # Draw from the whole set: its files follow one another.
    return random.Random(1).sample(answers, limit)  # noqa: S311
