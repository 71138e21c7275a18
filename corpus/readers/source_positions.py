"""Positions of a document's Markdown in its file, for formats that are text: where an editor shows them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from argot.corpus.readers import media_type_of
from argot.corpus.readers.plain_text import decode_text
from argot.errors import UnreadableDocument

_TEXT_KINDS = frozenset({"text/markdown", "text/plain", "text/html", "text/x-rst", "text/csv"})
_MAX_COMPARED_LINES = 20_000


class SourceSpan(NamedTuple):
    """Characters of a file, from (line, column) up to before (end_line, end_column); all count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int


class SourcePositions:
    """The positions in a text file of the Markdown that was read from it.

    A reader may leave out parts (front matter) and rewrite others (HTML). Lines that are the same in both belong
    together. Elsewhere a word is located if file and Markdown have it equally often.
    """

    def __init__(self, source: str, markdown: str) -> None:
        self._source, self._markdown = source, markdown
        self._shift = len(source) - len(markdown) if source.endswith(markdown) else None

    def find(self, start: int, end: int) -> SourceSpan | None:
        """Return the position of markdown[start:end]; None if it is not certain."""
        origin = start + self._shift if self._shift is not None else self._find_moved(start, end)
        if origin is None:
            return None
        last = origin + end - start
        return SourceSpan(*self._count(origin), *self._count(last))

    def _count(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._source_lines, offset) - 1
        return line + 1, offset - self._source_lines[line] + 1

    @cached_property
    def _source_lines(self) -> Sequence[int]:
        return _list_line_starts(self._source)

    @cached_property
    def _markdown_lines(self) -> Sequence[int]:
        return _list_line_starts(self._markdown)

    def _find_moved(self, start: int, end: int) -> int | None:
        line = bisect_right(self._markdown_lines, start) - 1
        same = self._same_lines.get(line)
        # A match over two lines is located by its first one, if the next follows in both.
        if same is not None:
            return self._source_lines[same] + start - self._markdown_lines[line]
        word = re.compile(rf"(?<!\w){re.escape(self._markdown[start:end])}(?!\w)")
        here = [match.start() for match in word.finditer(self._markdown)]
        there = [match.start() for match in word.finditer(self._source)]
        return there[here.index(start)] if len(here) == len(there) and start in here else None

    @cached_property
    def _same_lines(self) -> dict[int, int]:
        """The lines of the Markdown that the source has, too: number there to number in the source."""
        mine, theirs = self._markdown.split("\n"), self._source.split("\n")
        if max(len(mine), len(theirs)) > _MAX_COMPARED_LINES:
            return {}
        blocks = SequenceMatcher(None, mine, theirs).get_matching_blocks()
        return {block.a + i: block.b + i for block in blocks for i in range(block.size)}


def find_source_positions(data: bytes, name: str, markdown: str) -> SourcePositions | None:
    """Return the positions in a text file; None for other formats, whose lines nobody sees."""
    try:
        if media_type_of(data, name) not in _TEXT_KINDS:
            return None
        return SourcePositions(decode_text(data, name), markdown)
    except UnreadableDocument:
        return None


def _list_line_starts(text: str) -> Sequence[int]:
    lines = text.split("\n")
    return [0, *accumulate(len(line) + 1 for line in lines[:-1])]
