"""The rules of a PDF page: the horizontal and vertical strokes that separate the rows and columns of its tables."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from argot.corpus.readers.pdf_lines import make_place

# Drawings can have hundreds of thousands of strokes.
_MAX_PATHS = 3000
_MAX_SEGMENTS = 20_000
_MAX_RULE_POINTS = 3.0
"""Points: a filled box that is thicker is a patch."""
_MIN_RULE_POINTS = 5.0
_PLACE_TOLERANCE_POINTS = 2.0
_TOUCH_POINTS = 3.0
_T = TypeVar("_T")
_Segment = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight stroke, in points from the top left corner: for a horizontal one `at` is y and `start` to `end` x."""

    at: float
    start: float
    end: float

    def covers(self, place: float) -> bool:
        return self.start - _TOUCH_POINTS <= place <= self.end + _TOUCH_POINTS


@dataclass(frozen=True, slots=True)
class Rules:
    level: tuple[Rule, ...] = ()
    upright: tuple[Rule, ...] = ()


def find_rules(page: Any) -> Rules:
    """Return strokes, thin boxes and the sides of frames; those in one line that touch are one."""
    level: list[Rule] = []
    upright: list[Rule] = []
    width, height = page.get_size()
    for segment in _iter_segments(page):
        # Strokes beyond the paper are not visible.
        x0, x1 = (min(max(x, 0.0), width) for x in sorted(segment[::2]))
        y0, y1 = (min(max(y, 0.0), height) for y in sorted(segment[1::2]))
        if y1 - y0 < _MAX_RULE_POINTS and x1 - x0 > _MIN_RULE_POINTS and x1 - x0 > y1 - y0:
            level.append(Rule((y0 + y1) / 2, x0, x1))
        elif x1 - x0 < _MAX_RULE_POINTS and y1 - y0 > _MIN_RULE_POINTS:
            upright.append(Rule((x0 + x1) / 2, y0, y1))
    return Rules(tuple(_merge_rules(level)), tuple(_merge_rules(upright)))


def _merge_rules(rules: list[Rule]) -> Iterator[Rule]:
    """Move rules at nearly the same place to one place, and join those that touch there."""
    for at, together in group_by_place(rules, lambda rule: rule.at, _PLACE_TOLERANCE_POINTS):
        begun: Rule | None = None
        for rule in sorted(together, key=lambda rule: rule.start):
            if begun is not None and rule.start <= begun.end + _TOUCH_POINTS:
                begun = Rule(at, begun.start, max(begun.end, rule.end))
                continue
            if begun is not None:
                yield begun
            begun = Rule(at, rule.start, rule.end)
        if begun is not None:
            yield begun


def group_by_place(
    things: Iterable[_T], place: Callable[[_T], float], apart: float
) -> Iterator[tuple[float, list[_T]]]:
    """Yield groups of things whose places are at most `apart` from the next, with the mean of their places."""
    group: list[_T] = []
    for thing in sorted(things, key=place):
        if group and place(thing) - place(group[-1]) > apart:
            yield sum(map(place, group)) / len(group), group
            group = []
        group.append(thing)
    if group:
        yield sum(map(place, group)) / len(group), group


def _iter_segments(page: Any) -> Iterator[_Segment]:
    """Yield (x0, y0, x1, y1) as the page is shown, for every shape that may be a rule."""
    import pypdfium2.raw as pdfium

    place = make_place(page)
    left = _MAX_SEGMENTS
    for count, shape in enumerate(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=3)):
        if count > _MAX_PATHS or left < 0:
            return
        matrices = _list_matrices(shape)
        x0, y0, x1, y1 = shape.get_bounds()
        if shape.container is not None:
            (x0, y0), (x1, y1) = _map_point(matrices[1:], x0, y0), _map_point(matrices[1:], x1, y1)
        if min(abs(x1 - x0), abs(y1 - y0)) < _MAX_RULE_POINTS:
            yield place(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
        elif _is_stroked(pdfium, shape):
            for start, end in _iter_lines(pdfium, shape.raw, left):
                left -= 1
                (x0, y0), (x1, y1) = _map_point(matrices, *start), _map_point(matrices, *end)
                yield place(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _list_matrices(shape: Any) -> list[Any]:
    """Return the matrices of the object and of the forms around it, innermost first."""
    matrices = []
    while shape is not None:
        matrices.append(shape.get_matrix())
        shape = shape.container
    return matrices


def _map_point(matrices: list[Any], x: float, y: float) -> tuple[float, float]:
    for matrix in matrices:
        x, y = matrix.a * x + matrix.c * y + matrix.e, matrix.b * x + matrix.d * y + matrix.f
    return x, y


def _is_stroked(pdfium: Any, shape: Any) -> bool:
    """Return True for a stroked shape; the edges of a coloured patch behind a word or line are no rules."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(shape.raw, ctypes.byref(fill), ctypes.byref(stroke))
    return bool(stroke.value)


def _iter_lines(pdfium: Any, path: Any, most: int) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield start and end of each straight piece, in the path's own coordinates."""
    x, y = ctypes.c_float(), ctypes.c_float()
    begun = last = (0.0, 0.0)
    for index in range(min(pdfium.FPDFPath_CountSegments(path), most)):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        here, kind = (x.value, y.value), pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            begun = here
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield last, here
        last = here
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield here, begun
