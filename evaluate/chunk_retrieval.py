"""Retrieval of the right chunk, separately for right and wrong answers: CP-CCR and IP-CCR (RAIDD 3.3, table 3).

A high IP-CCR means that the generator loses answers, and a low one that the retrieval loses them. A high CP-CCR means
that right answers rest on retrieved passages, and are not memorised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True)
class ChunkRetrieval:
    """The figures of one task. `cp_ccr`: of its right answers, the share with a gold chunk among the retrieved ones;
    `ip_ccr`: the same for its wrong answers. Each is None without such answers.
    """

    questions: int
    accuracy: float
    cp_ccr: float | None
    ip_ccr: float | None


def measure_chunk_retrieval(
    correct: Sequence[bool], retrieved: Sequence[bool], tasks: Sequence[str]
) -> dict[str, ChunkRetrieval]:
    """Measure chunk retrieval over "all" tasks first, and then by task.

    Args:
        correct: whether the answer is right.
        retrieved: whether a gold chunk was among those from which the answer was written.
        tasks: the kind of each question.

    Raises:
        ValueError: the lists differ in length.
    """
    rows = list(zip(correct, retrieved, tasks, strict=True))
    found = {"all": _measure_rows([row[:2] for row in rows])} if rows else {}
    for task in dict.fromkeys(tasks):
        found[task] = _measure_rows([row[:2] for row in rows if row[2] == task])
    return found


def _measure_rows(rows: Sequence[tuple[bool, bool]]) -> ChunkRetrieval:
    right = [chunk for correct, chunk in rows if correct]
    wrong = [chunk for correct, chunk in rows if not correct]
    return ChunkRetrieval(
        questions=len(rows),
        accuracy=len(right) / len(rows),
        cp_ccr=fmean(right) if right else None,
        ip_ccr=fmean(wrong) if wrong else None,
    )
