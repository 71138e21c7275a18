"""Pictures of a PDF page with content beside its text: neither decoration nor the scan of the text.

Each is kept as the page shows it: drawn with what is over it, in its colours and turned as it is read.
"""

from __future__ import annotations

import ctypes
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from argot.corpus.readers.pdf_lines import Line, make_place
from argot.corpus.readers.picture_captions import parse_label
from argot.corpus.readers.pictures import PictureShelf, get_shelf
from argot.types import Box, BoxMark, PageMark, ParsedDocument

_MIN_PAGE_SHARE = 0.05
"""Share of the page: smaller ones are logos and symbols."""
_MIN_CAPTIONED_SHARE = 0.008
"""Share of the page of a picture with a caption beside it."""
_MAX_CAPTION_POINTS = 60.0
"""Points between a picture and its caption."""
_PART_GAP_POINTS = 20.0
"""Points between the parts of one figure."""
_WHOLE_PAGE_SHARE = 0.9
_MAX_OBJECTS = 20_000
_MAX_DEPTH = 3
_MIN_COVERED_LINES = 2
"""Lines of text on a picture from which it is their background, or their scan."""
_MIN_REPEATED_PAGES = 3
"""Pages with the same picture at the same position: it is a decoration."""
_MIN_PATHS = 6
"""Lines, curves and filled boxes of which a drawing has at least so many: fewer are rules and frames."""
_MIN_SHAPES = 2
_MIN_SHAPE_POINTS = 4
_MAX_PATHS = 5_000
_MIN_DRAWING_POINTS = 40.0
_MIN_PROSE_WORDS = 8
"""Words of a line from which it is running text, and no label in a drawing."""
_DRAWN_DPI = 170
_MAX_DRAWN_PIXELS = 4_000_000
_EDGE_POINTS = 2.0
Picture = tuple[int, int, int, int]
"""Its place in points."""


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture that was kept. `has_words`: some were read in it."""

    box: Box
    mark: str
    has_words: bool


@dataclass(frozen=True, slots=True)
class PagePictures:
    """The pictures of a page, and the charts that are drawn on it by lines and filled boxes.

    `captioned`: those of the pictures that have a caption beside them.
    """

    images: list[Picture] = field(default_factory=list)
    captioned: frozenset[Picture] = frozenset()
    drawings: list[Picture] = field(default_factory=list)


def read_pictures(page: Any, lines: Sequence[Line]) -> PagePictures:
    """Return the pictures of a page with text, except small ones without a caption and those behind text.

    Of drawings only those with a caption: others are frames, rules and backgrounds.
    """
    if not lines:
        return PagePictures()
    width, height = page.get_size()
    place = make_place(page)
    boxes: dict[bool, list[Picture]] = {True: [], False: []}
    captions = [line for line in lines if parse_label(line.text)]
    for is_image, bounds in _list_bounds(page, max_paths=_MAX_PATHS if captions else 0):
        x0, y0, x1, y1 = place(*bounds)
        x0, y0, x1, y1 = max(x0, 0.0), max(y0, 0.0), min(x1, width), min(y1, height)
        if x1 >= x0 and y1 >= y0:
            boxes[is_image].append((round(x0), round(y0), round(x1), round(y1)))
    images = _choose_images(boxes[True], lines, captions, width * height)
    bare = [line for line in captions if not any(_is_beside(box, line) for box in images)]
    largest = _WHOLE_PAGE_SHARE * width * height
    drawings: list[Picture] = []
    for line in bare:
        box = _find_drawing(boxes[False], lines, line)
        # A caption of several lines may name it twice.
        if box and _measure_area(box) < largest and not any(_overlap(box, other) for other in drawings):
            drawings.append(box)
    captioned = frozenset(box for box in images if any(_is_beside(box, line) for line in captions))
    return PagePictures(images, captioned, drawings)


def _choose_images(
    boxes: Sequence[Picture], lines: Sequence[Line], captions: Sequence[Line], page_area: float
) -> list[Picture]:
    found = []
    for box in _join_parts([one for one in boxes if one[2] > one[0] and one[3] > one[1]], lines):
        share = _measure_area(box) / max(page_area, 1.0)
        least = _MIN_CAPTIONED_SHARE if any(_is_beside(box, line) for line in captions) else _MIN_PAGE_SHARE
        behind = sum(_is_inside(box, line) for line in lines)
        if least <= share < _WHOLE_PAGE_SHARE and behind < _MIN_COVERED_LINES:
            found.append(box)
    return found


def _find_drawing(paths: Sequence[Picture], lines: Sequence[Line], caption: Line) -> Picture | None:
    """Return the drawing above a caption, up to the paragraph before it; else the one below it."""
    prose = [line for line in lines if len(line.text.split()) >= _MIN_PROSE_WORDS and line is not caption]
    top = max((line.y1 for line in prose if line.y1 <= caption.y0), default=0.0)
    end = min((line.y0 for line in prose if line.y0 >= caption.y1), default=float("inf"))
    for first, last in ((top, caption.y0), (caption.y1, end)):
        inside = [box for box in paths if box[1] >= first - _EDGE_POINTS and box[3] <= last + _EDGE_POINTS]
        # Level and upright strokes alone are the rules of a table.
        shapes = sum(min(box[2] - box[0], box[3] - box[1]) >= _MIN_SHAPE_POINTS for box in inside)
        if len(inside) < _MIN_PATHS or shapes < _MIN_SHAPES:
            continue
        around = inside[0]
        for box in inside:
            around = _unite(around, box)
        if min(around[2] - around[0], around[3] - around[1]) < _MIN_DRAWING_POINTS or not _is_beside(around, caption):
            continue
        for line in lines:  # the labels of its axes
            if line is not caption and line not in prose and first <= line.y0 and line.y1 <= last:
                around = _unite(around, (round(line.x0), round(line.y0), round(line.x1), round(line.y1)))
        return around
    return None


def drop_repeated(pages: Sequence[PagePictures]) -> list[list[Picture]]:
    """Return the pictures of each page without those at a place where many pages have one, and no caption."""
    counts = Counter(picture for page in pages for picture in set(page.images))
    return [
        [one for one in page.images if one in page.captioned or counts[one] < _MIN_REPEATED_PAGES] for page in pages
    ]


def _join_parts(boxes: Sequence[Picture], lines: Sequence[Line]) -> list[Picture]:
    """Join pictures side by side, or below each other with no line of text between, as the parts of one figure are."""
    found: list[Picture] = []
    for box in sorted(set(boxes), key=lambda one: (one[1], one[0])):
        joined = box
        for other in [one for one in found if _are_parts(one, box, lines)]:
            found.remove(other)
            joined = _unite(joined, other)
        found.append(joined)
    return found


def _are_parts(one: Picture, other: Picture, lines: Sequence[Line]) -> bool:
    across = max(one[0], other[0]) - min(one[2], other[2])
    down = max(one[1], other[1]) - min(one[3], other[3])
    if across > _PART_GAP_POINTS or down > _PART_GAP_POINTS:
        return False
    if across <= 0 and down <= 0:
        return True
    # Parts of a figure are alike in size along the side on which they touch; a symbol beside a photograph is not.
    side, others = (one[3] - one[1], other[3] - other[1]) if across > 0 else (one[2] - one[0], other[2] - other[0])
    around = _unite(one, other)
    return min(side, others) > 0.6 * max(side, others) and not any(
        _is_inside(around, line) and not _is_inside(one, line) and not _is_inside(other, line) for line in lines
    )


def _unite(one: Picture, other: Picture) -> Picture:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _overlap(one: Picture, other: Picture) -> bool:
    return max(one[0], other[0]) < min(one[2], other[2]) and max(one[1], other[1]) < min(one[3], other[3])


def _measure_area(box: Picture) -> float:
    return float((box[2] - box[0]) * (box[3] - box[1]))


def _is_inside(box: Picture, line: Line) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _is_beside(box: Picture, line: Line) -> bool:
    """Return whether a line stands closely above or below a picture."""
    overlaps = line.x0 < box[2] and line.x1 > box[0]
    return overlaps and (
        -_EDGE_POINTS * 3 <= line.y0 - box[3] <= _MAX_CAPTION_POINTS
        or -_EDGE_POINTS * 3 <= box[1] - line.y1 <= _MAX_CAPTION_POINTS
    )


# -- keeping them -----------------------------------------------------------------------------------------------------


def shelve_pictures(
    document: Any, pages: Sequence[Sequence[Picture]], turns: Sequence[int], *, is_read: bool = True
) -> list[PagePicture]:
    """Keep the pictures of each page as the page shows them.

    Args:
        turns: degrees by which each page is set upright, clockwise.
        is_read: look for words in them; those of drawings are in the text of the page.
    """
    shelf = get_shelf()
    kept: list[PagePicture] = []
    for number, (boxes, turned) in enumerate(zip(pages, turns, strict=True), start=1):
        if not boxes or shelf is None:
            continue
        page = document[number - 1]
        page.set_rotation((page.get_rotation() + turned) % 360)
        try:
            kept += [one for box in boxes if (one := _shelve(page, number, box, shelf, is_read=is_read))]
        finally:
            page.close()
    return kept


def _shelve(page: Any, number: int, box: Picture, shelf: PictureShelf, *, is_read: bool) -> PagePicture | None:
    place = Box(number, *map(float, box))
    shown = (place.x1 - place.x0, place.y1 - place.y0)
    kept = shelf.add(_draw(page, place), shown=shown, box=place, is_read=is_read)
    return PagePicture(place, kept.mark, bool(kept.words)) if kept else None


def _draw(page: Any, box: Box) -> bytes:
    """Return this part of a page as PNG."""
    width, height = page.get_size()
    area = max((box.x1 - box.x0) * (box.y1 - box.y0), 1.0)
    scale = min(_DRAWN_DPI / 72, (_MAX_DRAWN_PIXELS / area) ** 0.5)
    # Edges that are cut away: left, bottom, right, top.
    cut = (
        max(box.x0 - _EDGE_POINTS, 0.0),
        max(height - box.y1 - _EDGE_POINTS, 0.0),
        max(width - box.x1 - _EDGE_POINTS, 0.0),
        max(box.y0 - _EDGE_POINTS, 0.0),
    )
    written = io.BytesIO()
    page.render(scale=scale, crop=cut).to_pil().convert("RGB").save(written, "PNG", compress_level=1)
    return written.getvalue()


def insert_picture_marks(parsed: ParsedDocument, pictures: Sequence[PagePicture]) -> ParsedDocument:
    """Return the document with the mark of each picture as a paragraph: at its caption, else where it stands."""
    if not pictures:
        return parsed
    places = sorted(
        ((_find_place(parsed, one.box), number) for number, one in enumerate(pictures)), key=lambda one: one
    )
    markdown, pages, boxes = parsed.markdown, list(parsed.pages), list(parsed.boxes)
    # From the end, so that places stay valid.
    for offset, number in reversed(places):
        one = pictures[number]
        text = f"{one.mark}\n\n"
        gap = "" if not offset or markdown.endswith("\n\n", 0, offset) else "\n\n"
        markdown = f"{markdown[:offset]}{gap}{text}{markdown[offset:]}"
        added = len(gap) + len(text)
        pages = [_move_page(mark, offset, added, one.box.page) for mark in pages]
        boxes = [_move_box(mark, offset, added) for mark in boxes]
    return replace(parsed, markdown=markdown, pages=tuple(pages), boxes=tuple(boxes))


def _move_page(mark: PageMark, offset: int, added: int, page: int) -> PageMark:
    # At the beginning of a page, its own pictures belong to it, and those of the page before do not.
    is_behind = mark.start > offset or (mark.start == offset and mark.number > page)
    return replace(mark, start=mark.start + added) if is_behind else mark


def _move_box(mark: BoxMark, offset: int, added: int) -> BoxMark:
    if mark.start >= offset:
        return replace(mark, start=mark.start + added, end=mark.end + added)
    return replace(mark, end=mark.end + added) if mark.end > offset else mark


def _find_place(parsed: ParsedDocument, box: Box) -> int:
    """Return the offset of the paragraph before which a picture stands."""
    markdown = parsed.markdown
    on_page = [mark for mark in parsed.boxes if mark.box.page == box.page]
    beside = [mark for mark in on_page if mark.box.x0 < box.x1 and mark.box.x1 > box.x0]
    captions = [mark for mark in beside if parse_label(markdown[mark.start : mark.end].strip().lstrip("#> "))]
    below = [m for m in captions if -6 <= m.box.y0 - box.y1 <= _MAX_CAPTION_POINTS]
    if below:
        return _find_start(markdown, min(below, key=lambda m: m.box.y0).start)
    above = [m for m in captions if -6 <= box.y0 - m.box.y1 <= _MAX_CAPTION_POINTS]
    if above:
        return _find_next(markdown, max(above, key=lambda m: m.box.y1).end)
    middle = (box.y0 + box.y1) / 2
    before = [m for m in beside if m.box.y0 <= middle] or [m for m in on_page if m.box.y0 <= middle]
    if before:
        return _find_next(markdown, max(before, key=lambda m: m.start).end)
    if on_page:
        return _find_start(markdown, on_page[0].start)
    following = [mark.start for mark in parsed.pages if mark.number >= box.page]
    return _find_start(markdown, following[0]) if following else len(markdown)


def _find_start(markdown: str, offset: int) -> int:
    """Return where the paragraph, list or table with this offset begins."""
    at = markdown.rfind("\n\n", 0, offset)
    return at + 2 if at >= 0 else 0


def _find_next(markdown: str, offset: int) -> int:
    """Return where the next paragraph begins."""
    at = markdown.find("\n\n", max(offset - 1, 0))
    return at + 2 if at >= 0 else len(markdown)


# -- finding them -----------------------------------------------------------------------------------------------------


def _list_bounds(page: Any, *, max_paths: int) -> Iterator[tuple[bool, tuple[float, float, float, float]]]:
    """Yield left, bottom, right and top of each picture (True) and path (False), in the page's own coordinates."""
    import pypdfium2.raw as pdfium

    left, paths = _MAX_OBJECTS, max_paths
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
            yield is_image, (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _map_point(matrices: Sequence[Any], x: float, y: float) -> tuple[float, float]:
    for matrix in matrices:
        x, y = matrix.a * x + matrix.c * y + matrix.e, matrix.b * x + matrix.d * y + matrix.f
    return x, y
