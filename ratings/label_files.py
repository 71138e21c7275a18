"""Ratings as labels of answers, by which a judge is compared with people (*Trustworthy Answers* 5.3.3, figure 8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from argot.errors import InvalidInput
from argot.ratings.study import ASPECTS, Judgement, Rating, Study, StudyItem
from argot.ratings.study_files import write_jsonl

LABELS: Mapping[str, str] = {
    "Correctness": "accuracy",
    "Helpfulness": "helpfulness",
    "Informativeness": "informativeness",
}
"""Aspect -> the name by which `argot evaluate calibrate --judge aspects` reads it."""


def require_labels(study: Study) -> None:
    """
    Raises:
        InvalidInput: the study has no labels that a judge can be compared with.
    """
    if study.kind != "answers" or not set(LABELS) <= {one.name for one in study.aspects}:
        wanted = ", ".join(one.name for one in ASPECTS)
        raise InvalidInput(
            f"The study '{study.name}' has no labels for a judge: these are of answers that people rated for {wanted}. "
            "Export it as jsonl or csv."
        )


def write_labels(study: Study, items: Sequence[StudyItem], ratings: Sequence[Rating]) -> str:
    """Write a line for each answer that somebody rated whole, with the labels of each person; `kind` is its system.

    Questions without a reference are left out, since a judge compares an answer with it.
    """
    by_item: defaultdict[int, list[Judgement]] = defaultdict(list)
    for one in ratings:
        if one.said is not None and not one.said.cannot_judge:
            by_item[one.item].append(one.said)
    return write_jsonl(row for item in items if item.reference for row in _iterate_answers(item, by_item[item.id]))


def _iterate_answers(item: StudyItem, judgements: Sequence[Judgement]) -> Iterator[dict[str, Any]]:
    for answer in item.answers:
        scores = [one.scores.get(answer.system, {}) for one in judgements]
        labels = [{LABELS[name]: points[name] for name in LABELS} for points in scores if set(LABELS) <= points.keys()]
        if labels:
            yield {
                "id": f"{item.place}",
                "question": item.question,
                "reference": item.reference,
                "answer": answer.text,
                "labels": labels,
                "kind": answer.system,
            }
