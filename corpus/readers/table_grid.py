"""A table as cells on a grid, and the rows of text in its cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from argot.corpus.readers.pdf_lines import HYPHEN, LineSpan

NUMBER_LIKE = re.compile(r"[\d$€£%(),.\s—–-]+$")
# Looks like a figure, and usually heads a column.
YEAR = re.compile(r"(?:19|20)\d\d(?:\s?[-–]\s?(?:19|20)?\d\d)?")
_LEADER_DOTS = re.compile(r"\s*(?:\.\s?){4,}$")


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell and the rows and columns it spans; `last_row` and `last_column` belong to it."""

    row: int
    column: int
    text: str
    last_row: int
    last_column: int

    def reaches(self, column: int) -> bool:
        return self.column <= column <= self.last_column


@dataclass(frozen=True, slots=True)
class Area:
    x0: float
    y0: float
    x1: float
    y1: float

    def holds(self, x: float, y: float, slack: float = 2.0) -> bool:
        return self.x0 - slack <= x <= self.x1 + slack and self.y0 - slack <= y <= self.y1 + slack


TextRow = list[LineSpan]


def make_text_rows(spans: Iterable[LineSpan]) -> list[TextRow]:
    """Group spans that stand side by side into rows, top to bottom, each from left to right."""
    rows: list[TextRow] = []
    for span in sorted(spans, key=lambda span: span.middle):
        if rows and _is_in_row(rows[-1], span):
            rows[-1].append(span)
        else:
            rows.append([span])
    return [sorted(row, key=lambda span: span.x0) for row in rows]


def _is_in_row(row: TextRow, span: LineSpan) -> bool:
    """Return True where a span is level with the row and overlaps no span of it: close lines overlap in height only."""
    tallest = max(row, key=lambda other: other.y1 - other.y0)
    overlap = min(span.y1, tallest.y1) - max(span.y0, tallest.y0)
    height = min(span.y1 - span.y0, tallest.y1 - tallest.y0)
    level = overlap > 0.5 * height or abs(span.middle - tallest.middle) < 0.25 * span.size
    return level and all(span.x0 >= other.x1 - 1 or span.x1 <= other.x0 + 1 for other in row)


def join_cell_text(spans: Sequence[LineSpan]) -> str:
    text = ""
    for row in make_text_rows(spans):
        line = " ".join(span.text for span in row)
        if text.endswith(HYPHEN):
            # A hyphen at a line end splits a word, or joins two.
            text = f"{text[:-1]}{line}" if line[:1].islower() else f"{text[:-1]}-{line}"
        else:
            text = f"{text} {line}".strip()
    return _LEADER_DOTS.sub("", text.replace(HYPHEN, "-"))
