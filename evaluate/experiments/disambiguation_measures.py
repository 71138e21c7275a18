"""Measures of disambiguation: those of the shared tasks, accuracy against coverage, and calibration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

COVERAGES = (0.25, 0.5, 0.75, 0.9, 1.0)
_BINS = 10


@dataclass(frozen=True, slots=True)
class Guess:
    """The choice for one sentence: the expansion, its probability, and its margin over the next one, in [0, 1]."""

    expansion: str
    chance: float
    margin: float


@dataclass(frozen=True, slots=True)
class Bin:
    """The guesses with a probability between `low` and `high`: their number, their mean probability, and the share that
    is right.
    """

    low: float
    high: float
    count: int
    chance: float
    right: float


@dataclass(frozen=True, slots=True)
class Measures:
    """All measures of one way of choosing over some sentences.

    Attributes:
        precision, recall, f1: macro averages over the gold expansions, as the tasks' `scorer.py` computes them: the
            precision of an expansion that was never chosen is 1, and F1 is computed from the two averages.
        strict_f1: F1 if the precision of an expansion that was never chosen is 0, as others compute it.
        coverage: pairs of a share of the sentences, the most certain ones, and the accuracy on them.
        calibration_error: expected calibration error over ten bins of equal width (Naeini et al. 2015).
    """

    sentences: int
    precision: float
    recall: float
    f1: float
    strict_f1: float
    accuracy: float
    coverage: Sequence[tuple[float, float]]
    calibration_error: float
    bins: Sequence[Bin]

    def get_accuracy(self, coverage: float) -> float:
        return next(accuracy for share, accuracy in self.coverage if share == coverage)

    def to_json(self) -> dict[str, Any]:
        return {
            "sentences": self.sentences,
            "macro": {"precision": self.precision, "recall": self.recall, "f1": self.f1, "strict_f1": self.strict_f1},
            "accuracy": self.accuracy,
            "accuracy_at_coverage": {str(share): accuracy for share, accuracy in self.coverage},
            "expected_calibration_error": self.calibration_error,
            "reliability": [
                {"from": b.low, "to": b.high, "sentences": b.count, "mean_probability": b.chance, "right": b.right}
                for b in self.bins
            ],
        }


def compute_measures(gold: Sequence[str], guesses: Sequence[Guess]) -> Measures:
    """Compute all measures. `gold` and `guesses` have the same order and at least one item."""
    right = [truth == guess.expansion for truth, guess in zip(gold, guesses, strict=True)]
    chosen = [guess.expansion for guess in guesses]
    precision, recall = _compute_macro(gold, chosen, unchosen=1.0)
    strict, _ = _compute_macro(gold, chosen, unchosen=0.0)
    bins = _build_bins(guesses, right)
    return Measures(
        sentences=len(gold),
        precision=precision,
        recall=recall,
        f1=compute_harmonic_mean(precision, recall),
        strict_f1=compute_harmonic_mean(strict, recall),
        accuracy=sum(right) / len(right),
        coverage=_measure_coverage(guesses, right),
        calibration_error=sum(b.count * abs(b.chance - b.right) for b in bins) / len(right),
        bins=bins,
    )


def _compute_macro(gold: Sequence[str], chosen: Sequence[str], *, unchosen: float) -> tuple[float, float]:
    true, said = Counter(gold), Counter(chosen)
    right = Counter(truth for truth, guess in zip(gold, chosen, strict=True) if truth == guess)
    # Over the gold expansions only: a wrong choice of another one lowers the recall of the right one.
    precision = sum(right[name] / said[name] if said[name] else unchosen for name in true) / len(true)
    return precision, sum(right[name] / count for name, count in true.items()) / len(true)


def _measure_coverage(guesses: Sequence[Guess], right: Sequence[bool]) -> list[tuple[float, float]]:
    """Return the accuracy on the most certain quarter, half and so on, as (share of the sentences, accuracy)."""
    # At equal margins the wrong guesses come first, so that the order does not raise the accuracy.
    order = sorted(range(len(guesses)), key=lambda n: (-guesses[n].margin, right[n]))
    found = []
    for share in COVERAGES:
        # A quarter of three sentences would be none.
        surest = order[: max(1, int(share * len(order)))]
        found.append((share, sum(right[n] for n in surest) / len(surest)))
    return found


def _build_bins(guesses: Sequence[Guess], right: Sequence[bool]) -> list[Bin]:
    found = []
    for number in range(_BINS):
        # Probability 1.0 belongs to the last bin.
        inside = [n for n, guess in enumerate(guesses) if min(int(guess.chance * _BINS), _BINS - 1) == number]
        if inside:
            chance = sum(guesses[n].chance for n in inside) / len(inside)
            share = sum(right[n] for n in inside) / len(inside)
            found.append(Bin(number / _BINS, (number + 1) / _BINS, len(inside), chance, share))
    return found


def compute_harmonic_mean(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
