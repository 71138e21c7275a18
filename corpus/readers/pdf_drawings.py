"""Charts and diagrams that are drawn on a PDF page by lines, curves and filled boxes, without any picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from argot.corpus.readers.pdf_lines import Line
from argot.corpus.readers.pdf_shapes import (
    EDGE_POINTS,
    MAX_CAPTION_POINTS,
    Picture,
    is_beside,
    is_inside,
    measure_area,
    overlap,
    unite,
)

_MIN_PATHS = 6
"""Lines, curves and filled boxes of which a drawing has at least so many: fewer are rules and frames."""
_MIN_SHAPES = 2
_MIN_SHAPE_POINTS = 4
_MIN_DRAWING_POINTS = 40.0
_MIN_PROSE_WORDS = 8
"""Words of a line from which it is running text, and no label in a drawing."""
_MIN_PARAGRAPH_LINES = 3
_MIN_BARE_SHARE = 0.05
"""Share of the page of a drawing without a caption: smaller ones are logos and ornaments."""
_MIN_BARE_POINTS = 80.0
_MAX_BARE_SHARE = 0.8
_MIN_FREE_SHAPES = 3
"""Curves and slanted lines that make a drawing without a caption a chart."""
_MIN_CURVE_SHARE = 0.4
"""Share of a chart's width that its only curve has, and each of its axes or grid lines."""
_MIN_BARS = 4
_MIN_BARS_SHARE = 0.3
"""Bars, as a share of the smaller boxes of a chart: a table has many cells beside those that look like bars."""
_MIN_BAR_LENGTHS = 3
_MAX_BAR_SHARE = 0.6
"""Share of its place that a bar fills across: the cells of a table touch each other."""
_JOIN_POINTS = 6
_LEGEND_POINTS = 30.0
_MAX_CLUSTERS = 400


@dataclass(frozen=True, slots=True)
class Stroke:
    """A path of a drawing. `is_free`: it is curved or slanted."""

    box: Picture
    is_free: bool


def find_captioned(strokes: Sequence[Stroke], lines: Sequence[Line], captions: Sequence[Line]) -> list[Picture]:
    """Return the drawing of each caption, if there is one."""
    found: list[Picture] = []
    for caption in captions:
        box = _find_drawing(strokes, lines, caption, captions)
        # A caption of several lines may name it twice.
        if box and not any(overlap(box, other) for other in found):
            found.append(box)
    return found


def find_bare(
    strokes: Sequence[Stroke], lines: Sequence[Line], taken: Sequence[Picture], size: tuple[float, float]
) -> list[Picture]:
    """Return the charts of a page that have no caption: with curves, slanted lines or bars, as no table has them."""
    page_area = max(size[0] * size[1], 1.0)
    # Lines around and along the page would join everything.
    inside = [
        one for one in strokes if one.box[2] - one.box[0] < 0.9 * size[0] and one.box[3] - one.box[1] < 0.9 * size[1]
    ]
    found = []
    for cluster in _list_clusters(inside):
        box = _surround(one.box for one in cluster)
        prose = sum(_is_prose(line) for line in lines if is_inside(box, line))
        if (
            _MIN_BARE_SHARE <= measure_area(box) / page_area <= _MAX_BARE_SHARE
            and min(box[2] - box[0], box[3] - box[1]) >= _MIN_BARE_POINTS
            and prose < _MIN_SHAPES
            and not any(overlap(box, other) for other in taken)
            and (sum(one.is_free for one in cluster) >= _MIN_FREE_SHAPES or _has_curve(cluster) or _has_bars(cluster))
        ):
            found.append(box)
    return found


