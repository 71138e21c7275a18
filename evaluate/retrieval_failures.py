"""Questions whose retrieval failed, by kind, and a sample of each for people to judge (*Trustworthy Answers* 4.4).

The paper's two kinds: no gold document among the first ten, and gold among them but another document first. People then
judge the passages of a hundred of each (figure 4): public gold is not complete, so some of what counts as a failure is
not one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from argot.evaluate.beir import BeirSet
from argot.files import write_atomically
from argot.results import AskResult, FoundPassage

FailureKind = Literal["not_found", "not_first"]
FIRST_TEN = 10
SAMPLED = 100
"""The number of questions of each kind that people judge in the paper."""
MAX_HEADING_CHARS = 500
"""The longest heading that a file of a study may have."""


@dataclass(frozen=True, slots=True)
class RetrievalFailure:
    """A question whose gold was not found, or not found first. `passages`: the first ten, best first."""

    id: str
    question: str
    kind: FailureKind
    passages: tuple[FoundPassage, ...]


def collect_failures(
    data: BeirSet, results: Mapping[str, AskResult], ranked: Mapping[str, Sequence[str]]
) -> list[RetrievalFailure]:
    """Collect the failures of a set in the order of its questions.

    Args:
        ranked: for each question the ids of its documents, best first.
    """
    found = []
    for id_, gold in data.qrels.items():
        kind = _find_kind(ranked[id_][:FIRST_TEN], gold)
        if kind is not None:
            found.append(RetrievalFailure(id_, data.queries[id_], kind, tuple(results[id_].passages[:FIRST_TEN])))
    return found


def _find_kind(ranked: Sequence[str], gold: Collection[str]) -> FailureKind | None:
    if not any(one in gold for one in ranked):
        return "not_found"
    return None if ranked[0] in gold else "not_first"


def count_failures(failures: Sequence[RetrievalFailure]) -> dict[FailureKind, int]:
    return {kind: sum(one.kind == kind for one in failures) for kind in get_args(FailureKind)}


def write_failures(
    failures: Sequence[RetrievalFailure], folder: Path, most: int = SAMPLED, seed: int = 1
) -> list[Path]:
    """Write a sample of each kind into `folder`, as `argot ratings create --kind passages --file` reads it; return the
    files. A question for which nothing at all was found has nothing to judge and is left out.

    Args:
        most: the most questions of a kind.
        seed: of the draw.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind in get_args(FailureKind):
        judged = [one for one in failures if one.kind == kind and one.passages]
        drawn = random.Random(seed).sample(judged, min(most, len(judged)))  # noqa: S311
        if drawn:
            path = folder / f"{kind}.jsonl"
            write_atomically(path, "".join(_format_line(one) for one in drawn))
            written.append(path)
    return written


def _format_line(failure: RetrievalFailure) -> str:
    passages = [{"text": one.text, "heading": one.heading[:MAX_HEADING_CHARS]} for one in failure.passages]
    return json.dumps({"question": failure.question, "passages": passages}, ensure_ascii=False) + "\n"
