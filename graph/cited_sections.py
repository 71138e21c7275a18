"""Sections of documents that verified answers cite, recognised in another revision by their text and headings."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

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


def select_sections(markdown: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, str]]:
    """Return where the sections start that these spans [start, end) of characters touch, in the order of the document,
    and the digest by which `locate_sections` finds each.

    Where a span continues in the next section, that one's digest holds the one before too: it is found directly after
    it, because what is written between them may change what both say.
    """
    sections = list(list_sections(markdown))
    starts = [start for start, _ in sections]
    found: set[tuple[int, str]] = set()
    for start, end in spans:
        first, last = (bisect_right(starts, place) - 1 for place in (start, max(start, end - 1)))
        found.add(sections[first])
        found |= {_join(*pair) for pair in pairwise(sections[first : last + 1])}
    return sorted(found)


def locate_sections(markdown: str) -> dict[str, int]:
    """Return where each section of a document starts, by the digests that `select_sections` returns."""
    sections = list(list_sections(markdown))
    joined = [_join(*pair) for pair in pairwise(sections)]
    return {digest: start for start, digest in (*sections, *joined)}


def _join(before: tuple[int, str], section: tuple[int, str]) -> tuple[int, str]:
    return section[0], f"{before[1]} {section[1]}"


def digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
