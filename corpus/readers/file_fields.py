"""Metadata of files (properties, front matter, headers), under the same names in every format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from email.utils import getaddresses

from argot.types import TAG, DocumentField

_FIELD_NAMES = {
    "authors": "author",
    "creator": "author",
    "dc.creator": "author",
    "from": "author",
    "maintainer": "owner",
    "tags": TAG,
    "label": TAG,
    "labels": TAG,
    "keyword": TAG,
    "keywords": TAG,
    "contentstatus": "status",
    "replaced_by": "superseded_by",
    "supersededby": "superseded_by",
    "superseded": "superseded_by",
}
_LIST_SEPARATORS = {TAG: re.compile(r"[,;]"), "author": re.compile(r";")}
"""Fields with several values, and their separators."""
_PROGRAM_AUTHORS = {
    "python-docx",
    "python-pptx",
    "openpyxl",
    "unknown",
    "user",
    "administrator",
    "root",
    "anonymous",
    "(anonymous)",
}
"""Authors that a program inserted because nobody was named."""


def build_fields(pairs: Iterable[tuple[str, str]]) -> tuple[DocumentField, ...]:
    """Return the fields that these names and values make."""
    return tuple(dict.fromkeys(_iter_fields(pairs)))


def list_mail_authors(sender: str) -> list[str]:
    """Return the name and the address of "Ann Lee <ann@example.org>": people ask by either."""
    # If it is no address, it is not parsed, and stays unchanged.
    found = [one for pair in getaddresses([sender]) for one in pair if one]
    return list(dict.fromkeys(found)) if any("@" in one for one in found) else [sender.strip('"')]


def _iter_fields(pairs: Iterable[tuple[str, str]]) -> Iterator[DocumentField]:
    for label, text in pairs:
        name = label.strip().lower().replace("-", "_").replace(" ", "_")
        name = _FIELD_NAMES.get(name, name)
        parts = _LIST_SEPARATORS[name].split(text) if name in _LIST_SEPARATORS else [text]
        for part in parts:
            value = " ".join(part.split())
            if value and not (name == "author" and value.lower() in _PROGRAM_AUTHORS):
                yield DocumentField(name, value)
