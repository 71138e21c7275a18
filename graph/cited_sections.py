"""Sections of documents that verified answers cite, recognised in another revision by their text and headings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from argot.corpus.chunking.headings import find_headings


def list_sections(markdown: str) -> Iterator[tuple[int, str]]:
    """Yield where each section of a document starts, in characters, and a digest of its text and of the headings above
    it: under another one the same words may be about something else.
    """
    headings = list(find_headings(markdown))
    ends = [*(one.start for one in headings), len(markdown)]
    yield 0, digest([markdown[: ends[0]].strip()])
    chain: list[str] = []
    for heading, end in zip(headings, ends[1:], strict=True):
        chain = [*chain[: heading.depth], heading.text]
        yield heading.start, digest([*chain, markdown[heading.start : end].strip()])


def select_sections(markdown: str, places: Iterable[int]) -> list[tuple[int, str]]:
    """Return the sections, as `list_sections`, that these places (characters) are in, in the order of the document."""
    sections = list(list_sections(markdown))
    return sorted({max(one for one in sections if one[0] <= place) for place in places})


def digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
