"""Passages that stand word for word in several documents: copies and revisions share most of theirs."""

from __future__ import annotations

from collections.abc import Iterable

from argot.tools.text.words import bare
from argot.types import Hit


def drop_repeats(hits: Iterable[Hit], most: int) -> list[Hit]:
    """Return the first so many hits in their order, each wording once.

    What differs in a single number is kept: that may be the point.
    """
    first: dict[str, Hit] = {}
    for hit in hits:
        # Many more were found than are kept, and comparing wordings takes its time.
        if len(first) == most:
            break
        first.setdefault(bare(hit.passage.text) or hit.passage.id, hit)
    return list(first.values())
