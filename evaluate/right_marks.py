"""Counts of right sentences that the check of support marks as unsupported or withholds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from argot.results import AskResult, Sentence
from argot.tools.text.words import bare


@dataclass(frozen=True, slots=True)
class RightMarks:
    """Counts of right sentences: all that were said, those shown with a mark, and those not shown."""

    right: int = 0
    marked: int = 0
    withheld: int = 0

    @property
    def are_none(self) -> bool:
        return not (self.marked or self.withheld)

    def __add__(self, other: RightMarks) -> RightMarks:
        return RightMarks(self.right + other.right, self.marked + other.marked, self.withheld + other.withheld)


def count_marks(sentences: Iterable[str], result: AskResult) -> RightMarks:
    """Count the marks on right sentences that a model said; all are withheld if its answer is not shown."""
    is_shown = result.status == "answered" and result.answered_by == "model"
    shown = [(f" {bare(one.text)} ", one) for one in result.sentences] if is_shown else []
    found = RightMarks()
    for sentence in sentences:
        at = _find_shown(f" {bare(sentence)} ", shown)
        found += RightMarks(1, marked=int(at is not None and at.lacks_support), withheld=int(at is None))
    return found


def _find_shown(sentence: str, shown: list[tuple[str, Sentence]]) -> Sentence | None:
    """Find the sentence itself, or one that contains it or is a part of it."""
    exactly = (one for text, one in shown if text == sentence)
    return next(exactly, next((one for text, one in shown if sentence in text or text in sentence), None))
