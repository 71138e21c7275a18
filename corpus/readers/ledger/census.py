"""The census of a file: all text that it holds, by its kind of file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import partial

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.ledger.book import book_texts
from argot.corpus.readers.ledger.budget import Budget, CensusOver
from argot.corpus.readers.ledger.mail_parts import mail_texts, mailbox_texts
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
    return _texts(data, name, media_type, 0, budget or Budget(limits.seconds / 4))


def _inner_census(data: bytes, name: str, depth: int, budget: Budget) -> Iterator[SourceText]:
    """Give the text of a file inside another; one that nobody can read costs itself alone."""
    media_type = _KINDS_BY_SUFFIX.get(posixpath.splitext(name.lower())[1], "")
    try:
        yield from _texts(data, name, media_type, depth, budget)
    except (CensusOver, MemoryError):
        raise
    except Exception:  # the reader of the outer file says that it cannot be read
        return


def _texts(data: bytes, name: str, media_type: str, depth: int, budget: Budget) -> Iterator[SourceText]:
    inner = partial(_inner_census, budget=budget)
    if media_type.startswith(_OFFICE):
        return office_texts(data, inner, depth, budget)
    match media_type:
        case "application/pdf":
            return pdf_texts(data, budget)
        case "text/html":
            return page_texts(data, "page", budget)
        case "application/epub+zip":
            return book_texts(data, budget)
        case "message/rfc822" | "multipart/related":
            return mail_texts(data, inner, depth, budget)
        case "application/mbox":
            return mailbox_texts(data, inner, depth, budget)
        case "text/markdown":
            return markdown_texts(data, "text")
        case "text/plain":
            return plain_texts(data, "text")
        case "text/x-rst":
            return rst_texts(data, "text")
        case "text/csv":
            return csv_texts(data, "table")
        case "application/json" | "application/jsonl":
            return json_texts(data, "records", budget)
        case "application/x-ipynb+json":
            return notebook_texts(data, "notebook", budget)
        case "application/rtf":
            return iter([SourceText(name, "text", _RTF_WORDS.sub(b" ", data).decode("cp1252", "replace"))])
        case _:  # pictures hold no text
            return iter(())
