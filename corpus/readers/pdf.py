"""PDF. PDFium provides characters and positions, font sizes indicate headings, alignment and rules indicate tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.dates import find_date
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.ocr import DPI, INSTALL_HINT, OcrPage, is_installed, recognize_text, require_ocr
from argot.corpus.readers.page_layout import PageContents, build_document, find_tables
from argot.corpus.readers.pdf_annotations import read_annotations
from argot.corpus.readers.pdf_extras import has_extras, read_extras
from argot.corpus.readers.pdf_forms import join_form_fields
from argot.corpus.readers.pdf_headings import Bookmark
from argot.corpus.readers.pdf_lines import Line, measure_body_size, measure_line_step
from argot.corpus.readers.pdf_pages import PageText, read_page_text, read_rules
from argot.corpus.readers.pdf_pictures import (
    PagePicture,
    drop_repeated,
    insert_picture_marks,
    read_pictures,
    shelve_pictures,
)
from argot.corpus.readers.pdf_rules import Rules
from argot.corpus.readers.pdf_shapes import Picture, is_inside
from argot.corpus.readers.pdf_tables import PageTable
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.second_reading import is_broken, join_extractions
from argot.corpus.readers.titles import clean_title
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

_MAX_PIXELS = 25_000_000
"""Pixels of a page that is rendered for recognition: A3 at 300 dots an inch has 17 million."""
_MARGIN_SHARE = 0.1
_MIN_SIMILAR_ROWS = 3
_SMALL_SIZE_RATIO = 0.9
_SEPARATION_STEPS = 1.5
"""More than the body, in font sizes; distance from the text, in line steps."""
_NUMBER_ALONE = re.compile(r"[\W_]*#[\W_]*")
_MAX_BOOKMARK_DEPTH = 6
_MAX_BOOKMARKS = 5_000
_PROPERTY_NAMES = ("Title", "Author", "Keywords", "CreationDate", "ModDate")
_PDF_DATE = re.compile(r"(?:D:)?(\d{4})(\d{2})(\d{2})")


def read_pdf(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a PDF. The title comes from the properties if it is one, else the largest heading of the first page, else
    the file name.

    Raises:
        UnreadableDocument: encrypted, damaged, or without text, also on scans.
    """
    document = _open(data, name)
    try:
        contents, warnings, texts = _read_contents(document, name, limits)
        kept, unread = _shelve_pictures(document, texts)
        extras = read_extras(document, texts, limits, unread)
        properties = {key: str(document.get_metadata_value(key) or "") for key in _PROPERTY_NAMES}
    finally:
        document.close()
    warnings += extras.warnings
    parsed = build_document(
        contents, _choose_title(properties["Title"]), name_without_suffix(name), "application/pdf", warnings
    )
    parsed = insert_picture_marks(parsed, kept)
    parsed = replace(parsed, markdown="".join([parsed.markdown, *(f"{one}\n\n" for one in extras.sections)]))
    fields = build_fields((key, properties[key]) for key in ("Author", "Keywords"))
    return replace(
        parsed, date=_parse_date(properties["ModDate"]) or _parse_date(properties["CreationDate"]), fields=fields
    )


def _shelve_pictures(document: Any, texts: list[PageText]) -> tuple[list[PagePicture], int]:
    """Return the pictures that were kept, and how many there are in which no words were read."""
    pictures = drop_repeated([text.pictures for text in texts])
    images = [one.images for one in pictures]
    drawings = [[*one.drawings, *one.loose] for one in pictures]
    turns = [text.turned for text in texts]
    kept = shelve_pictures(document, images, turns)
    unread = sum(map(len, images)) - sum(one.has_words for one in kept)
    # Labels that are drawn as outlines are no text of the page.
    bare = [[one for one in boxes if not _holds_text(one, text)] for boxes, text in zip(drawings, texts, strict=True)]
    labelled = [[one for one in boxes if one not in bare[at]] for at, boxes in enumerate(drawings)]
    kept += shelve_pictures(document, labelled, turns, is_read=False)
    return [*kept, *shelve_pictures(document, bare, turns)], unread


