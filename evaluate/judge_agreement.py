"""The agreement of a judge with people: observed agreement, Cohen's kappa, and the table of their labels.

Kappa is that of Cohen (1960). For scores on a scale it has quadratic weights (Cohen, 1968), so that 4 instead of 5
counts for more than 1 instead of 5. Intervals are by bootstrap over questions: the answers of several systems to one
question are resampled together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from argot.measures import Positions, bootstrap

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of one judge with people, over the answers with both labels.

    `kappa` is weighted if the labels are a scale; it is None if both sides give only one and the same label.
    `confusion[p][j]`: the number of answers to which people gave `labels[p]` and the judge `labels[j]`.
    `rank_correlation`: Spearman's, for scales.
    """

    answers: int
    questions: int
    agreement: float
    agreement95: tuple[float, float] | None
    kappa: float | None
    kappa95: tuple[float, float] | None
    weighted: bool
    labels: tuple[int, ...]
    confusion: tuple[tuple[int, ...], ...]
    rank_correlation: float | None = None


def measure_agreement(
    people: Sequence[int], judge: Sequence[float], labels: Sequence[int], clusters: Sequence[Hashable]
) -> Agreement:
    """Measure how well a judge agrees with people.

    Args:
        people: people's label of each answer.
        judge: the judge's label or score. A score between two labels counts as the nearer label, a half as the upper
            one.
        labels: all labels in order: (0, 1) for FALSE and TRUE, (1, 2, 3, 4, 5) for a scale.
        clusters: the question of each answer.

    Raises:
        ValueError: the lists differ in length, there are no answers, or a label is not in `labels`.
    """
    if not people or not len(people) == len(judge) == len(clusters):
        raise ValueError("as many labels of people as of the judge, and at least one, are needed")
    weighted = len(labels) > 2
    places = np.asarray([_place(one, labels) for one in people])
    heard = np.asarray([_place(int(np.floor(one + 0.5)), labels) for one in judge])

    def count_labels(rows: Positions | slice) -> Counts:
        return count_confusion(places[rows], heard[rows], len(labels))

    whole = count_labels(slice(None))
    return Agreement(
        answers=len(people),
        questions=len(set(clusters)),
        agreement=compute_observed_agreement(whole),
        agreement95=bootstrap(lambda drawn: compute_observed_agreement(count_labels(drawn)), clusters),
        kappa=compute_cohen_kappa(whole, weighted=weighted),
        kappa95=bootstrap(lambda drawn: compute_cohen_kappa(count_labels(drawn), weighted=weighted), clusters),
        weighted=weighted,
        labels=tuple(labels),
        confusion=tuple(tuple(map(int, row)) for row in whole),
        rank_correlation=_compute_rank_correlation(people, judge) if weighted else None,
    )


def _compute_rank_correlation(people: Sequence[int], judge: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation; None if one side gives every answer the same label."""
    from scipy.stats import spearmanr  # type: ignore[import-untyped]

    varied = len(set(people)) > 1 and len(set(judge)) > 1
    return float(spearmanr(people, judge).statistic) if varied else None


def _place(label: int, labels: Sequence[int]) -> int:
    if label not in labels:
        raise ValueError(f"{label} is none of the labels {', '.join(map(str, labels))}")
    return labels.index(label)


def count_confusion(people: NDArray[np.intp], judge: NDArray[np.intp], size: int) -> Counts:
    """Return the (size, size) numbers of label indexes: people's by row, the judge's by column."""
    return np.bincount(people * size + judge, minlength=size * size).reshape(size, size)


def compute_observed_agreement(table: Counts) -> float:
    """Return the share of answers on the diagonal of the table."""
    return float(np.trace(table) / table.sum())


def compute_cohen_kappa(table: Counts, *, weighted: bool = False) -> float | None:
    """Return Cohen's kappa: 1 for full agreement, 0 for agreement by chance; None if the agreement by chance is
    complete.

    `weighted`: by the square of the distance between labels.
    """
    places = np.arange(len(table))
    distance = np.subtract.outer(places, places)
    cost = distance**2 if weighted else distance != 0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    by_chance = float((cost * expected).sum())
    return 1 - float((cost * table).sum()) / by_chance if by_chance else None


def compute_pairwise_agreement(labels: Sequence[Sequence[int]]) -> float | None:
    """Return the agreement among people: the share of equal pairs among the pairs of labels of the same answer; None if
    there is no pair.
    """
    pairs = [one == other for row in labels for one, other in combinations(row, 2)]
    return sum(pairs) / len(pairs) if pairs else None
