"""A message that asks two or three things: "What is PLP and how tall may a pole be?".

Searched as one, its words match different passages and one half remains unanswered. Conservative: every part has to ask
something by itself, so that "and by how much?", "and why?" and "and how does it work?" stay with their subject. A
comparison is two questions, too. English.
"""

from __future__ import annotations

import re

from argot.language import INTERROGATIVES
from argot.tools.reading.comparisons import find_sides
from argot.tools.text.words import content_stems, is_question

MAX_CHARS = 400
"""Characters: longer messages explain rather than list questions."""
MAX_PARTS = 3

_OPENS = rf"(?:{INTERROGATIVES})(?:'s)?\b"
# After a question mark any word may begin a question; after "and" only a question word does.
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


def split_questions(question: str) -> list[str]:
    """Return the questions in a message; a single one, unchanged, unless it clearly has several.

    A comparison has one for each of its sides.
    """
    # Several lines are a list or pasted text, and belong together.
    if len(question) > MAX_CHARS or "\n" in question.strip():
        return [question]
    if sides := find_sides(question):
        return [f"What is {side}?" for side in sides]
    parts, start = [], 0
    for found in _BOUNDARY.finditer(question):
        if found["end"] or not _EMBEDS.search(question[start : found.start()]):
            parts.append(_make_question(question[start : found.start()]))
            start = found.end()
    parts.append(_make_question(question[start:]))
    # All parts or none: answering half of a message loses the other half.
    whole = 1 < len(parts) <= MAX_PARTS and all(map(_can_stand, parts)) and not any(map(_is_leaning, parts[1:]))
    return parts if whole else [question]


def _make_question(text: str) -> str:
    said = text.strip(" ,;.?!")
    return f"{said[:1].upper()}{said[1:]}?"


def _is_leaning(part: str) -> bool:
    """Return whether a part has a pronoun or similar word without a referent before it in the same part."""
    found = _LEANS.search(part)
    before = part[: found.start()] if found else ""
    return found is not None and not (_NAMED.search(before) or len(content_stems(before)) > 1)


def _can_stand(part: str) -> bool:
    return is_question(part) and bool(content_stems(part))