def _holds_text(box: Picture, text: PageText) -> bool:
    return any(is_inside(box, line) for line in text.lines)


def read_pdf_tables(data: bytes, name: str, limits: ReadLimits) -> list[list[PageTable]]:
    """Return the tables of each page, as `read_pdf` sees them before they become Markdown.

    Raises:
        UnreadableDocument: as of `read_pdf`.
    """
    document = _open(data, name)
    try:
        return find_tables(_read_contents(document, name, limits)[0])
    finally:
        document.close()


def _read_contents(document: Any, name: str, limits: ReadLimits) -> tuple[PageContents, list[str], list[PageText]]:
    """Return the contents of the pages, and warnings about unreadable ones."""
    texts, warnings = _read_texts(document, name, limits)
    lines, heights = [text.lines for text in texts], [text.height for text in texts]
    has_more = has_extras(document) or any(text.annotations.has_content for text in texts)
    lines, scans, more = _add_scans(document, lines, name, limits, has_more=has_more)
    warnings += more
    lines, more = _repair_broken_pages(document, lines, scans, name, limits)
    warnings += more
    lines = _remove_running_lines(lines, heights)
    filled = [join_form_fields(page, text.annotations.fields) for page, text in zip(lines, texts, strict=True)]
    lines = [page for page, _ in filled]
    remarks = {
        number: [*text.annotations.remarks, *unlabelled]
        for number, (text, (_, unlabelled)) in enumerate(zip(texts, filled, strict=True), start=1)
    }
    rules = {
        number: texts[number - 1].rules or _read_page_rules(document, number, texts[number - 1])
        for number, page in enumerate(lines, start=1)
        if page
    }
    blank = [
        number for number, page in enumerate(lines, start=1) if not page and not remarks[number] and heights[number - 1]
    ]
    kinds = {number: page.kind for number, page in scans.items()}
    turned = frozenset(number for number, page in scans.items() if page.turned)
    turned |= {number for number, text in enumerate(texts, start=1) if text.turned or text.part}
    return (
        PageContents(lines, rules, kinds, _read_bookmarks(document), turned, remarks),
        [
            *warnings,
            *([f"no text on page {_list_pages(blank)}"] if blank else []),
        ],
        texts,
    )


def _read_page_rules(document: Any, number: int, text: PageText) -> Rules:
    page = document[number - 1]
    try:
        return read_rules(page, text)
    finally:
        page.close()


def _read_bookmarks(document: Any) -> list[Bookmark]:
    import pypdfium2

    try:
        found = islice(document.get_toc(max_depth=_MAX_BOOKMARK_DEPTH), _MAX_BOOKMARKS)
        return [Bookmark(item.level, item.get_title() or "") for item in found]
    except pypdfium2.PdfiumError:  # if damaged, the pages are still read
        return []


def _open(data: bytes, name: str) -> Any:
    import pypdfium2

    if b"%PDF-" not in data[:1024]:
        raise UnreadableDocument(name, "damaged or no PDF: it does not begin like one")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise UnreadableDocument(name, "encrypted", "Save it without a password.") from error
        raise UnreadableDocument(name, "damaged or cut off: not a complete PDF") from error
    with suppress(pypdfium2.PdfiumError):  # if the form is damaged, the pages are still read
        document.init_forms()
    return document


def _read_texts(document: Any, name: str, limits: ReadLimits) -> tuple[list[PageText], list[str]]:
    """Return the text of every page, and a warning of those that cannot be opened."""
    import pypdfium2

    texts: list[PageText] = []
    damaged: list[int] = []
    length = 0
    for index in range(len(document)):
        try:
            page = document[index]
        except pypdfium2.PdfiumError:
            damaged.append(index + 1)
            texts.append(PageText([], 0.0, 0.0))
            continue
        text = read_page_text(page)
        # While the page is open: to open it again takes as long as to read its rules.
        rules = read_rules(page, text) if text.lines else None
        pictures = read_pictures(page, text.lines)
        texts.append(replace(text, rules=rules, annotations=read_annotations(page), pictures=pictures))
        page.close()
        length += sum(len(line.text) for line in texts[-1].lines)
        limits.check_chars(length, name)
    return texts, [f"page {_list_pages(damaged)} is damaged and was not read"] if damaged else []


