"""Kind of file that a message mentions: "the PDF", "that sheet", "my slides". English, as small talk is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from argot.types import Document

_SHEETS = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".csv", ".tsv"})
_TEXTS = frozenset({".docx", ".docm", ".doc", ".odt", ".rtf"})
_SLIDES = frozenset({".pptx", ".pptm", ".odp"})
_KINDS = (
    (r"pdf", frozenset({".pdf"})),
    (r"word (?:file|document|doc)|docx?|odt", _TEXTS),
    (r"rtf|rich text", frozenset({".rtf"})),
    (r"csv", frozenset({".csv", ".tsv"})),
    (r"excel|xls[xb]?|ods|(?:spread)?sheet|workbook|table", _SHEETS),
    (r"powerpoint|pptx|odp|presentation|(?:slide )?deck|slide", _SLIDES),
    (r"e-?mail|mail|outlook message|msg|eml", frozenset({".msg", ".eml", ".mbox"})),
    (r"visio (?:file|drawing|diagram)|vsdx", frozenset({".vsdx", ".vsdm"})),
    (r"markdown", frozenset({".md", ".markdown"})),
    (r"html|web page", frozenset({".html", ".htm", ".xhtml"})),
    (r"text file", frozenset({".txt", ".text"})),
)
# If named first, "the file" may be of any kind, whatever is asked about it.
_NAMED = re.compile(
    "|".join([*(rf"\b({words})s?\b" for words, _ in _KINDS), r"\b(?:file|document|attachment)s?\b"]), re.IGNORECASE
)


def filter_by_kind(message: str, files: Sequence[Document]) -> list[Document]:
    """Return the files of the kind named first; all of them if none is named, or if no file is of that kind."""
    named = _NAMED.search(message)
    # People also call a Word file "the PDF".
    suffixes = _KINDS[named.lastindex - 1][1] if named and named.lastindex else frozenset()
    return [file for file in files if PurePosixPath(file.name).suffix.lower() in suffixes] or list(files)
