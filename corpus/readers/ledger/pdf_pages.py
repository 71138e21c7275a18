"""All text of a PDF: its pages, the values of its form, the annotations typed onto it, and the names of attached files.

PDFium returns the text of a page in one call; the reader places characters itself. Words that the reader splits or
joins are therefore detected here.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.budget import Budget
from argot.corpus.readers.ledger.source_text import SourceText

_EDGE_LINES = 6
"""Lines at the beginning and at the end of a page's text in which running headers and footers are sought."""
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:page|seite|p\.)?[\W_]*(?:\d+|[ivxlc]+)(?:[\W_]*(?:of|von|/)?[\W_]*\d+)?[\W_]*", re.I
)
_MIN_WORDS = 10
_MAX_SINGLE_LETTER_SHARE = 0.2
"""Share of the words of a page: in English about a twentieth are single letters."""
_MAX_MEAN_WORD_CHARS = 16
"""Characters from blank to blank."""
_MAX_ANNOTATIONS = 5_000


def read_pdf_texts(data: bytes, budget: Budget) -> Iterator[SourceText]:
    """Give the text of each page, line by line, then fields, annotations and attached files."""
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    try:
        document.init_forms()
        pages = []
        for index in range(len(document)):
            budget.check()
            page = document[index]
            try:
                pages.append(_read_page_lines(page))
                yield from _read_annotations(document, page, f"page {index + 1}")
            finally:
                page.close()
        running = _find_running_lines(pages)
        for number, lines in enumerate(pages, start=1):
            yield from _join_lines(lines, running, f"page {number}")
        for index in range(document.count_attachments()):
            yield SourceText("attached files", "attached file", document.get_attachment(index).get_name())
    finally:
        document.close()


def _read_page_lines(page: Any) -> list[str]:
    text_page = page.get_textpage()
    try:
        text = str(text_page.get_text_range())
        return (_read_spaced_text(text_page) or text if _has_gaps(text) else text).splitlines()
    finally:
        text_page.close()


def _has_gaps(text: str) -> bool:
    """Return whether so many letters are isolated that there are gaps within words."""
    words = text.split()
    alone = sum(len(word) == 1 and word.isalpha() for word in words)
    return len(words) >= _MIN_WORDS and alone > _MAX_SINGLE_LETTER_SHARE * len(words)


def _read_spaced_text(text_page: Any) -> str:
    """Return the text with the blanks of the file itself, and without those that PDFium inserts into gaps.

    Empty if the file has hardly any: then only gaps show where a word ends.
    """
    from pypdfium2 import raw

    characters = []
    for index in range(text_page.count_chars()):
        character = chr(raw.FPDFText_GetUnicode(text_page.raw, index))
        if not (character == " " and raw.FPDFText_IsGenerated(text_page.raw, index)):
            characters.append(character)
    text = "".join(characters)
    return text if text.count(" ") > len(text) / _MAX_MEAN_WORD_CHARS else ""


def _join_lines(lines: list[str], running: set[str], place: str) -> Iterator[SourceText]:
    """Join continuous lines into one text, so that a word split at the end of a line is one word."""
    joined: list[str] = []
    for number, line in enumerate(lines):
        at_edge = number < _EDGE_LINES or number >= len(lines) - _EDGE_LINES
        if _normalize_line(line) in running or (at_edge and _PAGE_NUMBER.fullmatch(line)):
            yield SourceText(place, "text", line, rules.RUNNING)
        else:
            joined.append(line)
    yield SourceText(place, "text", "\n".join(joined))


def _normalize_line(line: str) -> str:
    return _NUMBER.sub("#", " ".join(line.casefold().split()))


def _find_running_lines(pages: list[list[str]]) -> set[str]:
    """Return the lines that many pages have at their beginning or end, ignoring numbers."""
    counts: Counter[str] = Counter()
    for lines in pages:
        counts.update({_normalize_line(line) for line in (*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]) if line.strip()})
    often = 2 if len(pages) == 2 else max(3, len(pages) // 5)
    return {line for line, count in counts.items() if count >= often}


# -- annotations ------------------------------------------------------------------------------------------------------


def _read_annotations(document: Any, page: Any, place: str) -> Iterator[SourceText]:
    from pypdfium2 import raw

    count = min(raw.FPDFPage_GetAnnotCount(page.raw), _MAX_ANNOTATIONS)
    for index in range(count):
        annotation = raw.FPDFPage_GetAnnot(page.raw, index)
        if not annotation:
            continue
        try:
            yield from _read_annotation_texts(document, annotation, place)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _read_annotation_texts(document: Any, annotation: Any, place: str) -> Iterator[SourceText]:
    from pypdfium2 import raw

    kind = raw.FPDFAnnot_GetSubtype(annotation)
    flags = raw.FPDFAnnot_GetFlags(annotation)
    rule = rules.HIDDEN if flags & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW) else ""
    if kind == raw.FPDF_ANNOT_WIDGET:
        if (value := _read_field_value(document, annotation)) and value != "Off":
            yield SourceText(place, "form field", value, rule)
    elif kind not in (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP) and (contents := _read_entry(annotation, b"Contents")):
        yield SourceText(place, "annotation", contents, rule)


def _read_field_value(document: Any, annotation: Any) -> str:
    from pypdfium2 import raw

    form = document.formenv
    if form is None:
        return _read_entry(annotation, b"V")
    # For a check box the tick is shown; its value is a name inside the file.
    kind = raw.FPDFAnnot_GetFormFieldType(form.raw, annotation)
    if kind not in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        return ""
    return _read_string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldValue(form.raw, annotation, buffer, size))


def _read_entry(annotation: Any, key: bytes) -> str:
    from pypdfium2 import raw

    return _read_string(lambda buffer, size: raw.FPDFAnnot_GetStringValue(annotation, key, buffer, size))


def _read_string(ask: Any) -> str:
    """Return a string of PDFium, which reports its length when called without a buffer."""
    from pypdfium2 import raw

    size = int(ask(None, 0))
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace").replace("\r", "\n")
