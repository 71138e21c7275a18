"""The cells of a table: its rows between and beside the rules, and cells over several rows or columns."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from argot.corpus.readers.pdf_lines import LineSpan
from argot.corpus.readers.pdf_rules import Rules, group_by_place
from argot.corpus.readers.table_columns import EDGE_POINTS, OVERHANG_POINTS, split_columns
from argot.corpus.readers.table_grid import Area, GridCell, join_cell_text, make_text_rows
from argot.corpus.readers.table_lines import (
    PlacedSpan,
    find_paragraph_begins,
    find_row_begins,
    has_rows,
    is_body,
    measure_bottom,
    measure_top,
)

_CENTRE_TOLERANCE_POINTS = 4.0
"""Points by which the middle of a heading may miss that of its columns."""


def find_grid_cells(spans: Sequence[LineSpan], rules: Rules, area: Area) -> list[GridCell]:
    """Return the cells of the table that these spans make in that area; `rules` are those within it."""
    parts, separators = split_columns(spans, rules, area)
    return _Table(parts, rules, area, separators).cells()


class _Table:
    """Bands between horizontal rules, cut further where text rows begin; neighbours without a separator are one
    cell.
    """

    def __init__(self, spans: Sequence[LineSpan], rules: Rules, area: Area, separators: Sequence[float]) -> None:
        self.rules = rules
        self.xs = [min(area.x0, separators[0] - 1) if separators else area.x0, *separators, area.x1]
        levels = [at for at, _ in group_by_place(rules.level, lambda rule: rule.at, EDGE_POINTS)]
        self.ys = [area.y0, *(at for at in levels if area.y0 + EDGE_POINTS < at < area.y1 - EDGE_POINTS), area.y1]
        self.columns = len(self.xs) - 1
        self.placed = [self._place_span(span) for span in spans]
        self.placed = self._widen_heads()
        self.held: defaultdict[int, list[PlacedSpan]] = defaultdict(list)
        """The spans in each band."""

    def _place_span(self, span: LineSpan) -> PlacedSpan:
        slack = min(OVERHANG_POINTS + 0.1 * (span.x1 - span.x0), (span.x1 - span.x0) / 2)
        first, last = self._find_column(span.x0 + slack), self._find_column(span.x1 - slack)
        return PlacedSpan(span, first, max(first, last))

    def _widen_heads(self) -> list[PlacedSpan]:
        """Widen headings to the columns that their rule underlines, or that they stand in the middle of."""
        rows = make_text_rows(one.span for one in self.placed)
        place = {id(one.span): one for one in self.placed}
        lines = [[place[id(span)] for span in row] for row in rows]
        body = next((number for number, line in enumerate(lines) if is_body(line)), 0)
        for number in range(min(body, len(lines) - 1)):
            for one in lines[number]:
                place[id(one.span)] = self._widen_head(one, lines[number], lines[number + 1 : body + 1])
        return list(place.values())

    def _widen_head(
        self, head: PlacedSpan, beside: Sequence[PlacedSpan], below: Sequence[Sequence[PlacedSpan]]
    ) -> PlacedSpan:
        low = max((one.last + 1 for one in beside if one.last < head.first), default=1)
        high = min((one.first - 1 for one in beside if one.first > head.last), default=self.columns - 1)
        if head.first < 1 or high - low < 1:
            return head
        bottom = min(one.span.y0 for one in below[0]) + 1
        middle = (head.span.x0 + head.span.x1) / 2
        for rule in self.rules.level:
            # The rule is the heading's own if it goes beyond it, but not over all columns.
            if (
                head.span.middle < rule.at < bottom
                and rule.covers(middle)
                and rule.start > self.xs[1] - 2 * EDGE_POINTS
            ):
                if any(other is not head and rule.covers(other.span.x0) for other in beside):
                    continue
                inside = [c for c in range(low, high + 1) if rule.covers((self.xs[c] + self.xs[c + 1]) / 2)]
                return PlacedSpan(head.span, min(head.first, *inside), max(head.last, *inside)) if inside else head
        edges = [self._measure_text_edges(column, below) for column in range(self.columns)]
        return self._match_centred_columns(head, middle, edges, range(low, high + 1))

    def _measure_text_edges(self, column: int, below: Sequence[Sequence[PlacedSpan]]) -> tuple[float, float] | None:
        spans = [one.span for line in below for one in line if one.first == one.last == column]
        return (min(span.x0 for span in spans), max(span.x1 for span in spans)) if spans else None

    @staticmethod
    def _match_centred_columns(
        head: PlacedSpan, middle: float, edges: Sequence[tuple[float, float] | None], free: range
    ) -> PlacedSpan:
        """Return the fewest columns, its own included, that a heading is centred over; its own if there are none."""
        for width in range(head.last - head.first, len(free)):
            for first in range(max(free.start, head.last - width), head.first + 1):
                left, right = edges[first], edges[first + width] if first + width in free else None
                if left is None or right is None:
                    continue
                own = width == head.last - head.first
                at_side = own and (
                    abs(left[0] - head.span.x0) < _CENTRE_TOLERANCE_POINTS
                    or abs(right[1] - head.span.x1) < _CENTRE_TOLERANCE_POINTS
                )
                if at_side or abs((left[0] + right[1]) / 2 - middle) < _CENTRE_TOLERANCE_POINTS:
                    return PlacedSpan(head.span, first, first + width)
        return head

    def _find_column(self, x: float) -> int:
        return bisect_left(self.xs, x, 1, len(self.xs) - 1) - 1

    def _find_band(self, y: float) -> int:
        return bisect_left(self.ys, y, 1, len(self.ys) - 1) - 1

    def cells(self) -> list[GridCell]:
        self._drop_blank_bands()
        for one in self.placed:
            self.held[self._find_band(one.span.middle)].append(one)
        upper = [[self._is_open_below(band, column) for column in range(self.columns)] for band in self._iter_bands()]
        cuts = [self._find_cuts(band, upper) for band in self._iter_bands()]
        parts = [(band, number) for band in self._iter_bands() for number in range(len(cuts[band]) + 1)]
        place = {part: row for row, part in enumerate(parts)}
        joined = _CellPlaces()
        for (band, number), row in place.items():
            last = number == len(cuts[band])
            for column in range(self.columns):
                merged = upper[band][column] or (band > 0 and upper[band - 1][column])
                if row + 1 < len(parts) and ((last and upper[band][column]) or (not last and merged)):
                    joined.join((row, column), (row + 1, column))
                if column + 1 < self.columns and self._is_open_right(band, column):
                    joined.join((row, column), (row, column + 1))
        texts: dict[tuple[int, int], list[LineSpan]] = {}
        for one in self.placed:
            band = self._find_band(one.span.middle)
            row = place[band, bisect_left(cuts[band], one.span.middle)]
            for column in range(one.first, one.last):
                joined.join((row, column), (row, column + 1))
            texts.setdefault((row, one.first), []).append(one.span)
        return _make_cells(joined, texts, len(parts), self.columns)

    def _iter_bands(self) -> range:
        return range(len(self.ys) - 1)

    def _drop_blank_bands(self) -> None:
        """Drop bands without text, such as that between the two strokes of a double rule."""
        held = {self._find_band(one.span.middle) for one in self.placed}
        kept = [self.ys[band + 1] for band in self._iter_bands() if band in held]
        self.ys = [self.ys[0], *kept[:-1], self.ys[-1]]

    def _is_boxed(self, x: float, y: float) -> bool:
        """Return True where upright rules stand at the height of this place, on one of its sides at least."""
        return any(rule.covers(y) and abs(rule.at - x) < EDGE_POINTS for rule in self.rules.upright)

    def _is_open_below(self, band: int, column: int) -> bool:
        """Return True if no rule separates the cell from the one below, though vertical rules show that one could."""
        if band + 1 >= len(self.ys) - 1:
            return False
        y, x = self.ys[band + 1], (self.xs[column] + self.xs[column + 1]) / 2
        if any(abs(rule.at - y) < 2 * EDGE_POINTS and rule.covers(x) for rule in self.rules.level):
            return False
        # Many tables are open at their sides.
        left = self._is_boxed(self.xs[column], y)
        right = self._is_boxed(self.xs[column + 1], y)
        return (left or column == 0) and (right or column + 1 == self.columns) and (left or right)

    def _is_open_right(self, band: int, column: int) -> bool:
        """Return True if no rule separates the cell from the one to its right, though it separates others of the
        band.
        """
        x, y = self.xs[column + 1], (self.ys[band] + self.ys[band + 1]) / 2
        if not any(abs(rule.at - x) < 2 * EDGE_POINTS for rule in self.rules.upright) or self._is_boxed(x, y):
            return False
        if not any(rule.covers(y) for rule in self.rules.upright):
            return False
        rows = make_text_rows(one.span for one in self.held[band])
        return not any(
            left.x1 - OVERHANG_POINTS <= x <= right.x0 + OVERHANG_POINTS
            for row in rows
            for left, right in pairwise(row)
        )

    # -- rows within a band

    def _find_cuts(self, band: int, upper: Sequence[Sequence[bool]]) -> list[float]:
        """Return the places between two level rules where rows begin."""
        held = [
            one
            for one in self.held[band]
            if not upper[band][one.first] and not (band > 0 and upper[band - 1][one.first])
        ]
        place = {id(one.span): one for one in held}
        lines = [[place[id(span)] for span in row] for row in make_text_rows(one.span for one in held)]
        if len(lines) < 2:
            return []
        y = (self.ys[band] + self.ys[band + 1]) / 2
        boxed = sum(self._is_boxed(x, y) for x in self.xs[1:-1]) > 0
        heads = band == 0 and len(self.ys) > 2
        begins = find_row_begins(lines, heads=heads) if not boxed or has_rows(lines) else find_paragraph_begins(lines)
        return [(measure_bottom(lines[at - 1]) + measure_top(lines[at])) / 2 for at in begins]


class _CellPlaces:
    """Places of a grid that belong to one cell."""

    def __init__(self) -> None:
        self._above: dict[tuple[int, int], tuple[int, int]] = {}

    def of(self, place: tuple[int, int]) -> tuple[int, int]:
        while place in self._above:
            place = self._above[place]
        return place

    def join(self, one: tuple[int, int], other: tuple[int, int]) -> None:
        first, second = sorted((self.of(one), self.of(other)))
        if first != second:
            self._above[second] = first


def _make_cells(
    joined: _CellPlaces, texts: dict[tuple[int, int], list[LineSpan]], rows: int, columns: int
) -> list[GridCell]:
    spans: dict[tuple[int, int], list[LineSpan]] = {}
    for place, held in texts.items():
        spans.setdefault(joined.of(place), []).extend(held)
    ends: dict[tuple[int, int], tuple[int, int]] = {}
    begins: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(rows):
        for column in range(columns):
            cell = joined.of((row, column))
            end, begin = ends.get(cell, (0, 0)), begins.get(cell, (row, column))
            ends[cell] = (max(end[0], row), max(end[1], column))
            begins[cell] = (min(begin[0], row), min(begin[1], column))
    return [
        GridCell(*begins[cell], join_cell_text(spans[cell]), *ends[cell]) for cell in sorted(begins) if cell in spans
    ]
