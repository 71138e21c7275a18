"""One reader a file format; all give Markdown that keeps headings, lists and tables.

`read_document` reads in this process. Files of strangers are read, and cut, in a child with bounds on memory and time:
`argot.corpus.readers.reader_process`. Readers import what they need when they are called: reading one costs no other.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.plain_text import decode_text
from argot.document_names import leftover_kind
from argot.errors import ArgotError, UnreadableDocument
from argot.types import DocumentField, ParsedDocument

if TYPE_CHECKING:
    from argot.corpus.readers.ledger import Ledger

__all__ = ["SUFFIXES", "ReadLimits", "is_readable", "media_type_of", "read_document", "read_with_ledger"]

Reader = Callable[[bytes, str, ReadLimits], ParsedDocument]

_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_EPUB = "application/epub+zip"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

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
        ".docx": _DOCX,
        ".docm": _DOCX,
        ".pptx": _PPTX,
        ".pptm": _PPTX,
        ".csv": "text/csv",
        ".tsv": "text/csv",
        ".xlsx": _XLSX,
        ".xlsm": _XLSX,
        ".eml": "message/rfc822",
        ".mbox": "application/mbox",
        ".epub": _EPUB,
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
    }
)
"""Suffix, in lower case, to media type: every format Argot reads."""

_PICTURES: Mapping[bytes, str] = {
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
    _DOCX: ("docx", "read_docx"),
    _PPTX: ("pptx", "read_pptx"),
    "text/csv": ("sheets", "read_csv"),
    _XLSX: ("sheets", "read_xlsx"),
    "message/rfc822": ("mail", "read_mail"),
    "application/mbox": ("mail", "read_mailbox"),
    _EPUB: ("epub", "read_epub"),
    "application/json": ("json_records", "read_json"),
    "application/jsonl": ("json_records", "read_json_lines"),
    "application/x-ipynb+json": ("notebook", "read_notebook"),
    "image/png": ("image", "read_image"),
    "image/jpeg": ("image", "read_image"),
    "image/tiff": ("image", "read_image"),
    "image/webp": ("image", "read_image"),
    "image/bmp": ("image", "read_image"),
}
_ZIP = b"PK\x03\x04"
_MACROS = (b"vbaProject.bin", b"xl/macrosheets/")
"""In the names of parts of Office files that hold programs."""
_MAX_TITLE = 300
"""Characters; every passage carries the title."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


_IS_INSIDE: ContextVar[bool] = ContextVar("_IS_INSIDE", default=False)
"""Set while a file is read: what lies inside it, as an attachment does, is counted with it."""
NOT_COUNTED = "not all of its words could be compared with what was read"
_LEAST_COUNTING_SECONDS = 0.5
_MOST_COUNTING_SHARE = 0.5
"""Of the time that reading took: counting must make no file too slow to read."""


