"""Levels of a PDF's headings, by their size, their numbers and the bookmarks of the file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argot.corpus.readers.pdf_blocks import Fonts, Piece

_MAX_LEVEL = 6
# For example `2`, `2.1`, `2.1.`, `A.3`.
_NUMBER = re.compile(r"((?:\d{1,3}|[A-Z])(?:\.\d{1,3}){0,5})\.?\s+(?=\S)")
_MIN_HEADINGS = 2
"""Share of headings that must be numbered, or be found among the bookmarks, before either is used."""
_MIN_HEADING_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Bookmark:
    """`level` from 0."""

    level: int
    title: str


def set_levels(headings: Sequence[Piece], fonts: Fonts, bookmarks: Sequence[Bookmark]) -> None:
    """Give every heading its level, from 1. Bookmarks at several depths are better evidence than fonts and numbers."""
    for heading in headings:
        heading.level = fonts.level(heading.size)
    _set_levels_by_numbers(headings)
    if len({one.level for one in bookmarks}) > 1:
        _set_levels_by_bookmarks(headings, bookmarks)


def _set_levels_by_numbers(headings: Sequence[Piece]) -> None:
    """Set the levels of headings of one look by their numbers: `2.1` lies under `2`."""
    alike: dict[tuple[float, bool], list[tuple[Piece, int]]] = defaultdict(list)
    for heading in headings:
        if match := _NUMBER.match(heading.text):
            alike[heading.size, heading.bold].append((heading, match[1].count(".")))
    for numbered in alike.values():
        depths = [depth for _, depth in numbered]
        if len(numbered) >= _MIN_HEADINGS:
            for heading, depth in numbered:
                heading.level = min(heading.level + depth - min(depths), _MAX_LEVEL)


def _set_levels_by_bookmarks(headings: Sequence[Piece], bookmarks: Sequence[Bookmark]) -> None:
    named = {_fold_title(one.title): one.level for one in reversed(bookmarks)}
    marked = {id(one): named[key] for one in headings if (key := _fold_title(one.text)) in named}
    if len(marked) < max(_MIN_HEADINGS, _MIN_HEADING_SHARE * len(headings)):
        return
    largest = max(one.size for one in headings if id(one) in marked)
    title = headings[0] if id(headings[0]) not in marked and headings[0].size > largest else None
    _set_marked(headings, marked, title)


def _set_marked(headings: Sequence[Piece], marked: Mapping[int, int], title: Piece | None) -> None:
    """Set the levels by bookmarks; a heading without one lies under the last that has one, unless it is larger."""
    above, size = 0, 0.0
    for heading in headings:
        if heading is title:
            heading.level = 1
        elif (level := marked.get(id(heading))) is not None:
            above, size = min(level + 1 + (title is not None), _MAX_LEVEL), heading.size
            heading.level = above
        elif above and heading.size <= size:
            heading.level = min(above + 1, _MAX_LEVEL)


def _fold_title(text: str) -> str:
    return "".join(char for char in _NUMBER.sub("", text.strip(), count=1).casefold() if char.isalnum())
