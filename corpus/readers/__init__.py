"""One reader per file format; all return Markdown that keeps headings, lists and tables.

`read_document` reads in this process. Untrusted files are read, and cut, in a child with limits on memory and time:
`argot.corpus.readers.reader_process`. Readers import their packages when they are called, so that reading one format
does not load the others.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import file_signatures as kinds
from argot.corpus.readers.pictures import PictureShelf, get_shelf, strip_marks, use_shelf
from argot.corpus.readers.plain_text import decode_text
from argot.corpus.readers.source_languages import SOURCE_SUFFIXES
from argot.document_names import find_leftover_kind
from argot.errors import ArgotError, UnreadableDocument
from argot.types import DocumentField, ParsedDocument

if TYPE_CHECKING:
    from argot.corpus.readers.ledger import Ledger

__all__ = ["SUFFIXES", "ReadLimits", "is_readable", "media_type_of", "read_document", "read_with_ledger"]

Reader = Callable[[bytes, str, ReadLimits], ParsedDocument]

_XML_MEDIA_TYPE = "application/xml"

SUFFIXES: Mapping[str, str] = MappingProxyType(
    {
        ".md": "text/markdown",
        ".markdown": "text/markdown",
        ".txt": "text/plain",
        ".text": "text/plain",
        ".html": "text/html",
        ".htm": "text/html",
        ".xhtml": "text/html",
        ".rst": "text/x-rst",
        ".pdf": "application/pdf",
        **kinds.OFFICE_SUFFIXES,
        ".csv": "text/csv",
        ".tsv": "text/csv",
        ".eml": "message/rfc822",
        ".mbox": "application/mbox",
        ".epub": kinds.EPUB_TYPE,
        ".json": "application/json",
        ".jsonl": "application/jsonl",
        ".ndjson": "application/jsonl",
        ".ipynb": "application/x-ipynb+json",
        ".png": "image/png",
        ".jpg": "image/jpeg",
        ".jpeg": "image/jpeg",
        ".tif": "image/tiff",
        ".tiff": "image/tiff",
        ".webp": "image/webp",
        ".bmp": "image/bmp",
        ".xml": _XML_MEDIA_TYPE,
        ".svd": _XML_MEDIA_TYPE,
        ".dita": _XML_MEDIA_TYPE,
        ".ditamap": _XML_MEDIA_TYPE,
        ".xsd": _XML_MEDIA_TYPE,
        ".rdl": "text/x-systemrdl",
        ".tex": "text/x-tex",
        ".adoc": "text/x-asciidoc",
        ".asciidoc": "text/x-asciidoc",
        ".org": "text/x-org",
        **SOURCE_SUFFIXES,
    }
)
"""Suffix, in lower case, to media type: every format Argot reads."""

_PICTURE_MAGIC: Mapping[bytes, str] = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"II*\x00": "image/tiff",
    b"MM\x00*": "image/tiff",
}
"""First bytes of pictures, to media type."""
_READERS: Mapping[str, tuple[str, str]] = {
    "text/markdown": ("markdown", "read_markdown"),
    "text/plain": ("plain_text", "read_text"),
    "text/html": ("html", "read_html"),
    "text/x-rst": ("rst", "read_rst"),
    "application/pdf": ("pdf", "read_pdf"),
    kinds.DOCX_TYPE: ("docx", "read_docx"),
    kinds.DOC_TYPE: ("doc", "read_doc"),
    kinds.RTF_TYPE: ("rtf", "read_rtf"),
    kinds.ODT_TYPE: ("odt", "read_odt"),
    kinds.PPTX_TYPE: ("pptx", "read_pptx"),
    kinds.ODP_TYPE: ("odt", "read_odp"),
    kinds.VSDX_TYPE: ("vsdx", "read_vsdx"),
    "text/csv": ("sheets", "read_csv"),
    kinds.XLSX_TYPE: ("sheets", "read_xlsx"),
    kinds.XLSB_TYPE: ("xlsb", "read_xlsb"),
    kinds.XLS_TYPE: ("xls", "read_xls"),
    kinds.ODS_TYPE: ("ods", "read_ods"),
    "message/rfc822": ("mail", "read_mail"),
    kinds.MSG_TYPE: ("msg", "read_msg"),
    kinds.WEB_ARCHIVE_TYPE: ("web_archive", "read_web_archive"),
    "application/mbox": ("mail", "read_mailbox"),
    kinds.EPUB_TYPE: ("epub", "read_epub"),
    "application/json": ("json_records", "read_json"),
    "application/jsonl": ("json_records", "read_json_lines"),
    "application/x-ipynb+json": ("notebook", "read_notebook"),
    "image/png": ("image", "read_image"),
    "image/jpeg": ("image", "read_image"),
    "image/tiff": ("image", "read_image"),
    "image/webp": ("image", "read_image"),
    "image/bmp": ("image", "read_image"),
    _XML_MEDIA_TYPE: ("xml_text", "read_xml"),
    "text/x-systemrdl": ("systemrdl", "read_systemrdl"),
    "text/x-tex": ("latex", "read_latex"),
    "text/x-asciidoc": ("written_markup", "read_asciidoc"),
    "text/x-org": ("written_markup", "read_org"),
    **dict.fromkeys(SOURCE_SUFFIXES.values(), ("source_code", "read_source_code")),
}
_ZIP_MAGIC = b"PK\x03\x04"
_MACRO_PARTS = (b"vbaProject.bin", b"xl/macrosheets/")
"""In names of those parts of Office files that contain programs."""
_MAX_TITLE_CHARS = 300
"""Characters; every passage carries the title."""
_UNSTORABLE_CHARACTER = re.compile("[\x00\ud800-\udfff]")


NOT_COUNTED_WARNING = "not all of its words could be compared with what was read"
_MIN_COUNTING_SECONDS = 0.5
_MAX_COUNTING_SHARE = 0.5
"""Share of the reading time: counting must make no file too slow to read."""


def read_document(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Return the file as Markdown, with a warning if some of its words were not read.

    Raises:
        UnreadableDocument: empty, too large, encrypted, damaged, binary, of an unknown format, or without text.
    """
    # Files inside a file, such as attachments, count with it.
    return read_with_ledger(data, name, limits)[0] if get_shelf() is None else _read_file(data, name, limits)


