"""Similarity of an answer to its reference, by words: exact match, ROUGE-1 and ROUGE-L."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from argot.tools.text.words import fold_words


def exact_match(answer: str, reference: str) -> bool:
    """Return whether both are the same words, except for case, marks and articles (SQuAD: Rajpurkar et al., 2016)."""
    said, wanted = _without_articles(answer), _without_articles(reference)
    return bool(wanted) and said == wanted


def _without_articles(text: str) -> list[str]:
    return [word for word in fold_words(text) if word not in ("a", "an", "the")]


def rouge_1(answer: str, reference: str) -> float:
    """Return F1 of the words that both have, each counted as often as in the one with fewer (Lin, 2004), unstemmed."""
    said, wanted = fold_words(answer), fold_words(reference)
    if not said or not wanted:
        return 0.0
    return 2 * (Counter(said) & Counter(wanted)).total() / (len(said) + len(wanted))


def rouge_l(answer: str, reference: str) -> float:
    """F1 of the longest common subsequence of words (Lin, 2004), without stemming."""
    said, wanted = fold_words(answer), fold_words(reference)
    if not said or not wanted:
        return 0.0
    common = _longest_common(said, wanted)
    return 2 * common / (len(said) + len(wanted))


def _longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    row = [0] * (len(other) + 1)
    for word in one:
        before = 0
        for place, theirs in enumerate(other, start=1):
            before, row[place] = row[place], before + 1 if word == theirs else max(row[place], row[place - 1])
    return row[-1]
