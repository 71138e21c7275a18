"""What files say of themselves (properties, front matter, headers), under the same names whatever the format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from email.utils import getaddresses

from argot.types import TAG, DocumentField

_NAMES = {
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
_LISTS = {TAG: re.compile(r"[,;]"), "author": re.compile(r";")}
"""Fields of several values, and what stands between them."""
_OF_PROGRAMS = {
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
"""Authors that a program put there because nobody was named."""


def said_fields(pairs: Iterable[tuple[str, str]]) -> tuple[DocumentField, ...]:
    """The fields that these names and values make."""
    return tuple(dict.fromkeys(_each(pairs)))


def mail_authors(sender: str) -> list[str]:
    """Of "Ann Lee <ann@example.org>" the name and the address: people ask by either."""
    # Where it is no address, nothing is read: then it stands as it is.
    found = [one for pair in getaddresses([sender]) for one in pair if one]
    return list(dict.fromkeys(found)) if any("@" in one for one in found) else [sender.strip('"')]


def _each(pairs: Iterable[tuple[str, str]]) -> Iterator[DocumentField]:
    for said, text in pairs:
        name = said.strip().lower().replace("-", "_").replace(" ", "_")
        name = _NAMES.get(name, name)
        parts = _LISTS[name].split(text) if name in _LISTS else [text]
        for part in parts:
            value = " ".join(part.split())
            if value and not (name == "author" and value.lower() in _OF_PROGRAMS):
                yield DocumentField(name, value)
