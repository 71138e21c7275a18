"""PDF with text. PDFium gives characters and places, font sizes give headings, alignment and rules give tables."""

from __future__ import annotations

import io
import re
from collections import Counter
from itertools import chain
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.pdf_blocks import Fonts, Piece, RuledTable, Words, join_pages, markdown_of, page_blocks
from argot.corpus.readers.pdf_lines import Line, body_size, page_lines
from argot.corpus.readers.plain_text import file_stem
from argot.errors import UnreadableDocument
from argot.types import Box, BoxMark, PageMark, ParsedDocument

_RULES_OF_A_GRID = 2
# Drawings can have hundreds of thousands of strokes.
_MAX_RULES = 3000
_RULED_PAGES_A_SECOND = 1.5
"""Pages with ruled tables read as such, for each second allowed (pdfplumber takes a quarter of one). A number and not
a clock, since the same file must give the same Markdown every time."""
_MARGIN = 0.1
_USELESS_TITLE = re.compile(
    r"untitled|microsoft |powerpoint|\.(?:docx?|pdf|indd|xlsx?|pptx?|qxd|tmp)\b|^[\W\d_]*$", re.I
)


def read_pdf(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Title: of the properties if it is one, else the largest heading of the first page, else the file name.

    Raises:
        UnreadableDocument: encrypted, damaged, or without text (scanned).
    """
    document = _open(data, name)
    try:
        lines, sizes = _all_lines(document, name, limits)
        if not any(lines):
            raise UnreadableDocument(name, "no text: it looks scanned", "Reading scans (OCR) is not supported yet.")
        lines = _without_running(lines, sizes)
        ruled, warnings = _ruled_tables(document, data, limits)
        title = _metadata_title(document)
    finally:
        document.close()
    fonts = _fonts(lines)
    words = Words(line for page in lines for line in page)
    pages = [
        page_blocks(page, number, fonts, ruled.get(number, ()), words) for number, page in enumerate(lines, start=1)
    ]
    title = title or _first_heading(pages, fonts) or file_stem(name)
    blank = [str(number) for number, page in enumerate(lines, start=1) if not page]
    if blank:
        warnings.append(f"no text on page {', '.join(blank[:20])}{' ...' if len(blank) > 20 else ''}")
    return _parsed(title, list(join_pages(pages, words)), fonts, warnings)


def _open(data: bytes, name: str) -> Any:
    import pypdfium2

    if b"%PDF-" not in data[:1024]:
        raise UnreadableDocument(name, "damaged or no PDF: it does not begin like one")
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise UnreadableDocument(name, "encrypted", "Save it without a password.") from error
        raise UnreadableDocument(name, "damaged or cut off: not a complete PDF") from error


def _all_lines(document: Any, name: str, limits: ReadLimits) -> tuple[list[list[Line]], list[float]]:
    """The lines and the height of every page."""
    lines: list[list[Line]] = []
    heights: list[float] = []
    length = 0
    for index in range(len(document)):
        page = document[index]
        lines.append(page_lines(page))
        heights.append(page.get_height())
        page.close()
        length += sum(len(line.text) for line in lines[-1])
        limits.check_chars(length, name)
    return lines, heights


def _without_running(lines: list[list[Line]], heights: list[float]) -> list[list[Line]]:
    """Without headers and footers: what stands at the edge of many pages, but for its numbers the same."""
    edges = [_edge_texts(page, height) for page, height in zip(lines, heights, strict=True)]
    counts = Counter(text for page in edges for text in set(page.values()))
    # A fifth of the pages, because running headers change with the chapter.
    often = max(3, len(lines) // 5)

    def is_running(text: str | None) -> bool:
        # On two pages only a line with a number that counts them is sure to be no content.
        return text is not None and (counts[text] >= often or (counts[text] == len(lines) == 2 and "#" in text))

    return [
        [line for number, line in enumerate(page) if not is_running(edge.get(number))]
        for page, edge in zip(lines, edges, strict=True)
    ]


def _edge_texts(page: list[Line], height: float) -> dict[int, str]:
    """The lines in the margins, and in any case the first and the last, by their place in `page`; numbers are `#`."""
    if not page:
        return {}
    top = min(range(len(page)), key=lambda number: page[number].y0)
    bottom = max(range(len(page)), key=lambda number: page[number].y1)
    return {
        # Page numbers, Roman ones included, differ from page to page.
        number: re.sub(r"\d+|\b[ivxl]+\b", "#", line.text.strip().lower())
        for number, line in enumerate(page)
        if number in (top, bottom) or line.y1 < _MARGIN * height or line.y0 > (1 - _MARGIN) * height
    }


def _fonts(lines: list[list[Line]]) -> Fonts:
    everything = list(chain.from_iterable(lines))
    body = body_size(everything)
    weights: Counter[float] = Counter()
    for line in everything:
        if line.size > 1.12 * body:
            weights[line.size] += len(line.text)
    total = sum(len(line.text) for line in everything)
    # A size that much of the text is set in is no heading's.
    larger = sorted((size for size, weight in weights.items() if weight < 0.2 * total), reverse=True)
    return Fonts(body, tuple(larger))


def _metadata_title(document: Any) -> str:
    title = " ".join(str(document.get_metadata_value("Title") or "").split())
    # A title of one word is mostly the name of a file or template.
    return "" if len(title) < 5 or " " not in title or _USELESS_TITLE.search(title) else title[:300]


def _first_heading(pages: list[list[Piece]], fonts: Fonts) -> str:
    headings = [piece for page in pages[:1] for piece in page if piece.kind == "heading" and piece.size in fonts.larger]
    return max(headings, key=lambda piece: piece.size).text[:300] if headings else ""


# -- ruled tables ---------------------------------------------------------------------------------------------------


def _ruled_tables(document: Any, data: bytes, limits: ReadLimits) -> tuple[dict[int, list[RuledTable]], list[str]]:
    """Tables by page number, for pages that show a grid of rules."""
    pages = [number for number in range(1, len(document) + 1) if _has_grid(document, number - 1)]
    found: dict[int, list[RuledTable]] = {}
    if not pages:
        return found, []
    import pdfplumber

    allowed = int(_RULED_PAGES_A_SECOND * limits.seconds)
    with pdfplumber.open(io.BytesIO(data)) as plumber:
        for number in pages[:allowed]:
            page = plumber.pages[number - 1]
            found[number] = [table for each in page.find_tables() if (table := _ruled(each, page)) is not None]
            # pdfplumber keeps the objects of every page until it is closed.
            page.close()
    late = pages[allowed : allowed + 1]
    return found, [f"ruled tables from page {number} on were read as aligned text" for number in late]


def _has_grid(document: Any, index: int) -> bool:
    """At least two upright and two level rules; shading and underlines alone make no grid."""
    import pypdfium2.raw as pdfium

    page = document[index]
    upright = level = 0
    for count, shape in enumerate(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=2)):
        left, bottom, right, top = shape.get_bounds()
        width, height = right - left, top - bottom
        upright += width < 3 and height > 8
        level += height < 3 and width > 15
        # A stroked rectangle with some size has all four sides.
        if (
            8 < height < 300
            and width > 15
            and pdfium.FPDFPath_CountSegments(shape.raw) in (4, 5)
            and _is_stroked(shape)
        ):
            upright, level = upright + 1, level + 1
        if (upright >= _RULES_OF_A_GRID and level >= _RULES_OF_A_GRID) or count > _MAX_RULES:
            break
    page.close()
    return upright >= _RULES_OF_A_GRID and level >= _RULES_OF_A_GRID


def _is_stroked(shape: Any) -> bool:
    import ctypes

    import pypdfium2.raw as pdfium

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(shape.raw, ctypes.byref(fill), ctypes.byref(stroke))
    return bool(stroke.value)


def _ruled(table: Any, page: Any) -> RuledTable | None:
    rows = [[" ".join((text or "").split()) for text in row] for row in table.extract()]
    rows = [row for row in rows if any(row)]
    # A frame around a paragraph or a picture is no table.
    if len(rows) < 2 or max(len(row) for row in rows) < 2 or sum(1 for row in rows for text in row if text) < 4:
        return None
    left, top, *_ = page.bbox
    x0, y0, x1, y1 = table.bbox
    return RuledTable(rows, x0 - left, y0 - top, x1 - left, y1 - top)


# -- Markdown -------------------------------------------------------------------------------------------------------


def _parsed(title: str, pieces: list[Piece], fonts: Fonts, warnings: list[str]) -> ParsedDocument:
    parts: list[str] = []
    pages: list[PageMark] = []
    boxes: list[BoxMark] = []
    length, after_item = 0, False
    for piece in pieces:
        text = markdown_of(piece, fonts)
        if not text.strip():
            continue
        if not pages or pages[-1].number < piece.page:
            pages.append(PageMark(length, piece.page, "page"))
        # A blank line ends the list.
        if after_item and piece.kind != "item":
            parts.append("\n")
            length += 1
        after_item = piece.kind == "item"
        boxes.extend(_box_marks(piece, length, length + len(text)))
        last_page = piece.boxes[-1][0]
        if last_page > pages[-1].number:
            # A paragraph that goes on overleaf: its later part stands on the next page, about as its lines divide.
            pages.append(PageMark(boxes[-1].start, last_page, "page"))
        text += "\n" if piece.kind == "item" else "\n\n"
        parts.append(text)
        length += len(text)
    return ParsedDocument(
        title, "".join(parts), "application/pdf", pages=tuple(pages), boxes=tuple(boxes), warnings=tuple(warnings)
    )


def _box_marks(piece: Piece, start: int, end: int) -> list[BoxMark]:
    """One box a page, each for the share of the text that its area suggests."""
    areas = [max((x1 - x0) * (y1 - y0), 1.0) for _, x0, y0, x1, y1 in piece.boxes]
    marks: list[BoxMark] = []
    position, done = start, 0.0
    for (page, *corners), area in zip(piece.boxes, areas, strict=True):
        done += area
        stop = end if len(marks) == len(areas) - 1 else start + round((end - start) * done / sum(areas))
        x0, y0, x1, y1 = (round(max(corner, 0.0), 1) for corner in corners)
        # At least one character each, so that marks neither overlap nor change their order.
        marks.append(BoxMark(position, max(stop, position + 1), Box(page, x0, y0, x1, y1)))
        position = max(stop, position + 1)
    return marks
