"""Pictures and paths on a PDF page, and the boxes around them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from argot.corpus.readers.pdf_lines import Line

Picture = tuple[int, int, int, int]
"""Its place in points."""
MAX_CAPTION_POINTS = 60.0
"""Points between a picture and its caption."""
EDGE_POINTS = 2.0
_MAX_OBJECTS = 20_000
_MAX_DEPTH = 3
_MAX_PATHS = 5_000
_MIN_FREE_POINTS = 20.0
_MIN_FREE_WIDTH_POINTS = 4.0
_MAX_FREE_SEGMENTS = 60
_ROUNDED_CORNER_SHARE = 0.3
"""Share of a path within which a curve is only its rounded corner."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A picture or a path. `is_free`: it is curved or slanted, as nothing in a table or a frame is."""

    is_image: bool
    bounds: tuple[float, float, float, float]
    is_free: bool = False


def unite(one: Picture, other: Picture) -> Picture:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def overlap(one: Picture, other: Picture, margin: int = 0) -> bool:
    return (
        max(one[0], other[0]) < min(one[2], other[2]) + margin
        and max(one[1], other[1]) < min(one[3], other[3]) + margin
    )


def measure_area(box: Picture) -> float:
    return float((box[2] - box[0]) * (box[3] - box[1]))


def is_inside(box: Picture, line: Line) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def is_beside(box: Picture, line: Line) -> bool:
    """Return whether a line stands closely above or below a picture."""
    overlaps = line.x0 < box[2] and line.x1 > box[0]
    return overlaps and (
        -EDGE_POINTS * 3 <= line.y0 - box[3] <= MAX_CAPTION_POINTS
        or -EDGE_POINTS * 3 <= box[1] - line.y1 <= MAX_CAPTION_POINTS
    )


def list_shapes(page: Any) -> Iterator[Shape]:
    """Yield the pictures and paths of a page; bounds are left, bottom, right and top in the page's own coordinates."""
    import pypdfium2.raw as pdfium

    left, paths = _MAX_OBJECTS, _MAX_PATHS
    corners = [ctypes.c_float() for _ in range(4)]
    refs = [ctypes.byref(corner) for corner in corners]
    objects: list[tuple[Any, list[Any]]] = []
    for index in range(min(pdfium.FPDFPage_CountObjects(page.raw), _MAX_OBJECTS)):
        objects.append((pdfium.FPDFPage_GetObject(page.raw, index), []))
    while objects and left > 0:
        left -= 1
        shape, matrices = objects.pop()
        kind = pdfium.FPDFPageObj_GetType(shape)
        if kind == pdfium.FPDF_PAGEOBJ_FORM and len(matrices) < _MAX_DEPTH:
            matrix = pdfium.FS_MATRIX()
            pdfium.FPDFPageObj_GetMatrix(shape, ctypes.byref(matrix))
            for index in range(min(pdfium.FPDFFormObj_CountObjects(shape), left)):
                objects.append((pdfium.FPDFFormObj_GetObject(shape, index), [matrix, *matrices]))
            continue
        is_image, is_path = kind == pdfium.FPDF_PAGEOBJ_IMAGE, kind == pdfium.FPDF_PAGEOBJ_PATH and paths > 0
        paths -= is_path
        if (is_image or is_path) and pdfium.FPDFPageObj_GetBounds(shape, *refs):
            x0, y0, x1, y1 = (corner.value for corner in corners)
            (x0, y0), (x1, y1) = _map_point(matrices, x0, y0), _map_point(matrices, x1, y1)
            bounds = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
            yield Shape(is_image, bounds, is_path and _is_free(shape, bounds))


def _map_point(matrices: Sequence[Any], x: float, y: float) -> tuple[float, float]:
    for matrix in matrices:
        x, y = matrix.a * x + matrix.c * y + matrix.e, matrix.b * x + matrix.d * y + matrix.f
    return x, y


def _is_free(path: Any, bounds: tuple[float, float, float, float]) -> bool:
    """Return whether a path has a slanted line, or a curve that is no rounded corner."""
    import pypdfium2.raw as pdfium

    sides = sorted((bounds[2] - bounds[0], bounds[3] - bounds[1]))
    if sides[0] < _MIN_FREE_WIDTH_POINTS or sides[1] < _MIN_FREE_POINTS:
        return False
    x, y = ctypes.c_float(), ctypes.c_float()
    points: list[tuple[int, float, float]] = []
    for number in range(min(pdfium.FPDFPath_CountSegments(path), _MAX_FREE_SEGMENTS)):
        segment = pdfium.FPDFPath_GetPathSegment(path, number)
        pdfium.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        points.append((pdfium.FPDFPathSegment_GetType(segment), x.value, y.value))
    width, height = (max(one[at] for one in points) - min(one[at] for one in points) for at in (1, 2))
    least = 1e-3 * max(width, height)
    for (_, x0, y0), (kind, x1, y1) in pairwise(points):
        if kind == pdfium.FPDF_SEGMENT_LINETO and abs(x1 - x0) > least and abs(y1 - y0) > least:
            return True
    # A curve has three points: two controls and its end.
    for (_, x0, y0), (kind, x1, y1) in zip(points, points[3:], strict=False):
        if kind == pdfium.FPDF_SEGMENT_BEZIERTO and (
            abs(x1 - x0) > _ROUNDED_CORNER_SHARE * width and abs(y1 - y0) > _ROUNDED_CORNER_SHARE * height
        ):
            return True
    return False
