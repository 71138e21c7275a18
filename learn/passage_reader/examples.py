"""Examples for the passage reader: questions with passages that answer and others, as text and as features."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from argot.files import replace_atomically
from argot.json_text import json_lines
from argot.tools.retrieval.passage_windows import PassageText
from argot.tools.retrieval.token_vectors import Floats

PART, OPEN, NO_PART = 1, -1, 0
"""Labels of a unit: a part of the answer; unknown, or no answer by itself, such as a heading; no part of the answer."""


@dataclass(frozen=True, slots=True)
class JudgedPassage:
    """A passage with labels for a question.

    `relevant`: the passage answers. `text`: its heading and units; `labels`: one for each unit; `may_answer`: true for
    units that may be an answer by themselves. `units`: the features of its units, (units, features); `whole`: those of
    the passage without those of its units; `score`: that of the re-ranker. Of the pair reader's first stage, passages
    have no features.
    """

    relevant: bool
    text: PassageText
    labels: tuple[int, ...]
    may_answer: tuple[bool, ...]
    units: Floats
    whole: Floats
    score: float

    @classmethod
    def of_text(cls, text: PassageText, labels: Sequence[int]) -> JudgedPassage:
        """Build a passage without features, which answers if one of its labels is a part of the answer."""
        none = np.zeros((len(labels), 0), dtype=np.float32)
        return cls(PART in labels, text, tuple(labels), (True,) * len(labels), none, none[0], 0.0)


@dataclass(frozen=True, slots=True)
class Example:
    """One question with its passages, best first. `source` names the set of documents; no two sources share any."""

    source: str
    id: str
    question: str
    passages: tuple[JudgedPassage, ...]

    @property
    def is_answerable(self) -> bool:
        return any(one.relevant for one in self.passages)


def write_examples(examples: Iterable[Example], path: Path) -> None:
    """Write the examples, completely or not at all."""
    with replace_atomically(path) as file:
        file.writelines(f"{json.dumps(_to_row(one), ensure_ascii=False)}\n".encode() for one in examples)


def _to_row(example: Example) -> dict[str, Any]:
    passages = [
        {
            "relevant": one.relevant,
            "heading": one.text.heading,
            "texts": one.text.units,
            "units": np.round(one.units.astype(float), 4).tolist(),
            "labels": one.labels,
            "may_answer": one.may_answer,
            "whole": np.round(one.whole.astype(float), 4).tolist(),
            "score": round(one.score, 4),
        }
        for one in example.passages
    ]
    return {"source": example.source, "id": example.id, "question": example.question, "passages": passages}


def read_examples(paths: Sequence[Path]) -> list[Example]:
    return [_parse_example(row) for path in paths for _, row in json_lines(path)]


def _parse_example(row: dict[str, Any]) -> Example:
    return Example(row["source"], row["id"], row["question"], tuple(_parse_passage(one) for one in row["passages"]))


def _parse_passage(row: dict[str, Any]) -> JudgedPassage:
    units, whole = (np.array(row[name], dtype=np.float32) for name in ("units", "whole"))
    text, may_answer = PassageText(row["heading"], tuple(row["texts"])), tuple(map(bool, row["may_answer"]))
    return JudgedPassage(row["relevant"], text, tuple(row["labels"]), may_answer, units, whole, row["score"])