def read_with_ledger(data: bytes, name: str, limits: ReadLimits) -> tuple[ParsedDocument, Ledger]:
    """Read a file, and compare the result with all words in it.

    Raises:
        UnreadableDocument: as of `read_document`.
    """
    from argot.corpus.readers.ledger import warn_of_lost_words
    from argot.corpus.readers.picture_places import place_pictures

    started = time.process_time()
    shelf = PictureShelf(data, name, limits)
    with use_shelf(shelf):
        parsed = _read_file(data, name, limits)
    took = time.process_time() - started
    # Cutting into passages comes afterwards, within the same time limit.
    left = max(0.0, limits.seconds - took) / 4
    # Without the words in pictures, which are in no text of the file, and would pass for lost ones.
    written = replace(parsed, markdown=strip_marks(parsed.markdown))
    ledger = _count_words(
        data, name, written, limits, min(left, max(_MIN_COUNTING_SECONDS, _MAX_COUNTING_SHARE * took))
    )
    parsed = place_pictures(replace(parsed, warnings=(*parsed.warnings, *shelf.list_warnings())), shelf)
    warning = warn_of_lost_words(ledger) or (NOT_COUNTED_WARNING if ledger.shortfall else "")
    return (replace(parsed, warnings=(*parsed.warnings, warning)) if warning else parsed), ledger


def _count_words(data: bytes, name: str, parsed: ParsedDocument, limits: ReadLimits, seconds: float) -> Ledger:
    """Compute the ledger of a file that was read; even if counting fails, the file stays read."""
    from argot.corpus.readers.ledger import Ledger, compare_words, take_census
    from argot.corpus.readers.ledger.budget import Budget

    try:
        return compare_words(parsed, take_census(data, name, media_type_of(data, name), limits, Budget(seconds)))
    except Exception as error:  # too long, too large, or damaged in a way that its reader tolerates
        return Ledger(shortfall=f"{type(error).__name__}: {error}"[:200])


