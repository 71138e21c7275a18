"""The status in a document's own metadata: whether it is in force, and which part of a line is a status."""

from __future__ import annotations

import re

from argot.types import Document

_ENDED = (
    "superseded|replaced|obsoleted?|deprecated|outdated|withdrawn|revoked|rescinded|archived|expired|cancell?ed|retired"
)
_NOT_IN_FORCE = f"draft|proposed|proposal|rejected|{_ENDED}"
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
_ENDED_STATUS = re.compile(rf"(?:{_ENDED})\b.*", re.IGNORECASE | re.DOTALL)
_ENDED_BRACKET = re.compile(
    # "Wind limits (ARCHIVE, DO NOT USE)", "[superseded] Rules"
    rf"[(\[]\s*(archive|do not use|old version|out of date|no longer (?:valid|used|in force)|{_ENDED})\b"
    r"[^)\]]{0,80}[)\]]",
    re.IGNORECASE,
)
_ENDED_TITLE = re.compile(
    # "rules_OLD_yellow.md", "rules-old.md"; an "Archive policy" and the "Old Town" are in force.
    r"(?<![A-Za-z\d])(?P<capitals>ARCHIVED?|DO NOT USE|WITHDRAWN|SUPERSEDED|OBSOLETE|OUTDATED|EXPIRED|OLD)"
    r"(?![A-Za-z\d])|(?<=[_-])(?P<last>old|archived|obsolete|superseded|withdrawn)(?=\.\w+$)"
)
_TITLED = {
    "archive": "archived",
    "do not use": "withdrawn",
    "old": "outdated",
    "old version": "outdated",
    "out of date": "outdated",
}
"""Statuses for the words of a title; "no longer ..." is outdated, the others stand for themselves."""
_WITHDRAWAL = re.compile(
    # "Note added later: withdrawn 3 March 2025, see ...", "This sheet was withdrawn on ..."
    r"^[\s*_>|#-]*(?:note[\w ]{0,20}:[\s*_]*|this (?:\w+ ){1,3}?(?:is|was|has been) (?:now )?)"
    rf"(?P<status>no longer (?:valid|used|in force|in use)|{_ENDED})\b"
    r"(?=[.,;:*_]|\s*$| \d| (?:on|since|as of|from)\b)",
    re.MULTILINE | re.IGNORECASE,
)
_EXPLANATION = re.compile(r"\s+[–—-]\s+|\s*[(;]")
_MAX_STATUS_WORDS = 4
"""Maximum words of a status: more make a sentence. The words for who approved it and since when are not counted."""


def is_status(value: str) -> bool:
    """Return whether a value found in a text, for example after "Status:", is a document's status and not running
    text.
    """
    # What follows a dash or a bracket explains it: "superseded – see issue 5 (2024). Kept for audits."
    said = _ATTRIBUTION.sub("", _EXPLANATION.split(value)[0])
    return bool(_STATUS.fullmatch(value)) and len(said.split()) <= _MAX_STATUS_WORDS


def is_in_force(document: Document) -> bool:
    """Return whether the document may be relied on according to its own status; one without a status may."""
    return not any(_NOT_IN_FORCE_STATUS.fullmatch(value.strip()) for value in document.values("status"))


def is_notable(status: str) -> bool:
    """Return whether people should be informed: they expect cited documents to be in force."""
    return _NOTABLE_STATUS.fullmatch(status) is not None


def is_ended(document: Document) -> bool:
    """Return whether the document was once in force, according to its own status: a draft never was."""
    return any(_ENDED_STATUS.fullmatch(value.strip()) for value in document.values("status"))


def find_titled_status(title: str) -> str:
    """Return the status in a title or file name of a document that is no longer in force, in brackets or in capitals
    beside small letters; empty if there is none.
    """
    if bracketed := find_bracketed_status(title):
        return bracketed
    found = _ENDED_TITLE.search(title)
    if not found or (found["capitals"] and not any(map(str.islower, title.rpartition(".")[0] or title))):
        return ""
    return _name_ended(found["capitals"] or found["last"])


def find_bracketed_status(text: str) -> str:
    """Return the status in brackets, as in "(Out of date – replaced by the rules of 2024)"; empty if there is none."""
    found = _ENDED_BRACKET.search(text)
    return _name_ended(found[1]) if found else ""


def find_withdrawal(page: str) -> str:
    """Return the status that a note on a document's first page gives it: "withdrawn"; empty if none does."""
    found = _WITHDRAWAL.search(page)
    return _name_ended(found["status"]) if found else ""


def _name_ended(said: str) -> str:
    word = said.lower()
    return "outdated" if word.startswith("no longer") else _TITLED.get(word, word)