def _find_drawing(
    strokes: Sequence[Stroke], lines: Sequence[Line], caption: Line, captions: Sequence[Line]
) -> Picture | None:
    """Return the drawing above a caption, up to the paragraph before it; else the one below it."""
    # In its own column: beside a chart, the other column goes on.
    frames = [one.box for one in strokes if _is_frame(one.box, lines)]
    prose = [
        line
        for line in lines
        if _is_prose(line) and line is not caption and _is_in_column(line, caption)
        and not any(is_inside(box, line) and not is_inside(box, caption) for box in frames)
    ]  # fmt: skip
    top = max((line.y1 for line in prose if line.y1 <= caption.y0), default=0.0)
    last = _find_last_line(lines, caption)
    below = [line.y0 for line in prose if line.y0 >= last.y1]
    parts = _choose_nearest(strokes, caption, captions)
    for start, end in ((top, caption.y0), (last.y1, min(below, default=float("inf")))):
        inside = [one for one in parts if one.box[1] >= start - EDGE_POINTS and one.box[3] <= end + EDGE_POINTS]
        if not _is_drawing(inside):
            continue
        around = _surround(one.box for one in inside)
        if not (is_beside(around, caption) or is_beside(around, last)):
            continue
        labels = (
            span
            for line in lines
            if line is not caption and not _is_prose(line) and start <= line.y0 and line.y1 <= end
            for span in line.spans
            if span.x0 < around[2] + _LEGEND_POINTS and span.x1 > around[0] - _LEGEND_POINTS
        )  # fmt: skip
        spans = [(round(one.x0), round(one.y0), round(one.x1), round(one.y1)) for one in labels]
        around = _surround([around, *spans])
        return _add_frame(around, strokes, caption, lines)
    return None


def _is_frame(box: Picture, lines: Sequence[Line]) -> bool:
    """Return whether a path is large enough to hold a legend, and holds no paragraph."""
    return _measure_thickness(box) >= _MIN_DRAWING_POINTS and (
        sum(_is_prose(line) for line in lines if is_inside(box, line)) < _MIN_PARAGRAPH_LINES
    )


def _find_last_line(lines: Sequence[Line], caption: Line) -> Line:
    """Return the last line of the paragraph that a caption begins."""
    last = caption
    for line in sorted(lines, key=lambda one: one.y0):
        is_next = last.y1 - EDGE_POINTS <= line.y0 <= last.y1 + 0.8 * (caption.y1 - caption.y0)
        if (
            line is not caption
            and is_next
            and _is_in_column(line, caption)
            and line.x0 < caption.x0 + MAX_CAPTION_POINTS
        ):
            last = line
    return last


def _choose_nearest(strokes: Sequence[Stroke], caption: Line, captions: Sequence[Line]) -> list[Stroke]:
    """Return the paths that are no nearer to another caption beside this one."""
    rivals = [
        (one.x0 + one.x1) / 2
        for one in captions
        if one is not caption and one.y0 < caption.y1 and one.y1 > caption.y0 and not _is_in_column(one, caption)
    ]
    own = (caption.x0 + caption.x1) / 2
    return [
        one
        for one in strokes
        if all(abs((one.box[0] + one.box[2]) / 2 - own) <= abs((one.box[0] + one.box[2]) / 2 - at) for at in rivals)
    ]


def _is_drawing(strokes: Sequence[Stroke]) -> bool:
    if not strokes:
        return False
    free = [one.box for one in strokes if one.is_free]
    around = _surround(one.box for one in strokes)
    if min(around[2] - around[0], around[3] - around[1]) < _MIN_DRAWING_POINTS:
        return False
    if any(min(box[2] - box[0], box[3] - box[1]) >= _MIN_DRAWING_POINTS for box in free):
        return True  # a curve over its axes
    # Level and upright strokes alone are the rules of a table.
    shapes = [one.box for one in strokes if _measure_thickness(one.box) >= _MIN_SHAPE_POINTS]
    return len(strokes) >= _MIN_PATHS and len(shapes) >= _MIN_SHAPES and (bool(free) or not _are_cells(shapes))


