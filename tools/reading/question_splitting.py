"""A message that asks two or three things: "What is PLP and how tall may a pole be?".

Searched as one, its words pull in two directions and one half goes unanswered. Conservative: every part has to ask
something by itself, so that "and by how much?", "and why?" and "and how does it work?" stay with what they are about.
English.
"""

from __future__ import annotations

import re

from argot.language import INTERROGATIVES
from argot.tools.text.words import asks, content_stems

LONGEST = 400
"""Characters: longer messages explain rather than list questions."""
MOST_PARTS = 3

_OPENS = rf"(?:{INTERROGATIVES})(?:'s)?\b"
# After a question mark anything may begin a question; after "and" only a question word does.
_BOUNDARY = re.compile(
    rf"(?P<end>\?)\s+(?:and\s+|also,?\s+|then,?\s+)*(?=\w)|(?:,|;|\s)\s*and\s+(?:also\s+)?(?={_OPENS})", re.IGNORECASE
)
_LEANS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|one|ones|there|else|other|others|same|so"
    r"|then|both|each|such|former|latter)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(?:the|a|an|my|our|your|each|every)\s+\w", re.IGNORECASE)
_EMBEDS = re.compile(
    r"\b(?:decid|determin|defin|specif|explain|describ|depend|regulat|record|know|tell|sa(?:y|id)|stat|show|whether|if)\w*",
    re.IGNORECASE,
)
"""After such a word, "and how long files are kept" is a part of the same question."""


def parts_of(question: str) -> list[str]:
    """The questions in a message, each as one; a single one, exactly as it is, where it is not clearly several."""
    # Several lines are a list or something pasted, and belong together.
    if len(question) > LONGEST or "\n" in question.strip():
        return [question]
    parts, start = [], 0
    for found in _BOUNDARY.finditer(question):
        if found["end"] or not _EMBEDS.search(question[start : found.start()]):
            parts.append(_as_one(question[start : found.start()]))
            start = found.end()
    parts.append(_as_one(question[start:]))
    # All parts or none: half of a message answered alone loses the other.
    whole = 1 < len(parts) <= MOST_PARTS and all(map(_stands, parts)) and not any(map(_leans, parts[1:]))
    return parts if whole else [question]


def _as_one(text: str) -> str:
    said = text.strip(" ,;.?!")
    return f"{said[:1].upper()}{said[1:]}?"


def _leans(part: str) -> bool:
    """Whether it has a pronoun or the like that nothing before it in the same part can stand for."""
    found = _LEANS.search(part)
    before = part[: found.start()] if found else ""
    return found is not None and not (_NAMED.search(before) or len(content_stems(before)) > 1)


def _stands(part: str) -> bool:
    return asks(part) and bool(content_stems(part))
