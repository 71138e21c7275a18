"""Pictures of a PDF page with content beside its text: neither decoration nor the scan of the text.

Each is kept as the page shows it: drawn with what is over it, in its colours and turned as it is read.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from argot.corpus.readers.pdf_drawings import Stroke, find_bare, find_captioned
from argot.corpus.readers.pdf_lines import Line, make_place
from argot.corpus.readers.pdf_shapes import (
    EDGE_POINTS,
    MAX_CAPTION_POINTS,
    Picture,
    is_beside,
    is_inside,
    list_shapes,
    measure_area,
    overlap,
    unite,
)
from argot.corpus.readers.picture_captions import parse_label
from argot.corpus.readers.pictures import PictureShelf, get_shelf
from argot.types import Box, BoxMark, PageMark, ParsedDocument

_MIN_PAGE_SHARE = 0.05
"""Share of the page: smaller ones are logos and symbols."""
_MIN_CAPTIONED_SHARE = 0.008
"""Share of the page of a picture with a caption beside it."""
_PART_GAP_POINTS = 20.0
"""Points between the parts of one figure."""
_WHOLE_PAGE_SHARE = 0.9
_MIN_COVERED_LINES = 2
"""Lines of text on a picture from which it is their background, or their scan."""
_MIN_REPEATED_PAGES = 3
"""Pages with the same picture at the same position: it is a decoration."""
_MIN_SERIES = 3
"""Pictures of one size in a row or a column from which they are counted together."""
_MIN_SERIES_POINTS = 48
_SERIES_DIFFERENCE = 0.1
_MAX_SIDES_RATIO = 4
_DRAWN_DPI = 170
_MAX_DRAWN_PIXELS = 4_000_000


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture that was kept. `has_words`: some were read in it."""

    box: Box
    mark: str
    has_words: bool


@dataclass(frozen=True, slots=True)
class PagePictures:
    """The pictures of a page, and the charts that are drawn on it by lines and filled boxes.

    `captioned`: those of the pictures that have a caption beside them. `loose`: drawings without a caption.
    """

    images: list[Picture] = field(default_factory=list)
    captioned: frozenset[Picture] = frozenset()
    drawings: list[Picture] = field(default_factory=list)
    loose: list[Picture] = field(default_factory=list)


def read_pictures(page: Any, lines: Sequence[Line]) -> PagePictures:
    """Return the pictures and drawings of a page with text, except small ones without a caption, those behind text,
    and frames, rules and tables.
    """
    if not lines:
        return PagePictures()
    width, height = page.get_size()
    place = make_place(page)
    boxes: list[Picture] = []
    strokes: list[Stroke] = []
    for shape in list_shapes(page):
        x0, y0, x1, y1 = place(*shape.bounds)
        x0, y0, x1, y1 = max(x0, 0.0), max(y0, 0.0), min(x1, width), min(y1, height)
        if x1 >= x0 and y1 >= y0:
            box = (round(x0), round(y0), round(x1), round(y1))
            if shape.is_image:
                boxes.append(box)
            else:
                strokes.append(Stroke(box, shape.is_free))
    captions = [line for line in lines if parse_label(line.text)]
    images = _choose_images(boxes, lines, captions, width * height)
    bare = [line for line in captions if not any(is_beside(box, line) for box in images)]
    largest = _WHOLE_PAGE_SHARE * width * height
    drawings = [box for box in find_captioned(strokes, lines, bare) if measure_area(box) < largest]
    captioned = frozenset(box for box in images if any(is_beside(box, line) for line in captions))
    loose = find_bare(strokes, lines, [*captioned, *drawings], (width, height))
    # The background of a chart.
    images = [one for one in images if not any(unite(one, box) == box for box in loose)]
    loose = [box for box in loose if not any(overlap(box, one) for one in images)]
    return PagePictures(images, captioned, drawings, loose)


def _choose_images(
    boxes: Sequence[Picture], lines: Sequence[Line], captions: Sequence[Line], page_area: float
) -> list[Picture]:
    whole = [one for one in boxes if one[2] > one[0] and one[3] > one[1]]
    series = _find_series(whole)
    found = []
    for box in _split_strips(_join_parts(whole, lines), series):
        share = measure_area(box) * series.get(box, 1) / max(page_area, 1.0)
        least = _MIN_CAPTIONED_SHARE if any(is_beside(box, line) for line in captions) else _MIN_PAGE_SHARE
        behind = sum(is_inside(box, line) for line in lines)
        if least <= share < _WHOLE_PAGE_SHARE and behind < _MIN_COVERED_LINES:
            found.append(box)
    return found


def _split_strips(joined: Sequence[Picture], series: Mapping[Picture, int]) -> Iterator[Picture]:
    """Yield the pictures with long strips of a series, such as portraits below each other, apart."""
    for box in joined:
        parts = [one for one in series if unite(box, one) == box]
        sides = sorted((box[2] - box[0], box[3] - box[1]))
        yield from parts if len(parts) >= _MIN_SERIES and sides[1] > _MAX_SIDES_RATIO * sides[0] else [box]