def _add_scans(
    document: Any, lines: list[list[Line]], name: str, limits: ReadLimits, *, has_more: bool = False
) -> tuple[list[list[Line]], dict[int, OcrPage], list[str]]:
    """Return the lines including those of scanned pages, these pages by number, and warnings.

    Only pages without text of their own are recognised: the file's own text is more reliable.
    `has_more`: the document has content beside its pages' text, so that an empty text is no reason to refuse it.
    """
    scans = [number for number, page in enumerate(lines, start=1) if not page and _has_objects(document, number)]
    has_text = any(lines) or has_more
    if not scans or not limits.ocr_languages or not is_installed():
        if not has_text:
            require_ocr(limits.ocr_languages, name, "no text: it looks scanned")
            raise UnreadableDocument(name, "no text: its pages are empty")
        return lines, {}, [f"page {_list_pages(scans)} looks scanned and was not read. {INSTALL_HINT}"] if scans else []
    found = {number: _recognize_page(document, number, name, limits) for number in scans[: limits.ocr_pages]}
    full = [found[number].lines if number in found else page for number, page in enumerate(lines, start=1)]
    if not any(full) and not has_more:
        raise UnreadableDocument(name, "no text: it looks scanned, and nothing on it is legible")
    late, unsure = scans[limits.ocr_pages :], [number for number in found if found[number].kind != "scanned page"]
    warnings = [f"scanned page {_list_pages(late)} not read: {limits.remedy('OCR_PAGES')}"] if late else []
    if unsure:
        warnings.append(f"hardly legible: page {_list_pages(unsure)}")
    return full, found, warnings


def _repair_broken_pages(
    document: Any, lines: list[list[Line]], scans: Mapping[int, OcrPage], name: str, limits: ReadLimits
) -> tuple[list[list[Line]], list[str]]:
    """Return the lines, pages with broken text repaired by what tesseract reads on them, and warnings.

    If both extractions are aligned on every page, a page without broken text gets only spaces and characters that its
    own text lacks.
    """
    broken = [number for number, page in enumerate(lines, start=1) if number not in scans and is_broken(page)]
    whole = [n for n, page in enumerate(lines, start=1) if page and n not in scans and n not in broken]
    # Broken pages first: others can be read without a second look.
    looked_at = broken + whole if limits.align_extractions else broken
    if not looked_at:
        return lines, []
    if not limits.ocr_languages or not is_installed():
        reason = "the characters of page {} are not those that it shows" if broken else "page {} was not read twice"
        return lines, [f"{reason.format(_list_pages(broken or whole))}. {INSTALL_HINT}"]
    mended = list(lines)
    for number in looked_at[: limits.ocr_pages]:
        seen = _recognize_page(document, number, name, limits)
        # Places tell which characters belong together.
        if seen.kind == "scanned page" and not seen.turned:
            mended[number - 1] = join_extractions(lines[number - 1], seen.lines)
    late = [number for number in looked_at[limits.ocr_pages :] if number not in broken]
    warnings = [f"page {_list_pages(late)} not read twice: {limits.remedy('OCR_PAGES')}"] if late else []
    if broken:
        seen_pages = _list_pages(broken[: limits.ocr_pages])
        warnings.append(f"broken characters, mended by what is seen: page {seen_pages}")
    return mended, warnings


def _has_objects(document: Any, number: int) -> bool:
    import pypdfium2

    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        return False
    try:
        return next(iter(page.get_objects(max_depth=2)), None) is not None
    finally:
        page.close()


def _recognize_page(document: Any, number: int, name: str, limits: ReadLimits) -> OcrPage:
    page = document[number - 1]
    try:
        width, height = page.get_size()
        # A poster would fill the memory.
        scale = min(DPI / 72, (_MAX_PIXELS / max(1.0, width * height)) ** 0.5)
        picture = page.render(scale=scale, grayscale=True).to_pil()
    finally:
        page.close()
    return recognize_text(picture, limits.ocr_languages, name, points=1 / scale)


