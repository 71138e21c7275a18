"""Headers and footers of sheets and slides: their document properties, under the names that all formats share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from argot.corpus.readers.file_fields import build_fields
from argot.types import DocumentField

_LABELS = {
    r"(?:document|doc\.?|form|drawing|procedure)\s*(?:number|no\.?|nr\.?|id|#)": "document_number",
    r"(?:revision|rev\.?)(?:\s*(?:number|no\.?))?": "revision",
    r"(?:version|ver\.?)": "version",
    r"(?:effective|issue|issued|valid)(?:\s*(?:date|from|on))?": "effective_date",
    r"(?:approved|released)(?:\s*by)?|approver": "approved_by",
    r"(?:document\s*)?owner": "owner",
    r"status": "status",
    r"classification": "classification",
    r"retention(?:\s*period)?": "retention",
    r"department": "department",
}
_ANY_LABEL = "|".join(_LABELS)
_LABEL = re.compile(rf"(?<![\w-])({_ANY_LABEL})\s*[:=]?\s+(?=\S)", re.IGNORECASE)
_PART_SEPARATOR = re.compile(r"\s*(?:\||;|·|•|\t|\s[–—-]\s|,\s)\s*")
_MAX_VALUE_CHARS = 120


def read_labelled_fields(texts: Iterable[str]) -> tuple[DocumentField, ...]:
    """Return the values after labels such as "Document no." and "Revision" in headers and footers."""
    return build_fields(pair for text in texts for pair in _read_pairs(text))


def _read_pairs(text: str) -> Iterator[tuple[str, str]]:
    for part in _PART_SEPARATOR.split(text):
        labels = list(_LABEL.finditer(part))
        for label, following in zip_longest(labels, labels[1:]):
            value = part[label.end() : following.start() if following else None].strip(" .:,")
            if value and len(value) <= _MAX_VALUE_CHARS:
                yield _name_of(label[1]), value


def _name_of(label: str) -> str:
    return next(name for pattern, name in _LABELS.items() if re.fullmatch(pattern, label, re.IGNORECASE))
