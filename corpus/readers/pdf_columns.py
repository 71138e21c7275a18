"""Columns of prose that a program drew across the page, line by line: read one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from argot.corpus.readers.pdf_lines import Line, LineSpan

_MIN_LINES = 6
_MAX_COLUMNS = 3
_EDGE_TOLERANCE_POINTS = 3.0
_MIN_LINE_CHARS = 22
"""Median characters of a line of prose."""
_MIN_FILLED_SHARE = 0.75
"""Median share of the column's width that its lines fill."""
_MIN_CONTINUED_SHARE = 0.4
"""Share of the lines of prose that begin in the middle of a sentence. In table cells every other one begins one."""


def order_columns(lines: Sequence[Line]) -> list[Line]:
    """Return the lines in reading order; two or three columns of prose side by side are read one after the other."""
    found: list[Line] = []
    start = 0
    while start < len(lines):
        count = _count_column_lines(lines, start)
        found.extend(_order_by_column(lines[start : start + count]) if count else lines[start : start + 1])
        start += max(count, 1)
    return found


def _count_column_lines(lines: Sequence[Line], start: int) -> int:
    """Return the number of lines from `start` on that are columns of prose."""
    edges = [span.x0 for span in lines[start].spans]
    if not 2 <= len(edges) <= _MAX_COLUMNS:
        return 0
    count = 1
    while start + count < len(lines) and _match_edges(lines[start + count], edges):
        count += 1
    columns = _split_columns(lines[start : start + count], edges)
    return count if all(map(_is_prose, columns)) else 0


def _match_edges(line: Line, edges: Sequence[float]) -> bool:
    return all(any(abs(span.x0 - edge) < _EDGE_TOLERANCE_POINTS for edge in edges) for span in line.spans)


def _split_columns(lines: Sequence[Line], edges: Sequence[float]) -> list[list[LineSpan]]:
    columns: list[list[LineSpan]] = [[] for _ in edges]
    for line in lines:
        for span in line.spans:
            columns[min(range(len(edges)), key=lambda column: abs(edges[column] - span.x0))].append(span)
    return columns


def _is_prose(column: Sequence[LineSpan]) -> bool:
    if len(column) < _MIN_LINES:
        return False
    widths = [span.x1 - span.x0 for span in column]
    going_on = sum(span.text[:1].islower() for span in column[1:])
    return (
        median(len(span.text) for span in column) >= _MIN_LINE_CHARS
        and median(widths) >= _MIN_FILLED_SHARE * max(widths)
        and going_on >= _MIN_CONTINUED_SHARE * (len(column) - 1)
    )


def _order_by_column(lines: Sequence[Line]) -> list[Line]:
    columns = _split_columns(lines, [span.x0 for span in lines[0].spans])
    return [Line((span,)) for column in columns for span in column]