def _are_cells(shapes: Sequence[Picture]) -> bool:
    """Return whether filled boxes are the coloured cells of a table: of one height, in rows, with the same edges."""
    if len(shapes) < _MIN_PATHS:
        return False
    heights = sorted(box[3] - box[1] for box in shapes)
    middle = heights[len(heights) // 2]
    alike = sum(abs(height - middle) <= 0.3 * middle for height in heights)
    columns = Counter((box[0], box[2]) for box in shapes)
    # Bars of a chart are of one height, too, but each has its own end.
    return alike >= 0.8 * len(heights) and len(columns) <= len(shapes) / 2


def _has_curve(cluster: Sequence[Stroke]) -> bool:
    """Return whether one curve goes through most of a drawing, between axes or over a grid."""
    left, _, right, _ = _surround(one.box for one in cluster)
    least = _MIN_CURVE_SHARE * (right - left)
    wide = [one for one in cluster if one.box[2] - one.box[0] >= least]
    curves = [one for one in wide if one.is_free and one.box[3] - one.box[1] >= _MIN_DRAWING_POINTS]
    level = [one for one in wide if one.box[3] - one.box[1] < _MIN_SHAPE_POINTS]
    return bool(curves) and len(level) >= _MIN_SHAPES


def _has_bars(cluster: Sequence[Stroke]) -> bool:
    """Return whether boxes of one thickness and of several lengths begin at one line, with gaps between them."""
    boxes = [one.box for one in cluster if _measure_thickness(one.box) >= _MIN_SHAPE_POINTS]
    # Level bars from the left, and upright ones from below.
    level = [(box[0], box[1], box[3], box[2]) for box in boxes]
    upright = [(-box[3], box[0], box[2], -box[1]) for box in boxes]
    small = sum(
        max(box[2] - box[0], box[3] - box[1]) < _MIN_BARE_POINTS or _measure_thickness(box) < 40 for box in boxes
    )
    return any(_count_bars(bars) >= max(_MIN_BARS, _MIN_BARS_SHARE * small) for bars in (level, upright))


def _count_bars(bars: Sequence[tuple[int, int, int, int]]) -> int:
    """Return how many bars the boxes (start, one side, other side, end) are. The parts of a stacked one are one bar,
    and so are the coloured cells of a row in a table, which all end at its edge.
    """
    ends: dict[tuple[int, int], int] = {}
    starts: dict[tuple[int, int], int] = {}
    for start, side, other, end in bars:
        starts[side, other] = min(starts.get((side, other), start), start)
        ends[side, other] = max(ends.get((side, other), end), end)
    if not starts:
        return 0
    common, _ = Counter(starts.values()).most_common(1)[0]
    aligned = sorted(place for place, start in starts.items() if start == common)
    thickness = sorted(other - side for side, other in aligned)[len(aligned) // 2]
    aligned = [one for one in aligned if abs(one[1] - one[0] - thickness) <= 1]
    if len(aligned) < _MIN_BARS or len({ends[one] for one in aligned}) < _MIN_BAR_LENGTHS:
        return 0
    step = (aligned[-1][0] - aligned[0][0]) / (len(aligned) - 1)
    return len(aligned) if thickness <= _MAX_BAR_SHARE * step else 0


def _list_clusters(strokes: Sequence[Stroke]) -> Iterator[list[Stroke]]:
    """Yield the paths that touch each other, or nearly."""
    clusters: list[tuple[Picture, list[Stroke]]] = []
    for stroke in sorted(strokes, key=lambda one: (one.box[1], one.box[0])):
        box, members = stroke.box, [stroke]
        while near := [one for one in clusters if overlap(one[0], box, _JOIN_POINTS)]:
            clusters = [one for one in clusters if one not in near]
            for other, others in near:
                box, members = unite(box, other), members + others
        clusters.append((box, members))
        if len(clusters) > _MAX_CLUSTERS:
            return
    yield from (members for _, members in clusters)


def _add_frame(around: Picture, strokes: Sequence[Stroke], caption: Line, lines: Sequence[Line]) -> Picture:
    """Return the frame that holds a drawing and its caption, if there is one: axes may begin above the caption."""
    for one in sorted(strokes, key=lambda one: measure_area(one.box)):
        holds = unite(one.box, around) == one.box and is_inside(one.box, caption)
        if holds and sum(_is_prose(line) for line in lines if is_inside(one.box, line)) < _MIN_SHAPES:
            return one.box
    return around


def _surround(boxes: Iterable[Picture]) -> Picture:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def _measure_thickness(box: Picture) -> int:
    return min(box[2] - box[0], box[3] - box[1])


def _is_prose(line: Line) -> bool:
    # The labels of two axes may be far from each other on one line.
    return max((len(span.text.split()) for span in line.spans if not span.angle), default=0) >= _MIN_PROSE_WORDS


def _is_in_column(line: Line, caption: Line) -> bool:
    return line.x0 < caption.x1 and line.x1 > caption.x0