def read_document(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """The file as Markdown, with a warning where words of it were not read.

    Raises:
        UnreadableDocument: empty, too large, encrypted, damaged, binary, of an unknown format, or without text.
    """
    return _read(data, name, limits) if _IS_INSIDE.get() else read_with_ledger(data, name, limits)[0]


def read_with_ledger(data: bytes, name: str, limits: ReadLimits) -> tuple[ParsedDocument, Ledger]:
    """Read a file, and compare what was read with all words that it holds.

    Raises:
        UnreadableDocument: as of `read_document`.
    """
    from argot.corpus.readers.ledger import warn_of_lost_words

    started = time.process_time()
    with _outer_file():
        parsed = _read(data, name, limits)
    took = time.process_time() - started
    # Cutting into passages comes afterwards, and has to be done in the same time.
    left = max(0.0, limits.seconds - took) / 4
    ledger = _strike(data, name, parsed, limits, min(left, max(_LEAST_COUNTING_SECONDS, _MOST_COUNTING_SHARE * took)))
    warning = warn_of_lost_words(ledger) or (NOT_COUNTED if ledger.shortfall else "")
    return (replace(parsed, warnings=(*parsed.warnings, warning)) if warning else parsed), ledger


@contextmanager
def _outer_file() -> Iterator[None]:
    token = _IS_INSIDE.set(True)
    try:
        yield
    finally:
        _IS_INSIDE.reset(token)


def _strike(data: bytes, name: str, parsed: ParsedDocument, limits: ReadLimits, seconds: float) -> Ledger:
    """Strike the ledger of a file that was read; whatever happens to the census, the file stays read."""
    from argot.corpus.readers.ledger import Ledger, compare_words, take_census
    from argot.corpus.readers.ledger.budget import Budget

    try:
        return compare_words(parsed, take_census(data, name, media_type_of(data, name), limits, Budget(seconds)))
    except Exception as error:  # too long, too large, or broken in a way that its reader does not mind
        return Ledger(shortfall=f"{type(error).__name__}: {error}"[:200])


def _read(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    limits.check_size(len(data), name)
    if kind := leftover_kind(name):
        raise UnreadableDocument(name, f"no document: {kind}", "Give the document itself.")
    module, function = _READERS[media_type_of(data, name)]
    reader: Reader = getattr(importlib.import_module(f"argot.corpus.readers.{module}"), function)
    try:
        parsed = reader(data, name, limits)
    # Running out of memory does not mean that the file is damaged: it is reported as the limit it is.
    except (ArgotError, MemoryError):
        raise
    except RecursionError as error:
        raise UnreadableDocument(name, "nested too deeply") from error
    except Exception as error:  # what a parser raises on a damaged file can be anything
        raise UnreadableDocument(name, f"damaged ({type(error).__name__}: {error})"[:200]) from error
    limits.check_chars(len(parsed.markdown), name)
    if not parsed.markdown.strip():
        # Not "empty" alone where a part with text may have been left out.
        but = f" that can be read ({'; '.join(parsed.warnings)})"[:400] if parsed.warnings else ""
        raise UnreadableDocument(name, f"empty: it holds no text{but}")
    # One character for one, so that offsets stay: neither can be stored.
    return replace(
        parsed,
        title=_storable(parsed.title).strip()[:_MAX_TITLE],
        markdown=_storable(parsed.markdown),
        fields=tuple(DocumentField(_storable(one.name), _storable(one.value)) for one in parsed.fields),
        warnings=(*parsed.warnings, *_macros(data)),
    )


def _macros(data: bytes) -> tuple[str, ...]:
    # The names of an archive's members are not compressed.
    found = data.startswith(_ZIP) and any(part in data for part in _MACROS)
    return ("its macros are left out and were not run",) if found else ()


def _storable(text: str) -> str:
    return _UNSTORABLE.sub("�", text)


def media_type_of(data: bytes, name: str) -> str:
    """By suffix; without a known one by the first bytes, as for a text file that begins as a page of HTML does.

    A file without any suffix is text, unless its first bytes say otherwise.

    Raises:
        UnreadableDocument: neither tells.
    """
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    known = SUFFIXES.get(suffix)
    if known and known != "text/plain":
        return known
    sniffed = _sniff(data)
    if known:
        return sniffed if sniffed == "text/html" else known
    if sniffed is None and not suffix:
        return "text/plain"
    if sniffed is None:
        formats = ", ".join(SUFFIXES)
        raise UnreadableDocument(name, f"unknown format '{suffix}'", f"Argot reads {formats}.")
    return sniffed


def is_readable(head: bytes) -> bool:
    """Whether a file without a suffix that begins so can be read: a format known by its first bytes, or text."""
    # Of an archive only the whole tells.
    if head.startswith(_ZIP) or _sniff(head) is not None:
        return True
    try:
        return bool(decode_text(head, "").strip())
    except UnreadableDocument:
        return False


def _sniff(data: bytes) -> str | None:
    head = data[:2048]
    # PDF readers accept up to 1,024 other bytes before the mark.
    if b"%PDF-" in head[:1024]:
        return "application/pdf"
    if head.startswith(_ZIP):
        parts = {b"word/document.xml": _DOCX, b"ppt/presentation.xml": _PPTX, b"xl/workbook.xml": _XLSX}
        # Neither compressed: an e-book's first member, and the names of all members.
        if data[30:70].startswith(b"mimetype" + _EPUB.encode()):
            return _EPUB
        return next((media_type for part, media_type in parts.items() if part in data), None)
    lowered = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if lowered.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    return next((media_type for magic, media_type in _PICTURES.items() if head.startswith(magic)), None)
