"""Lines of pages to one document: fonts indicate headings, and every block keeps its page and position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from argot.corpus.readers.continued_tables import repeat_headers_overleaf
from argot.corpus.readers.pdf_annotations import Remark
from argot.corpus.readers.pdf_blocks import Fonts, Piece, Words, build_blocks, join_pages, mark_steps, render_piece
from argot.corpus.readers.pdf_headings import Bookmark, set_levels
from argot.corpus.readers.pdf_lines import Line, measure_body_size
from argot.corpus.readers.pdf_lists import set_depths
from argot.corpus.readers.pdf_notes import join_notes
from argot.corpus.readers.pdf_rules import Rules
from argot.corpus.readers.pdf_tables import PageTable, find_page_tables
from argot.corpus.readers.titles import is_distinctive_heading
from argot.types import Box, BoxMark, PageKind, PageMark, ParsedDocument


@dataclass(frozen=True, slots=True)
class PageContents:
    """The contents of a document's pages. `rules` and `kinds` are by page number, from 1; ordinary pages have no kind.

    `remarks`: annotations on the pages, by page number.
    `turned`: pages that were set upright for reading, so that the positions of their lines differ from the page's.
    """

    lines: Sequence[list[Line]]
    rules: Mapping[int, Rules] = field(default_factory=dict)
    kinds: Mapping[int, PageKind] = field(default_factory=dict)
    bookmarks: Sequence[Bookmark] = ()
    turned: frozenset[int] = frozenset()
    remarks: Mapping[int, Sequence[Remark]] = field(default_factory=dict)


def build_document(
    pages: PageContents, title: str, name: str, media_type: str, warnings: Sequence[str]
) -> ParsedDocument:
    """Return the pages as Markdown. Without a `title`, it is the largest heading of the first page, else `name`."""
    fonts = _measure_fonts(pages.lines)
    words = Words(chain.from_iterable(pages.lines))
    lines = [mark_steps(page, fonts) for page in pages.lines]
    tables = repeat_headers_overleaf(_find_page_tables(lines, pages.rules), lines)
    blocks = [
        build_blocks(page, number, fonts, of_page, words)
        for number, (page, of_page) in enumerate(zip(lines, tables, strict=True), start=1)
    ]
    title = title or _find_title(blocks, fonts) or name
    set_levels([piece for page in blocks for piece in page if piece.kind == "heading"], fonts, pages.bookmarks)
    blocks = [join_notes(page, fonts) for page in blocks]
    for number, page in enumerate(blocks, start=1):
        _insert_remarks(page, pages.remarks.get(number, ()), number)
    pieces = list(join_pages(blocks, words))
    set_depths(pieces)
    markdown, marks, boxes = _write_markdown(pieces, pages.kinds)
    boxes = tuple(mark for mark in boxes if mark.box.page not in pages.turned)
    return ParsedDocument(title, markdown, media_type, pages=marks, boxes=boxes, warnings=tuple(warnings))


def find_tables(pages: PageContents) -> list[list[PageTable]]:
    """Return the tables of each page."""
    fonts = _measure_fonts(pages.lines)
    return _find_page_tables([mark_steps(page, fonts) for page in pages.lines], pages.rules)


def _find_page_tables(lines: Sequence[Sequence[Line]], rules: Mapping[int, Rules]) -> list[list[PageTable]]:
    return [find_page_tables(page, rules.get(number, Rules())) for number, page in enumerate(lines, start=1)]


def _insert_remarks(pieces: list[Piece], remarks: Sequence[Remark], page: int) -> None:
    """Insert each remark after the last piece that begins above its middle, in its column if there is one."""
    # Notes that repeat the words that they are attached to add nothing.
    text = _fold_text(" ".join(piece.text for piece in pieces))
    for remark in sorted(remarks, key=lambda one: one.box[1]):
        if remark.about and _fold_text(remark.about) in text:
            continue
        x0, y0, x1, y1 = remark.box
        above = [number for number, piece in enumerate(pieces) if piece.boxes[-1][2] <= (y0 + y1) / 2]
        beside = [n for n in above if pieces[n].boxes[-1][1] < x1 and pieces[n].boxes[-1][3] > x0]
        place = max(beside or above, default=-1) + 1
        pieces.insert(place, Piece("note", remark.text, page, [(page, x0, y0, x1, y1)], size=0.0))


def _fold_text(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _measure_fonts(lines: Sequence[list[Line]]) -> Fonts:
    everything = list(chain.from_iterable(lines))
    body = measure_body_size(everything)
    weights: Counter[float] = Counter()
    for line in everything:
        if line.size > 1.12 * body:
            weights[line.size] += len(line.text)
    total = sum(len(line.text) for line in everything)
    # A size that much of the text is set in is no heading's.
    larger = sorted((size for size, weight in weights.items() if weight < 0.2 * total), reverse=True)
    mono = sum(len(line.text) for line in everything if line.mono)
    return Fonts(body, tuple(larger), code=mono < 0.5 * total)


def _find_title(pages: list[list[Piece]], fonts: Fonts) -> str:
    headings = [piece for page in pages[:1] for piece in page if piece.kind == "heading" and piece.size in fonts.larger]
    headings = [piece for piece in headings if is_distinctive_heading(piece.text)]
    return max(headings, key=lambda piece: piece.size).text[:300] if headings else ""


def _write_markdown(
    pieces: list[Piece], kinds: Mapping[int, PageKind]
) -> tuple[str, tuple[PageMark, ...], tuple[BoxMark, ...]]:
    """Return the pieces as Markdown, and the positions of the pages and blocks in it."""
    parts: list[str] = []
    pages: list[PageMark] = []
    boxes: list[BoxMark] = []
    length, after_item = 0, False
    for piece in pieces:
        text = render_piece(piece)
        if not text.strip():
            continue
        if not pages or pages[-1].number < piece.page:
            pages.append(PageMark(length, piece.page, kinds.get(piece.page, "page")))
        # A blank line ends the list.
        if after_item and piece.kind != "item":
            parts.append("\n")
            length += 1
        after_item = piece.kind == "item"
        boxes.extend(_make_box_marks(piece, length, length + len(text)))
        last_page = piece.boxes[-1][0]
        if last_page > pages[-1].number:
            # A paragraph that continues on the next page: the split follows the numbers of its lines.
            pages.append(PageMark(boxes[-1].start, last_page, kinds.get(last_page, "page")))
        text += "\n" if piece.kind == "item" else "\n\n"
        parts.append(text)
        length += len(text)
    return "".join(parts), tuple(pages), tuple(boxes)


def _make_box_marks(piece: Piece, start: int, end: int) -> list[BoxMark]:
    """Return one box per page, each for the share of the text that its area suggests."""
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
