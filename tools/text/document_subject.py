"""Subject of a document, whatever its revision: it shows that two documents are about the same thing."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

from argot.tools.text.words import bare
from argot.types import Document, Passage

PassageInDocument = tuple[Passage, Document]
_REVISION = re.compile(
    r"\b(?:(?:rev(?:ision)?|v(?:ersion)?|ed(?:ition)?)\.? ?\d[\d.]*|(?:rev(?:ision)?|version|issue)\.? ?[a-z]\b"
    r"|(?:19|20)\d\d(?:[-.]\d\d){0,2}"
    r"|draft|proposed|final|approved|old|new|copy|updated|revised|superseded|withdrawn|archived|obsolete|expired|retired"
    r"|current)\b"
)
_SECTION = re.compile(r"^\s*(?:\d+|[a-z])(?:\.\d+)*[.)]?\s+")
_COPY = re.compile(r"\s*\(\d\)\s*$")
_COUNTED = re.compile(r"(?<=[^\W\d])[ _-]\d\s*$")
"""Text that distinguishes two files of one folder: "rules-2"; in "2025-04-1" and "r7" the digit is part of a name."""
_MODEL = re.compile(r"[a-z]*\d[a-z\d]*")
SCOPE_FIELDS = ("region", "country", "site", "location", "market", "plant", "office")
"""The fields that distinguish documents with one title for several places."""
_FIELDS = (*SCOPE_FIELDS, "product", "model", "audience", "language", "department")
"""Fields in which different values mean different subjects."""


def has_same_subject(one: PassageInDocument, other: PassageInDocument) -> bool:
    """Return whether two passages are under the same headings of documents with the same subject."""
    return _read_subject(*one) == _read_subject(*other) and not list_unlike_fields(one[1], other[1], _FIELDS)


def has_same_part(one: PassageInDocument, other: PassageInDocument) -> bool:
    """Return whether two passages have the same subject, even if one of them is under more headings."""
    (title, headings, models), (theirs, others, named) = _read_subject(*one), _read_subject(*other)
    if (title, models) != (theirs, named) or list_unlike_fields(one[1], other[1], _FIELDS):
        return False
    return all(mine == other for mine, other in zip(headings, others, strict=False))


def list_unlike_fields(one: Document, other: Document, names: tuple[str, ...] = SCOPE_FIELDS) -> list[str]:
    """Return the fields for which both documents have values, and different ones."""
    pairs = ((name, _fold_values(one, name), _fold_values(other, name)) for name in names)
    return [name for name, mine, theirs in pairs if mine and theirs and mine != theirs]


def find_revisions(text: str) -> frozenset[str]:
    """Return the years, numbers and letters of revisions that a text names: "2024", "rev a". The word for the kind of
    number is ignored.
    """
    found = _REVISION.findall(re.sub(r"[_\W]+", " ", text.casefold()))
    return frozenset(
        last for one in found if len(last := re.split(r"[a-z]+(?=\d)|\W", one.strip())[-1]) == 1 or last.isdigit()
    )


def strip_revision(title: str) -> str:
    """Return the words of a title or heading without its year, revision or status."""
    return bare(_REVISION.sub(" ", _COPY.sub("", title.casefold())))


Subject = tuple[str, tuple[str, ...], frozenset[str]]
"""The title without its year or revision, the headings below it, and the models in the file's name."""


def _read_subject(passage: Passage, document: Document) -> Subject:
    return _build_subject(document.title, document.name, passage.heading_path)


# Each passage of an answer is compared with all that were found.
@lru_cache(maxsize=10_000)
def _build_subject(title: str, name: str, heading_path: tuple[str, ...]) -> Subject:
    title = strip_revision(title)
    headings = tuple(strip_revision(_SECTION.sub("", heading.casefold())) for heading in heading_path)
    name = _COUNTED.sub("", _COPY.sub("", PurePosixPath(name).stem.casefold()))
    models = frozenset(_MODEL.findall(_REVISION.sub(" ", re.sub(r"[_\W]+", " ", name))))
    return title, tuple(heading for heading in headings if heading != title), models


def _fold_values(document: Document, name: str) -> frozenset[str]:
    return frozenset(value.casefold() for value in document.values(name))
