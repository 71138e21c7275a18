"""Kind of file that a message mentions: "the PDF", "that sheet", "my slides". The words are data of each language
(`argot/languages`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import PurePosixPath

from argot.languages.detection import list_possible_languages
from argot.languages.language_data import read_language_file
from argot.languages.request_patterns import fold_accents
from argot.types import Document

_SUFFIXES = {
    "pdf": frozenset({".pdf"}),
    "text": frozenset({".docx", ".docm", ".doc", ".odt", ".rtf"}),
    "rich_text": frozenset({".rtf"}),
    "csv": frozenset({".csv", ".tsv"}),
    "sheet": frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".csv", ".tsv"}),
    "slides": frozenset({".pptx", ".pptm", ".odp"}),
    "mail": frozenset({".msg", ".eml", ".mbox"}),
    "drawing": frozenset({".vsdx", ".vsdm"}),
    "markdown": frozenset({".md", ".markdown"}),
    "page": frozenset({".html", ".htm", ".xhtml"}),
    "plain": frozenset({".txt", ".text"}),
    # If named first, "the file" may be of any kind, whatever is asked about it.
    "any": frozenset[str](),
}


def filter_by_kind(message: str, files: Sequence[Document]) -> list[Document]:
    """Return the files of the kind named first; all of them if none is named, or if no file is of that kind."""
    folded = fold_accents(message)
    named = [found for code in list_possible_languages(message) if (found := _compile_kinds(code).search(folded))]
    first = min(named, key=lambda found: found.start(), default=None)
    # People also call a Word file "the PDF".
    suffixes = _SUFFIXES[first.lastgroup or "any"] if first else _SUFFIXES["any"]
    return [file for file in files if PurePosixPath(file.name).suffix.lower() in suffixes] or list(files)


@cache
def _compile_kinds(code: str) -> re.Pattern[str]:
    words = read_language_file(f"{code}_requests")["kinds"]
    kinds = (rf"\b(?P<{kind}>{words[kind]}){words['plural']}\b" for kind in _SUFFIXES)
    return re.compile(fold_accents("|".join(kinds)), re.IGNORECASE)
