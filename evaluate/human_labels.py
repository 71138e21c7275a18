"""Answers that people have labelled, for the calibration of judges: from a file, or FinanceBench's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from argot.errors import InvalidInput
from argot.evaluate.line_models import read_lines
from argot.json_text import json_lines

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

FORM = '{"question": "...", "reference": "...", "answer": "...", "label": true}'
FINANCEBENCH = "Correct Answer", "Incorrect Answer", "Refusal"
"""The labels of its annotators (Islam et al., 2023)."""


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """An answer with the `labels` of each person, by score ("TRUE" as 1 or 0; "score" or the aspects from 1 to 5)."""

    question: str
    reference: str
    answer: str
    labels: tuple[Mapping[str, int], ...]
    kind: str = ""

    def decide_label(self, score: str) -> int | None:
        """Return people's common label: that of the majority or, for scores, the lower median. Return None for a tie,
        or if nobody gave this score.
        """
        labels_given = [label[score] for label in self.labels if score in label]
        if score == "TRUE":
            yes, no = sum(labels_given), len(labels_given) - sum(labels_given)
            return None if yes == no else int(yes > no)
        return median_low(labels_given) if labels_given else None


class _Aspects(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    accuracy: int = Field(ge=1, le=5)
    helpfulness: int = Field(ge=1, le=5)
    informativeness: int = Field(ge=1, le=5)


_Score = Literal[1, 2, 3, 4, 5]
_Label = StrictBool | _Score | Literal["TRUE", "FALSE"] | _Aspects


class _Row(BaseModel):
    """A line of the file. `label` is one person's label, `labels` are those of several people."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    id: str = ""
    question: str = Field(min_length=1)
    reference: str = Field(min_length=1)
    answer: str
    label: _Label | None = None
    labels: tuple[_Label, ...] = ()
    kind: str = ""
    note: Any = None


def load_labels(path: Path) -> list[LabelledAnswer]:
    """Read a file of labelled answers, one JSON object per line.

    Raises:
        InvalidInput: the file cannot be read, or a line is malformed; the message names it.
    """
    return [
        _build_labelled_answer(read, where)
        for where, read in read_lines(_Row, path, "labelled answer", FORM, _explain_fault)
    ]


def _explain_fault(first: ErrorDetails) -> str:
    place = str(first["loc"][0])
    why = "true, false, 1 to 5, or the three aspects from 1 to 5" if place.startswith("label") else first["msg"]
    return f"{place}: {why}"


def _build_labelled_answer(read: _Row, where: str) -> LabelledAnswer:
    labels = (*read.labels, *([] if read.label is None else [read.label]))
    if not labels:
        raise InvalidInput(f"{where}: there is no label, nor labels of several people. A line looks like {FORM}.")
    return LabelledAnswer(read.question, read.reference, read.answer, tuple(map(_map_by_score, labels)), read.kind)


def _map_by_score(label: _Label) -> dict[str, int]:
    if isinstance(label, _Aspects):
        return label.model_dump()
    if isinstance(label, bool | str):
        return {"TRUE": int(label in (True, "TRUE"))}
    return {"score": label}


def load_financebench_labels(datasets: Path) -> list[LabelledAnswer]:
    """Load the answers of sixteen systems to FinanceBench's 150 questions, with the annotators' labels. A refusal
    counts as not right, and has a kind of its own.

    Raises:
        InvalidInput: the folder of data sets lacks them; the message says how to get them.
    """
    folder = datasets / "financebench" / "results"
    files: Sequence[Path] = sorted(folder.glob("*.jsonl"))
    if not files:
        raise InvalidInput(
            f"{folder} holds no labelled answers. Set ARGOT_DATASETS to the folder that holds financebench, with its "
            "results/ (patronus-ai/financebench on GitHub), or give answers of your own with --labels."
        )
    return [_read_financebench_row(row, f"{path}, line {number}") for path in files for number, row in json_lines(path)]


def _read_financebench_row(row: Mapping[str, Any], where: str) -> LabelledAnswer:
    right, _, refusal = FINANCEBENCH
    label = row.get("label")
    if label not in FINANCEBENCH or not {"question", "gold_answer", "model_answer"} <= row.keys():
        raise InvalidInput(
            f"{where}: needs question, gold_answer, model_answer, and a label of its own, not {label!r}."
        )
    return LabelledAnswer(
        question=row["question"],
        reference=str(row["gold_answer"]),
        answer=str(row["model_answer"]),
        labels=({"TRUE": int(label == right)},),
        kind="refused" if label == refusal else "answered",
    )
