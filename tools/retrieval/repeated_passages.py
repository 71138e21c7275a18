"""Passages that occur word for word in several documents: copies and revisions share most of theirs."""

from __future__ import annotations

from collections.abc import Iterable

from argot.tools.text.words import bare
from argot.types import Hit


def drop_repeats(hits: Iterable[Hit], most: int) -> list[Hit]:
    """Return the first hits up to this number in their order, each wording once.

    Passages that differ in a single number are kept: that may be the point.
    """
    first: dict[str, Hit] = {}
    for hit in hits:
        # Many more were found than are kept, and comparing wordings takes time.
        if len(first) == most:
            break
        first.setdefault(bare(hit.passage.text) or hit.passage.id, hit)
    return list(first.values())