def _find_series(boxes: Sequence[Picture]) -> dict[Picture, int]:
    """Return the pictures of one size in a row or a column, such as portraits or several small charts, with the number
    of pictures in their series: small ones are content if they are large together.
    """
    series: dict[Picture, int] = {}
    for start in (0, 1):
        for first in set(boxes):
            group = {one for one in boxes if abs(one[start] - first[start]) <= 1 and _are_alike(one, first)}
            if len(group) >= _MIN_SERIES and min(first[2] - first[0], first[3] - first[1]) >= _MIN_SERIES_POINTS:
                series[first] = max(series.get(first, 1), len(group))
    return series


def _are_alike(one: Picture, other: Picture) -> bool:
    sides = ((one[at + 2] - one[at], other[at + 2] - other[at]) for at in (0, 1))
    return all(abs(side - of) <= _SERIES_DIFFERENCE * max(side, of) for side, of in sides)


def drop_repeated(pages: Sequence[PagePictures]) -> list[PagePictures]:
    """Return the pictures of each page without those at a place where many pages have one, and no caption."""
    counts = Counter(picture for page in pages for picture in {*page.images, *page.loose})
    return [
        replace(
            page,
            images=[one for one in page.images if one in page.captioned or counts[one] < _MIN_REPEATED_PAGES],
            loose=[one for one in page.loose if counts[one] < _MIN_REPEATED_PAGES],
        )
        for page in pages
    ]


def _join_parts(boxes: Sequence[Picture], lines: Sequence[Line]) -> list[Picture]:
    """Join pictures side by side, or below each other with no line of text between, as the parts of one figure are."""
    found: list[Picture] = []
    for box in sorted(set(boxes), key=lambda one: (one[1], one[0])):
        joined = box
        for other in [one for one in found if _are_parts(one, box, lines)]:
            found.remove(other)
            joined = unite(joined, other)
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
    around = unite(one, other)
    return min(side, others) > 0.6 * max(side, others) and not any(
        is_inside(around, line) and not is_inside(one, line) and not is_inside(other, line) for line in lines
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
    # Portraits of a series and small charts with a caption; long ones are rules and banners.
    is_compact = min(shown) >= _MIN_SERIES_POINTS and max(shown) <= 2 * min(shown)
    kept = shelf.add(_draw(page, place), shown=shown, box=place, is_read=is_read, is_small_kept=is_compact)
    return PagePicture(place, kept.mark, kept.is_told) if kept else None


def _draw(page: Any, box: Box) -> bytes:
    """Return this part of a page as PNG."""
    width, height = page.get_size()
    area = max((box.x1 - box.x0) * (box.y1 - box.y0), 1.0)
    scale = min(_DRAWN_DPI / 72, (_MAX_DRAWN_PIXELS / area) ** 0.5)
    # Edges that are cut away: left, bottom, right, top.
    cut = (
        max(box.x0 - EDGE_POINTS, 0.0),
        max(height - box.y1 - EDGE_POINTS, 0.0),
        max(width - box.x1 - EDGE_POINTS, 0.0),
        max(box.y0 - EDGE_POINTS, 0.0),
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
    below = [m for m in captions if -6 <= m.box.y0 - box.y1 <= MAX_CAPTION_POINTS]
    if below:
        return _find_start(markdown, min(below, key=lambda m: m.box.y0).start)
    above = [m for m in captions if -6 <= box.y0 - m.box.y1 <= MAX_CAPTION_POINTS]
    if above:
        return _find_next(markdown, max(above, key=lambda m: m.box.y1).end)
    middle = (box.y0 + box.y1) / 2
    before = [m for m in beside if m.box.y0 <= middle] or [m for m in on_page if m.box.y0 <= middle]
    if before:
        return _find_next(markdown, max(before, key=lambda m: m.start).end)
    if on_page:
        return _find_start(markdown, on_page[0].start)
    return _find_place_by_page(parsed, box.page)


def _find_place_by_page(parsed: ParsedDocument, page: int) -> int:
    """Return the offset of the only caption of a page whose text has no places, such as a turned one; else that of the
    page.
    """
    markdown = parsed.markdown
    start = next((mark.start for mark in parsed.pages if mark.number >= page), len(markdown))
    end = next((mark.start for mark in parsed.pages if mark.number > page), len(markdown))
    at, captions = start, []
    for paragraph in markdown[start:end].split("\n\n"):
        captions += [at] if parse_label(paragraph.strip().lstrip("#> ")) else []
        at += len(paragraph) + 2
    return captions[0] if len(captions) == 1 else _find_start(markdown, start)


def _find_start(markdown: str, offset: int) -> int:
    """Return where the paragraph, list or table with this offset begins."""
    at = markdown.rfind("\n\n", 0, offset)
    return at + 2 if at >= 0 else 0


def _find_next(markdown: str, offset: int) -> int:
    """Return where the next paragraph begins."""
    at = markdown.find("\n\n", max(offset - 1, 0))
    return at + 2 if at >= 0 else len(markdown)