def _list_pages(pages: Sequence[int]) -> str:
    return f"{', '.join(map(str, pages[:20]))}{' ...' if len(pages) > 20 else ''}"


def _remove_running_lines(lines: list[list[Line]], heights: list[float]) -> list[list[Line]]:
    """Return the lines without headers and footers: the same text, numbers aside, at the edge of many pages."""
    edges = [_read_edge_texts(page, height) for page, height in zip(lines, heights, strict=True)]
    counts = Counter(text for page in edges for text in set(page.values()))
    # A fifth of the pages, because running headers change with the chapter.
    often = max(3, len(lines) // 5)
    running = {text for text, count in counts.items() if count >= often} | _find_running_on_two(lines, edges)
    rows = {text for text in running if "#" in text and not _NUMBER_ALONE.fullmatch(text)}
    # What stands in the middle of pages too is a row of a table that happens to be their first or last.
    inner = Counter(
        text
        for page, edge in zip(lines, edges, strict=True)
        for number, line in enumerate(page)
        if rows and number not in edge and (text := _normalize_numbers(line)) in rows
    )
    running -= {text for text in rows if inner[text] >= max(_MIN_SIMILAR_ROWS, counts[text])}
    kept = [
        [line for number, line in enumerate(page) if edge.get(number) not in running]
        for page, edge in zip(lines, edges, strict=True)
    ]
    # Labels and certificates: where nothing else stands on any page, that is the content.
    return kept if any(kept) else lines


def _find_running_on_two(lines: list[list[Line]], edges: list[dict[int, str]]) -> set[str]:
    """Return the edge lines that both of two pages share: page numbers, or text set smaller or apart."""
    if len(lines) != 2:
        return set()
    body = measure_body_size([line for page in lines for line in page])
    sides: list[set[tuple[str, bool]]] = []
    counted: list[set[str]] = []
    for page, edge in zip(lines, edges, strict=True):
        middle = (min(line.y0 for line in page) + max(line.y1 for line in page)) / 2 if page else 0.0
        sides.append({(text, page[n].y0 < middle) for n, text in edge.items() if _is_set_off(page, n, body)})
        counted.append({text for text in edge.values() if "#" in text})
    running = {text for text, _ in sides[0] & sides[1]}
    # A card or a label may bear nothing else.
    leaves_text = all(
        any(edge.get(number) not in running for number in range(len(page))) or not page
        for page, edge in zip(lines, edges, strict=True)
    )
    return (running if leaves_text else set()) | counted[0] & counted[1]


def _is_set_off(page: list[Line], number: int, body: float) -> bool:
    line = page[number]
    # A table row may well be at the top of both pages.
    if len(line.spans) > 1 or line.size > body:
        return False
    gaps = [max(other.y0 - line.y1, line.y0 - other.y1) for other in page if other is not line]
    return line.size < _SMALL_SIZE_RATIO * body or min(gaps, default=0.0) > _SEPARATION_STEPS * max(
        measure_line_step(page), line.size
    )


def _read_edge_texts(page: list[Line], height: float) -> dict[int, str]:
    """Return the lines in the margins, and always the first and last, by their index in `page`; numbers become `#`."""
    if not page:
        return {}
    top = min(range(len(page)), key=lambda number: page[number].y0)
    bottom = max(range(len(page)), key=lambda number: page[number].y1)
    return {
        number: _normalize_numbers(line)
        for number, line in enumerate(page)
        if number in (top, bottom) or line.y1 < _MARGIN_SHARE * height or line.y0 > (1 - _MARGIN_SHARE) * height
    }


def _normalize_numbers(line: Line) -> str:
    # Page numbers, Roman ones included, differ from page to page.
    return re.sub(r"\d+|\b[ivxl]+\b", "#", line.text.strip().lower())


def _choose_title(declared: str) -> str:
    title = clean_title(declared)
    # A title of one word is usually the name of a file or template.
    return "" if len(title) < 5 or " " not in title else title[:300]


def _parse_date(text: str) -> str | None:
    """Return the ISO date of a text such as "D:20250301094500+01'00'"."""
    found = _PDF_DATE.match(text)
    return find_date("-".join(found.groups())) if found else None
