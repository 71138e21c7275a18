"""The parts of a Markdown text in which terms are checked: its paragraphs, list items, headings and table cells,
without code, links and addresses.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from argot.jargon_db.lookup.span_mask import SpanMask
from argot.jargon_db.mining.tokenizer import blank_markup, split_blocks

# Every part is bounded, so that no hostile text takes quadratic time.
_NOT_CHECKED = re.compile(
    r"""(?P<code>(?<!`)(?P<tick>`{1,3})[^`\n]{1,1000}(?P=tick)(?!`))
        | (?P<link>!?\[[^\[\]\n]{0,500}\](?:\([^()\s]{0,2000}(?:\s"[^"\n]{0,300}")?\)|\[[^\]\n]{0,200}\]))
        | (?P<definition>^[ ]{0,3}\[[^\]\n]{1,200}\]:[ \t]*\S{1,2000})
        | (?P<address>(?:https?|ftp|file|mailto)://?[^\s<>"]{1,2000}|\bwww\.[^\s<>"]{1,2000}|mailto:\S{1,300})
        | (?P<mail>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})
        | (?P<host>\b(?:[\w-]{1,63}\.){1,8}(?:com|org|net|gov|edu|mil|int|io|dev|example)\b(?:/[^\s<>"]{0,2000})?)
        | (?P<handle>(?<!\w)[\#@]\w[\w-]{0,80})
        | (?P<tag></?[a-zA-Z][^<>\n]{0,2000}>)
        | (?P<template>\{[{%][^{}\n]{0,1000}[}%]\})
        | (?P<name>(?<![\w&])(?:\w{1,80}(?:_|::|\\)[\w\\:]{1,80}|\w{1,80}\(\)))
        | (?P<path>(?<![\w&])[~.]{0,2}/\w[\w.-]{0,80}/[\w./-]{0,200})
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_INDENTED = re.compile(r"(?: {4}|\t)")
_LIST_ITEM = re.compile(r"[ \t>]*(?:[-*+•]|\d{1,9}[.)])[ \t]")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")


@dataclass(frozen=True, slots=True)
class CheckedBlock:
    """A block of the text, which begins at `start`; its own markup is blanked, so that offsets stay valid."""

    start: int
    text: str
    is_heading: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class CheckedText:
    """A Markdown text, its blocks, and the characters that are not checked."""

    def __init__(self, markdown: str) -> None:
        self.markdown = markdown
        self._mask = SpanMask(len(markdown))
        marked = (match.span() for match in _NOT_CHECKED.finditer(markdown))
        for start, end in (*_find_code_blocks(markdown), *_find_comments(markdown), *marked):
            self._mask.take(start, end)
        self.blocks = [
            CheckedBlock(start, text, bool(_HEADING.match(markdown, markdown.rfind("\n", 0, start) + 1)))
            for start, text in split_blocks(blank_markup(markdown))
        ]
        self._starts = [block.start for block in self.blocks]

    def is_checked(self, start: int, end: int) -> bool:
        """Return whether none of the characters [start, end) is code, a link or an address."""
        return self._mask.are_free(start, end)

    def get_block(self, offset: int) -> CheckedBlock | None:
        """Return the block that begins last before this character, which is its own."""
        place = bisect_right(self._starts, offset) - 1
        return self.blocks[place] if place >= 0 else None


def _find_code_blocks(markdown: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of fenced and indented code (CommonMark 0.31, 4.4 and 4.5). A fence that is never closed runs to
    the end.
    """
    fence, position, after_blank, in_list = "", 0, True, False
    for line in markdown.splitlines(keepends=True):
        start, position = position, position + len(line)
        mark = _FENCE.match(line)
        if fence:
            yield start, position
            if mark and mark[1].startswith(fence):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            yield start, position
        elif not line.strip():
            after_blank = True
            continue
        # In a list, an indented line continues an item.
        elif after_blank and not in_list and _INDENTED.match(line):
            yield start, position
            continue
        elif _LIST_ITEM.match(line):
            in_list = True
        elif not line[0].isspace():
            in_list = in_list and not after_blank
        after_blank = False


def _find_comments(markdown: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of HTML comments. One that is never closed hides nothing."""
    end = 0
    while (start := markdown.find("<!--", end)) >= 0 and (end := markdown.find("-->", start)) >= 0:
        yield start, end
