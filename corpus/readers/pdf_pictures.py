"""Pictures of a PDF page with content beside its text: neither decoration nor the scan of the text."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from argot.corpus.readers.pdf_lines import Line, make_place

_MIN_PAGE_SHARE = 0.05
"""Share of the page: smaller ones are logos and symbols."""
_WHOLE_PAGE_SHARE = 0.9
_MAX_OBJECTS = 20_000
_MAX_DEPTH = 3
_MIN_COVERED_LINES = 2
"""Lines of text on a picture from which it is their background, or their scan."""
_MIN_REPEATED_PAGES = 3
"""Pages with the same picture at the same position: it is a decoration."""
Picture = tuple[int, int, int, int]
"""Its place in points."""


def read_pictures(page: Any, lines: Sequence[Line]) -> list[Picture]:
    """Return the large pictures of a page with text, except those behind text."""
    if not lines:
        return []
    width, height = page.get_size()
    place = make_place(page)
    found: list[Picture] = []
    for bounds in _list_image_bounds(page):
        x0, y0, x1, y1 = place(*bounds)
        x0, y0, x1, y1 = max(x0, 0.0), max(y0, 0.0), min(x1, width), min(y1, height)
        share = max(x1 - x0, 0.0) * max(y1 - y0, 0.0) / max(width * height, 1.0)
        behind = sum(x0 <= (line.x0 + line.x1) / 2 <= x1 and y0 <= (line.y0 + line.y1) / 2 <= y1 for line in lines)
        if _MIN_PAGE_SHARE <= share < _WHOLE_PAGE_SHARE and behind < _MIN_COVERED_LINES:
            found.append((round(x0), round(y0), round(x1), round(y1)))
    return found


def count_pictures(pages: Sequence[Sequence[Picture]]) -> int:
    """Return how many pictures there are, without those that are repeated from page to page."""
    counts = Counter(picture for page in pages for picture in set(page))
    return sum(counts[picture] < _MIN_REPEATED_PAGES for page in pages for picture in page)


def _list_image_bounds(page: Any) -> Iterator[tuple[float, float, float, float]]:
    """Yield left, bottom, right and top of each picture, in the page's own coordinates."""
    import pypdfium2.raw as pdfium

    left = _MAX_OBJECTS
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
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE and pdfium.FPDFPageObj_GetBounds(shape, *refs):
            x0, y0, x1, y1 = (corner.value for corner in corners)
            (x0, y0), (x1, y1) = _map_point(matrices, x0, y0), _map_point(matrices, x1, y1)
            yield min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _map_point(matrices: Sequence[Any], x: float, y: float) -> tuple[float, float]:
    for matrix in matrices:
        x, y = matrix.a * x + matrix.c * y + matrix.e, matrix.b * x + matrix.d * y + matrix.f
    return x, y