def _read_file(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    limits.check_size(len(data), name)
    if kind := find_leftover_kind(name):
        raise UnreadableDocument(name, f"no document: {kind}", "Give the document itself.")
    module, function = _READERS[media_type_of(data, name)]
    reader: Reader = getattr(importlib.import_module(f"argot.corpus.readers.{module}"), function)
    try:
        parsed = reader(data, name, limits)
    # Running out of memory does not mean that the file is damaged: it is reported as an exceeded limit.
    except (ArgotError, MemoryError):
        raise
    except RecursionError as error:
        raise UnreadableDocument(name, "nested too deeply") from error
    except Exception as error:  # a parser may raise any error on a damaged file
        raise UnreadableDocument(name, f"damaged ({type(error).__name__}: {error})"[:200]) from error
    limits.check_chars(len(parsed.markdown), name)
    if not strip_marks(parsed.markdown).strip() and not _has_words_in_pictures(parsed):
        # Not just "empty" if a part with text may have been left out.
        but = f" that can be read ({'; '.join(parsed.warnings)})"[:400] if parsed.warnings else ""
        raise UnreadableDocument(name, f"empty: it holds no text{but}")
    # One character for one, so that offsets stay valid: neither can be stored.
    return replace(
        parsed,
        title=_replace_unstorable(parsed.title).strip()[:_MAX_TITLE_CHARS],
        markdown=_replace_unstorable(parsed.markdown),
        fields=tuple(
            DocumentField(_replace_unstorable(one.name), _replace_unstorable(one.value)) for one in parsed.fields
        ),
        warnings=(*parsed.warnings, *_warn_of_macros(data), *_warn_of_damage(parsed.markdown)),
    )


def _has_words_in_pictures(parsed: ParsedDocument) -> bool:
    shelf = get_shelf()
    return shelf is not None and any(picture.words for _, _, picture in shelf.find(parsed.markdown))


def _warn_of_damage(markdown: str) -> tuple[str, ...]:
    """Return a warning of the characters that could not be decoded."""
    damaged = markdown.count("\ufffd")
    return (f"{damaged:,} unreadable character{'s' if damaged > 1 else ''}",) if damaged else ()


def _warn_of_macros(data: bytes) -> tuple[str, ...]:
    # The names of an archive's members are not compressed.
    found = data.startswith(_ZIP_MAGIC) and any(part in data for part in _MACRO_PARTS)
    return ("its macros are left out and were not run",) if found else ()


def _replace_unstorable(text: str) -> str:
    return _UNSTORABLE_CHARACTER.sub("�", text)


def media_type_of(data: bytes, name: str) -> str:
    """Return the media type by the suffix, else by the first bytes, which also reveal HTML in a file named `.txt`, and
    the actual kind of a file with the name of an Office file.

    A file without any suffix is text, unless its first bytes say otherwise.

    Raises:
        UnreadableDocument: neither determines it.
    """
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    known = SUFFIXES.get(suffix)
    if known and known != "text/plain":
        return kinds.find_actual_type(data, known)
    sniffed = _detect_media_type(data)
    if known:
        return sniffed if sniffed == "text/html" else known
    if sniffed is None and not suffix:
        return "text/plain"
    if sniffed is None:
        formats = ", ".join(SUFFIXES)
        raise UnreadableDocument(name, f"unknown format '{suffix}'", f"Argot reads {formats}.")
    return sniffed


def is_readable(head: bytes) -> bool:
    """Return True if a file without a suffix can be read: its first bytes show a known format, or text."""
    # An archive needs to be read whole.
    if head.startswith(_ZIP_MAGIC) or _detect_media_type(head) is not None:
        return True
    try:
        return bool(decode_text(head, "").strip())
    except UnreadableDocument:
        return False


def _detect_media_type(data: bytes) -> str | None:
    head = data[:2048]
    # PDF readers accept up to 1,024 other bytes before the mark.
    if b"%PDF-" in head[:1024]:
        return "application/pdf"
    if (office := kinds.detect_office_type(data)) is not None:
        return office
    lowered = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if lowered.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    return next((media_type for magic, media_type in _PICTURE_MAGIC.items() if head.startswith(magic)), None)
