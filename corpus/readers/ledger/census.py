"""The census of a file: all text that it holds, by its kind of file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.ledger.book import book_texts
from argot.corpus.readers.ledger.budget import Budget, CensusOver
from argot.corpus.readers.ledger.mail_parts import mail_texts, mailbox_texts
from argot.corpus.readers.ledger.nesting import Nesting
from argot.corpus.readers.ledger.office import office_texts
from argot.corpus.readers.ledger.page import page_texts
from argot.corpus.readers.ledger.pdf_pages import pdf_texts
from argot.corpus.readers.ledger.plain import (
    csv_texts,
    json_texts,
    markdown_texts,
    notebook_texts,
    plain_texts,
    rst_texts,
)
from argot.corpus.readers.ledger.source_text import SourceText

_OFFICE = "application/vnd.openxmlformats-officedocument."
_KINDS_BY_SUFFIX = {
    **dict.fromkeys((".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm"), _OFFICE),
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
_RTF_WORDS = re.compile(rb"\\'[0-9a-fA-F]{2}|\\[a-zA-Z]+-?\d* ?|[{}]")


def census_of(
    data: bytes, name: str, media_type: str, limits: ReadLimits, budget: Budget | None = None
) -> Iterator[SourceText]:
    """Give all text of a file, piece by piece.

    Args:
        media_type: that of the file, as `SUFFIXES` of the readers name it.
        budget: the processor time it may take; a quarter of the time to read where none is given.

    Raises:
        CensusOver: the time is over.
    """
    return _texts(data, name, media_type, Nesting(_inner_census, budget or Budget(limits.seconds / 4)))


def _inner_census(data: bytes, name: str, nesting: Nesting) -> Iterator[SourceText]:
    """Give the text of a file inside another; one that nobody can read costs itself alone."""
    media_type = _KINDS_BY_SUFFIX.get(posixpath.splitext(name.lower())[1], "")
    try:
        yield from _texts(data, name, media_type, nesting)
    except (CensusOver, MemoryError):
        raise
    except Exception:  # the reader of the outer file says that it cannot be read
        return


def _texts(data: bytes, name: str, media_type: str, nesting: Nesting) -> Iterator[SourceText]:
    if media_type.startswith(_OFFICE):
        return office_texts(data, nesting)
    # Pictures hold no text.
    texts = _CENSUSES.get(media_type)
    return texts(data, nesting) if texts else iter(())


def _rtf_texts(data: bytes) -> Iterator[SourceText]:
    """Give the words of rich text; only parts of Word files are in this form."""
    yield SourceText("rich text", "text", _RTF_WORDS.sub(b" ", data).decode("cp1252", "replace"))


_CENSUSES: dict[str, Callable[[bytes, Nesting], Iterator[SourceText]]] = {
    "application/pdf": lambda data, nesting: pdf_texts(data, nesting.budget),
    "text/html": lambda data, nesting: page_texts(data, "page", nesting.budget),
    "application/epub+zip": lambda data, nesting: book_texts(data, nesting.budget),
    "message/rfc822": mail_texts,
    "multipart/related": mail_texts,
    "application/mbox": mailbox_texts,
    "text/markdown": lambda data, _: markdown_texts(data, "text"),
    "text/plain": lambda data, _: plain_texts(data, "text"),
    "text/x-rst": lambda data, _: rst_texts(data, "text"),
    "text/csv": lambda data, _: csv_texts(data, "table"),
    "application/json": lambda data, nesting: json_texts(data, "records", nesting.budget),
    "application/jsonl": lambda data, nesting: json_texts(data, "records", nesting.budget),
    "application/x-ipynb+json": lambda data, nesting: notebook_texts(data, "notebook", nesting.budget),
    "application/rtf": lambda data, _: _rtf_texts(data),
}
"""By media type, apart from those of Office files."""
