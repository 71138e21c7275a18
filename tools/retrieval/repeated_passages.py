"""Passages that say nothing new: copies, revisions and twins of one document share most or all of their sentences."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from argot.tools.text.sentences import split_units
from argot.tools.text.words import content_stems, fold_words
from argot.types import Hit

_ARTICLES = frozenset({"a", "an", "the"})


def drop_repeats(hits: Iterable[Hit], most: int) -> list[Hit]:
    """Return the first `most` hits in their order, without those that have every sentence, entry and row in common with
    earlier ones.

    Sentences that differ in a single word or number are not the same: that may be the point. Nor are equal ones under
    headings of which each has a word that the other lacks: "Red kayak > Fees" and "Blue canoe > Fees".
    """
    kept: list[Hit] = []
    seen: dict[str, list[frozenset[str]]] = {}
    for hit in hits:
        # Many more were found than are kept, and comparing wordings takes time.
        if len(kept) == most:
            break
        passage = hit.passage
        wordings, heading = _read_wordings(passage.text) or {passage.id}, _read_heading(passage.heading)
        if any(all(heading - other and other - heading for other in seen.get(one, ())) for one in wordings):
            kept.append(hit)
            for one in wordings:
                seen.setdefault(one, []).append(heading)
    return kept


@lru_cache(maxsize=2_000)
def _read_heading(heading: str) -> frozenset[str]:
    """Return the words of the headings that have a meaning: copies of a section may be numbered differently."""
    return frozenset(one for one in content_stems(heading) if any(map(str.isalpha, one)))


@lru_cache(maxsize=2_000)  # some 2 kB each
def _read_wordings(text: str) -> frozenset[str]:
    """Return each sentence, entry and row as its words without articles."""
    units = (fold_words(text[start:end]) for start, end, _ in split_units(text))
    wordings = (" ".join(word for word in unit if word not in _ARTICLES) for unit in units)
    return frozenset(filter(None, wordings))
