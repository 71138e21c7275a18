"""Rows of a PDF page: pieces of text that stand side by side become one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from argot.corpus.readers.pdf_lines import Line, LineSpan

# Bullets and numbers of list items, which many programs set apart from their text.
_MARKER = re.compile(r"[•●○◦▪■□‣⁃∙·–—\-*o\uf0b7\uf0a7\uf0d8➢➤✓❖]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)]")
_CURRENCY = re.compile(r"[$€£¥(]|\(?[$€£¥]\(?")
_CLOSING = re.compile(r"[)%]{1,2}")


def lines_of_spans(spans: Iterable[LineSpan]) -> list[Line]:
    """Return the spans as lines: those that follow each other and stand side by side are one."""
    return [Line(tuple(_join_marks(row))) for row in _rows(spans)]


def _rows(spans: Iterable[LineSpan]) -> Iterator[list[LineSpan]]:
    """Spans that follow each other and stand side by side, left to right, are one line."""
    row: list[LineSpan] = []
    for span in spans:
        if row and not (_level(row[-1], span) and span.x0 > row[-1].x1 - 1):
            yield row
            row = []
        row.append(span)
    if row:
        yield row


def _level(one: LineSpan, other: LineSpan) -> bool:
    """Whether both stand on one line: they overlap by half the lower one's height."""
    overlap = min(one.y1, other.y1) - max(one.y0, other.y0)
    return overlap > 0.5 * min(one.y1 - one.y0, other.y1 - other.y0) or (
        abs(one.y1 - other.y1) < 0.3 * min(one.size, other.size)
    )


def _join_marks(row: list[LineSpan]) -> Iterator[LineSpan]:
    """Bullets, currency signs and closing brackets, set apart, belong to their neighbours."""
    held: LineSpan | None = None
    for index, span in enumerate(row):
        last = index == len(row) - 1
        if held is not None:
            # Two signs side by side are those of two columns, drawn without their figures.
            signs = not any(char.isalnum() for char in held.text + span.text)
            close = _CLOSING.fullmatch(span.text) is not None and not signs
            marks = (_CURRENCY.fullmatch(held.text) and not (signs and _CURRENCY.fullmatch(span.text))) or (
                index == 1 and _MARKER.fullmatch(held.text)
            )
            if close or marks:
                glue = "" if close or _CURRENCY.fullmatch(held.text) else " "
                held = merged_spans(held, span, glue)
            else:
                yield held
                held = span
        else:
            held = span
        if last and held is not None:
            yield held


def merged_spans(one: LineSpan, other: LineSpan, glue: str) -> LineSpan:
    wide = one if len(one.text) > len(other.text) else other
    offset = len(one.text) + len(glue)
    between = ((offset, one.x1, other.x0),) if glue else ()
    return replace(
        wide,
        text=f"{one.text}{glue}{other.text}",
        x0=min(one.x0, other.x0),
        y0=min(one.y0, other.y0),
        x1=max(one.x1, other.x1),
        y1=max(one.y1, other.y1),
        raised=(*one.raised, *(place + offset for place in other.raised)),
        spaces=(*one.spaces, *between, *((place + offset, left, right) for place, left, right in other.spaces)),
    )
