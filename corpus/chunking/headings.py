"""The headings of a document's Markdown, for a table of contents. One pass over the lines, however long the text is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from argot.corpus.chunking.blocks import strip_heading

_LINE = re.compile(r"[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*$")
_MAX_HEADING_CHARS = 200


@dataclass(frozen=True, slots=True)
class MarkdownHeading:
    """A heading at this offset, `depth` levels below the outermost (0)."""

    start: int
    depth: int
    text: str


def find_headings(markdown: str) -> Iterator[MarkdownHeading]:
    """Return the headings in order, as a renderer shows them; those within code are none."""
    levels: list[int] = []
    for start, level, text in _find_levels(markdown):
        levels = [*(one for one in levels if one < level), level]
        if heading_text := strip_heading(text)[:_MAX_HEADING_CHARS]:
            yield MarkdownHeading(start, len(levels) - 1, heading_text)


def _find_levels(markdown: str) -> Iterator[tuple[int, int, str]]:
    fence = ""
    before: re.Match[str] | None = None
    for line in _LINE.finditer(markdown):
        opened = _FENCE.match(line[0])
        if fence or opened:
            # Closed by at least as many of the same signs as it was opened with.
            closes = fence and opened and opened[1].startswith(fence)
            fence = "" if closes else fence or (opened[1] if opened else "")
            before = None
            continue
        if found := _HEADING.match(line[0]):
            yield line.start(), len(found[1]), found[2]
        elif before and before.end() + 1 == line.start() and (under := _UNDERLINE.match(line[0])):
            yield before.start(), 1 if under[1][0] == "=" else 2, before[0]
        # A row of a table, a list or a heading cannot be underlined.
        before = None if found or line[0].lstrip()[:1] in ("|", "-", "*", ">", "=") else line
