"""The census of a file: all its text, by its kind of file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.ledger.book import read_book_texts
from argot.corpus.readers.ledger.budget import Budget, CensusOver
from argot.corpus.readers.ledger.mail_parts import read_mail_texts, read_mailbox_texts
from argot.corpus.readers.ledger.nesting import Nesting
from argot.corpus.readers.ledger.office import read_office_texts
from argot.corpus.readers.ledger.page import read_page_texts
from argot.corpus.readers.ledger.pdf_pages import read_pdf_texts
from argot.corpus.readers.ledger.plain import (
    read_csv_texts,
    read_json_texts,
    read_markdown_texts,
    read_notebook_texts,
    read_plain_texts,
    read_rst_texts,
)
from argot.corpus.readers.ledger.source_text import SourceText
from argot.corpus.readers.ledger.technical import read_systemrdl_texts, read_written_markup_texts, read_xml_texts
from argot.corpus.readers.source_languages import SOURCE_SUFFIXES

_OFFICE_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument."
_KINDS_BY_SUFFIX = {
    **dict.fromkeys((".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm"), _OFFICE_MEDIA_TYPE),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "text/html"),
    **dict.fromkeys((".md", ".markdown"), "text/markdown"),
    **dict.fromkeys((".csv", ".tsv"), "text/csv"),
    **dict.fromkeys((".txt", ".text"), "text/plain"),
    **dict.fromkeys((".mht", ".mhtml"), "multipart/related"),
    ".pdf": "application/pdf",
    ".eml": "message/rfc822",
    ".mbox": "application/mbox",
    ".epub": "application/epub+zip",
    ".rst": "text/x-rst",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".ndjson": "application/jsonl",
    ".ipynb": "application/x-ipynb+json",
    ".rtf": "application/rtf",
}
_COLOUR_CODE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_RTF_WORDS = re.compile(rb"\\'[0-9a-fA-F]{2}|\\[a-zA-Z]+-?\d* ?|[{}]")


def take_census(
    data: bytes, name: str, media_type: str, limits: ReadLimits, budget: Budget | None = None
) -> Iterator[SourceText]:
    """Yield all text of a file, piece by piece.

    Args:
        media_type: that of the file, as `SUFFIXES` of the readers name it.
        budget: the processor time it may take; a quarter of the reading time by default.

    Raises:
        CensusOver: the time is over.
    """
    return _read_texts(data, name, media_type, Nesting(_take_inner_census, budget or Budget(limits.seconds / 4)))


def _take_inner_census(data: bytes, name: str, nesting: Nesting) -> Iterator[SourceText]:
    """Yield the text of a file inside another; an unreadable one loses only itself."""
    media_type = _KINDS_BY_SUFFIX.get(posixpath.splitext(name.lower())[1], "")
    try:
        yield from _read_texts(data, name, media_type, nesting)
    except (CensusOver, MemoryError):
        raise
    except Exception:  # the reader of the outer file reports that it cannot be read
        return


def _read_texts(data: bytes, name: str, media_type: str, nesting: Nesting) -> Iterator[SourceText]:
    if media_type.startswith(_OFFICE_MEDIA_TYPE):
        return read_office_texts(data, nesting)
    # Pictures contain no text.
    texts = _CENSUSES.get(media_type)
    return texts(data, nesting) if texts else iter(())


def _read_rtf_texts(data: bytes) -> Iterator[SourceText]:
    """Give the words of rich text; only parts of Word files are in this form."""
    yield SourceText("rich text", "text", _RTF_WORDS.sub(b" ", data).decode("cp1252", "replace"))


_CENSUSES: dict[str, Callable[[bytes, Nesting], Iterator[SourceText]]] = {
    "application/pdf": lambda data, nesting: read_pdf_texts(data, nesting.budget),
    "text/html": lambda data, nesting: read_page_texts(data, "page", nesting.budget),
    "application/epub+zip": lambda data, nesting: read_book_texts(data, nesting.budget),
    "message/rfc822": read_mail_texts,
    "multipart/related": read_mail_texts,
    "application/mbox": read_mailbox_texts,
    "text/markdown": lambda data, _: read_markdown_texts(data, "text"),
    "text/plain": lambda data, _: read_plain_texts(data, "text"),
    "text/x-rst": lambda data, _: read_rst_texts(data, "text"),
    "text/csv": lambda data, _: read_csv_texts(data, "table"),
    "application/json": lambda data, nesting: read_json_texts(data, "records", nesting.budget),
    "application/jsonl": lambda data, nesting: read_json_texts(data, "records", nesting.budget),
    "application/x-ipynb+json": lambda data, nesting: read_notebook_texts(data, "notebook", nesting.budget),
    "application/rtf": lambda data, _: _read_rtf_texts(data),
    "application/xml": lambda data, nesting: read_xml_texts(data, nesting.budget),
    "text/x-systemrdl": lambda data, _: read_systemrdl_texts(data),
    **dict.fromkeys(("text/x-tex", "text/x-asciidoc", "text/x-org"), lambda data, _: read_written_markup_texts(data)),
    **dict.fromkeys(SOURCE_SUFFIXES.values(), lambda data, _: read_plain_texts(_COLOUR_CODE.sub(b"", data), "text")),
}
"""By media type, except those of Office files."""
