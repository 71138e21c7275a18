"""Lines of text within a table: which of them begin a row, and which continue the cells above."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from argot.corpus.readers.pdf_lines import HYPHEN, LineSpan
from argot.corpus.readers.table_grid import NUMBER_LIKE, YEAR

HALF_LINE_SIZES = 0.9
"""In font sizes: nearer text is centred beside several lines."""
CONTINUED_LINE = re.compile(r"[a-zà-ÿ(&/]")
"""The beginning of a cell's second line: no capital and no figure."""
_UNFINISHED_ENDINGS = ("/", ",", "(", "&", HYPHEN, " and", " of", " the", " for", " or")


@dataclass(frozen=True, slots=True)
class PlacedSpan:
    """A span and the columns it stands in."""

    span: LineSpan
    first: int
    last: int


def has_rows(lines: Sequence[Sequence[PlacedSpan]]) -> bool:
    """Return True where lines between two rules are rows: text continues in the next line, figures do not.

    Nor does a heading of several columns continue in the text below it.
    """
    wide = [one for line in lines for one in line if one.last > one.first]
    if any(
        other.span.y0 > one.span.middle and one.first < other.first <= one.last
        for one in wide
        for line in lines
        for other in line
    ):
        return True
    counts = Counter(one.first for line in lines for one in line if NUMBER_LIKE.fullmatch(one.span.text))
    return max(counts.values(), default=0) > 1


def find_paragraph_begins(lines: Sequence[Sequence[PlacedSpan]]) -> list[int]:
    """Return the lines after a blank one through all columns, where the first column begins again."""
    steps = [measure_top(line) - measure_top(above) for above, line in pairwise(lines)]
    usual = min(steps)
    return [number for number, step in enumerate(steps, start=1) if step > 1.5 * usual and lines[number][0].first == 0]


def find_row_begins(lines: Sequence[Sequence[PlacedSpan]], *, heads: bool) -> list[int]:
    """Return the lines that begin a row, except the first; the others continue the cells above them.

    `heads`: without figures they are the names of the columns.
    """
    body = next((number for number, line in enumerate(lines) if is_body(line)), len(lines) if heads else 0)
    return [
        number
        for number in range(1, len(lines))
        if not (
            _is_heading_continued(lines[number - 1], lines[number]) if number < body else _is_continued(lines, number)
        )
    ]


def is_body(line: Sequence[PlacedSpan]) -> bool:
    figures = [one for one in line if one.first > 0 and NUMBER_LIKE.fullmatch(one.span.text)]
    return line[0].first == 0 and any(not YEAR.fullmatch(one.span.text) for one in figures)


def _is_heading_continued(above: Sequence[PlacedSpan], line: Sequence[PlacedSpan]) -> bool:
    """Return True for column names over several lines: none above reaches over several that stand below it."""
    if _measure_pitch(above, line) > 1.45 or any(NUMBER_LIKE.fullmatch(one.span.text) for one in line):
        return False
    if len(line) == 1 and line[0].first == 0 and not CONTINUED_LINE.match(line[0].span.text):
        return False  # the name of the rows below
    over = [sum(one.first <= other.first <= one.last for other in line) for one in above]
    return max(over, default=0) <= 1 and not any(one.last > one.first for one in above)


def _is_continued(lines: Sequence[Sequence[PlacedSpan]], number: int) -> bool:
    """Return True where a line continues the cells of the one above it."""
    above, line = lines[number - 1], lines[number]
    if _measure_pitch(above, line) > 1.6:
        return False
    if _measure_pitch(above, line) < HALF_LINE_SIZES:
        return True
    lone = len(line) == 1 and line[0].first == 0
    if lone or (len(above) == 1 and above[0].first == 0):
        # The name of a row begins above its figures, or goes on below them.
        goes_on = CONTINUED_LINE.match(line[0].span.text) or above[0].span.text.endswith(_UNFINISHED_ENDINGS)
        return line[0].first == above[0].first == 0 and bool(goes_on)
    texts = [one for one in line if not NUMBER_LIKE.fullmatch(one.span.text)]
    filled = {one.first for one in above}
    return line[0].first > 0 and len(texts) == len(line) and {one.first for one in line} <= filled


def _measure_pitch(above: Sequence[PlacedSpan], line: Sequence[PlacedSpan]) -> float:
    """Return the distance from line to line, in font sizes."""
    size = max(one.span.size for one in line)
    return (_measure_base(line) - _measure_base(above)) / max(size, 1.0)


def _measure_base(line: Sequence[PlacedSpan]) -> float:
    # Of the longest text: an asterisk is higher, a comma lower.
    return max(line, key=lambda one: len(one.span.text)).span.y1


def measure_top(line: Sequence[PlacedSpan]) -> float:
    return min(one.span.y0 for one in line)


def measure_bottom(line: Sequence[PlacedSpan]) -> float:
    return max(one.span.y1 for one in line)
