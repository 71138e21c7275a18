"""The status in a document's own metadata: whether it is in force, and which part of a line is a status."""

from __future__ import annotations

import re

from argot.types import Document

_NOT_IN_FORCE = (
    "draft|proposed|proposal|superseded|replaced|obsoleted?|deprecated|outdated|withdrawn|revoked|rescinded|rejected"
    "|archived|expired|cancell?ed|retired"
)
_IN_FORCE = "approved|final|published|released|in force|effective"
_OPEN = r"in review|under review|for (?:review|comments?)"
_DRAFT_PREFIX = r"(?:(?:final|first|second|working|initial|early) )?"
_STATUS_TAIL = (
    # "Draft 2", "Superseded by Travel policy 2025", "Approved (board)"; "Draft means that ..." is a sentence.
    r"(?: (?:v?\d[\w.-]*|(?:by|since|on|from|until|of|for|as of|version|rev(?:ision)?)\b.{0,80})|\s*[(,;/–-].{0,80})?"
)
_STATUS = re.compile(rf"{_DRAFT_PREFIX}(?:{_NOT_IN_FORCE}|{_IN_FORCE}|{_OPEN})\b{_STATUS_TAIL}", re.IGNORECASE)
_NOT_IN_FORCE_STATUS = re.compile(rf"{_DRAFT_PREFIX}(?:{_NOT_IN_FORCE})\b.*", re.IGNORECASE | re.DOTALL)
_NOTABLE_STATUS = re.compile(rf"{_DRAFT_PREFIX}(?:{_NOT_IN_FORCE}|{_OPEN})\b.*", re.IGNORECASE | re.DOTALL)
_ATTRIBUTION = re.compile(r"\b(?:by|since|on|from|until|as of)\b.*", re.IGNORECASE)
_MAX_STATUS_WORDS = 4
"""Maximum words of a status: more make a sentence. The words for who approved it and since when are not counted."""


def is_status(value: str) -> bool:
    """Return whether a value found in a text, for example after "Status:", is a document's status and not running
    text.
    """
    return bool(_STATUS.fullmatch(value)) and len(_ATTRIBUTION.sub("", value).split()) <= _MAX_STATUS_WORDS


def is_in_force(document: Document) -> bool:
    """Return whether the document may be relied on according to its own status; one without a status may."""
    return not any(_NOT_IN_FORCE_STATUS.fullmatch(value.strip()) for value in document.values("status"))


def is_notable(status: str) -> bool:
    """Return whether people should be informed: they expect cited documents to be in force."""
    return _NOTABLE_STATUS.fullmatch(status) is not None
