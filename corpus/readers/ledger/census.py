"""The census of a file: all its text, by its kind of file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from itertools import chain

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import file_signatures as kinds
from argot.corpus.readers.ledger.book import read_book_texts
from argot.corpus.readers.ledger.budget import Budget, CensusOver
from argot.corpus.readers.ledger.latex_texts import read_latex_texts
from argot.corpus.readers.ledger.mail_parts import read_mail_texts, read_mailbox_texts, read_web_archive_texts
from argot.corpus.readers.ledger.nesting import Nesting
from argot.corpus.readers.ledger.office import read_office_texts
from argot.corpus.readers.ledger.old_texts import (
    read_doc_texts,
    read_msg_texts,
    read_rtf_texts,
    read_vsdx_texts,
)
from argot.corpus.readers.ledger.old_workbook import read_xls_texts, read_xlsb_texts
from argot.corpus.readers.ledger.open_document import read_open_document_texts
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
    **kinds.OFFICE_SUFFIXES,
    **dict.fromkeys((".html", ".htm", ".xhtml"), "text/html"),
    **dict.fromkeys((".md", ".markdown"), "text/markdown"),
    **dict.fromkeys((".csv", ".tsv"), "text/csv"),
    **dict.fromkeys((".txt", ".text"), "text/plain"),
    ".pdf": "application/pdf",
    ".eml": "message/rfc822",
    ".mbox": "application/mbox",
    ".epub": "application/epub+zip",
    ".rst": "text/x-rst",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".ndjson": "application/jsonl",
    ".ipynb": "application/x-ipynb+json",
}
_COLOUR_CODE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


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
    named = _KINDS_BY_SUFFIX.get(posixpath.splitext(name.lower())[1], "")
    media_type = kinds.find_actual_type(data, named)
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


_CENSUSES: dict[str, Callable[[bytes, Nesting], Iterator[SourceText]]] = {
    "application/pdf": lambda data, nesting: read_pdf_texts(data, nesting.budget),
    "text/html": lambda data, nesting: read_page_texts(data, "page", nesting.budget),
    "application/epub+zip": lambda data, nesting: read_book_texts(data, nesting.budget),
    "message/rfc822": read_mail_texts,
    kinds.WEB_ARCHIVE_TYPE: read_web_archive_texts,
    "application/mbox": read_mailbox_texts,
    "text/markdown": lambda data, nesting: read_markdown_texts(data, "text", nesting.budget),
    "text/plain": lambda data, _: read_plain_texts(data, "text"),
    "text/x-rst": lambda data, _: read_rst_texts(data, "text"),
    "text/csv": lambda data, _: read_csv_texts(data, "table"),
    "application/json": lambda data, nesting: read_json_texts(data, "records", nesting.budget),
    "application/jsonl": lambda data, nesting: read_json_texts(data, "records", nesting.budget),
    "application/x-ipynb+json": lambda data, nesting: read_notebook_texts(data, "notebook", nesting.budget),
    kinds.RTF_TYPE: lambda data, nesting: read_rtf_texts(data, nesting.budget),
    kinds.DOC_TYPE: lambda data, nesting: read_doc_texts(data, nesting.budget),
    kinds.XLS_TYPE: lambda data, nesting: read_xls_texts(data, nesting.budget),
    kinds.XLSB_TYPE: lambda data, nesting: chain(
        read_xlsb_texts(data, nesting.budget), read_office_texts(data, nesting)
    ),
    **dict.fromkeys(
        (kinds.ODT_TYPE, kinds.ODS_TYPE, kinds.ODP_TYPE),
        lambda data, nesting: read_open_document_texts(data, nesting.budget),
    ),
    kinds.MSG_TYPE: read_msg_texts,
    kinds.VSDX_TYPE: lambda data, nesting: read_vsdx_texts(data, nesting.budget),
    "application/xml": lambda data, nesting: read_xml_texts(data, nesting.budget),
    "text/x-systemrdl": lambda data, _: read_systemrdl_texts(data),
    "text/x-tex": lambda data, _: read_latex_texts(data),
    **dict.fromkeys(("text/x-asciidoc", "text/x-org"), lambda data, _: read_written_markup_texts(data)),
    **dict.fromkeys(SOURCE_SUFFIXES.values(), lambda data, _: read_plain_texts(_COLOUR_CODE.sub(b"", data), "text")),
}
"""By media type, except those of Office files."""
