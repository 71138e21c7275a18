"""The precision of references matched to sentences (Trustworthy Answers 6.1, table 7 and figure 10)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class PrecisionAt:
    """The figures at one threshold of the matching score.

    Attributes:
        precision: precision over the sentences that keep a reference, averaged over answers; None if none keeps one.
        kept: the share of all sentences that keep a reference.
    """

    threshold: float
    precision: float | None
    kept: float


def compute_sentence_precision(matches: Sequence[int | None], annotated: Sequence[Collection[int]]) -> float | None:
    """Return the precision of one answer: of its sentences with a matched passage, the share whose passage people
    annotated.

    Recall is not measured: several passages may support a sentence, and one of them is enough (6.1).

    Args:
        matches: the passage matched to each sentence, or None.
        annotated: the passages that people named for each sentence.

    Returns:
        The precision; None if no sentence has a passage.

    Raises:
        ValueError: the lists differ in length.
    """
    right = [one in names for one, names in zip(matches, annotated, strict=True) if one is not None]
    return fmean(right) if right else None


def compute_overall_precision(matches: Sequence[int | None], annotated: Sequence[Collection[int]]) -> float:
    """Return the precision of one answer over all its sentences (6.1): the share whose passage people annotated. A
    sentence without a passage is right only if people named none either.

    Raises:
        ValueError: the lists differ in length.
    """
    return fmean(one in names if one is not None else not names for one, names in zip(matches, annotated, strict=True))


def measure_by_threshold(
    answers: Sequence[Sequence[tuple[float | None, bool]]], thresholds: Sequence[float] = THRESHOLDS
) -> list[PrecisionAt]:
    """Measure precision at each threshold: references with a lower score are left out.

    Args:
        answers: for each sentence of each answer the score of the passage matched to it (None if it has no passage),
            and whether people annotated that passage.
    """
    sentences = sum(len(answer) for answer in answers)
    found = []
    for threshold in thresholds:
        kept = [[right for score, right in answer if score is not None and score >= threshold] for answer in answers]
        by_answer = [fmean(one) for one in kept if one]
        share = sum(map(len, kept)) / sentences if sentences else 0.0
        found.append(PrecisionAt(threshold, fmean(by_answer) if by_answer else None, share))
    return found
