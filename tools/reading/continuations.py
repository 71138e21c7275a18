"""Questions that may continue a conversation: they begin like a continuation, point back, or ask about "the files" of
the last answer.

A question that is wrongly taken for one costs a further call of the model; one that is not recognised is searched for
without its subject.
"""

from __future__ import annotations

import re

from argot.tools.text.words import content_stems
from argot.types import Turn

_MAX_CHARS = 8_000  # characters of a question that are examined
_BEGINS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|yes|no|right|hm+|thanks|thank you)\b[,.!]?\s*)?"
    r"(?:and|but|or|so|then|also|otherwise|instead|what if|what about|how about|even if|only if)\b",
    re.IGNORECASE,
)
# "It" and "they" are resolved with what they refer to (`follow_ups`).
_PERSON = re.compile(r"\b(?:he|she|him|her|his|hers)\b", re.IGNORECASE)
# At the end of the question or one word before it: "is there another one?", "and the others too?", "are pensioners
# cheaper?".
_POINTS_BACK = re.compile(
    r"\b(?:also|another|either|else|former|instead|latter|same|there|other|others|one|ones|too|cheaper|dearer|longer"
    r"|shorter|earlier|later|fewer|different|included|excluded|exempt)\b(?=\W*$|\W+\w+\W*$)",
    re.IGNORECASE,
)
_DEFINITE = re.compile(r"\b(?:the|this|that|such|both|each)\s+(?:[\w-]+\s+)?(?P<noun>[^\W\d_][\w-]*)", re.IGNORECASE)
_MAX_OWN_STEMS = 4
"""Stems of a question: one with more names its subject, even if it mentions "the files"."""


def is_continuation(question: str, last: Turn) -> bool:
    """Return whether a question may need the conversation to be understood; `last` is its last exchange."""
    text = question[:_MAX_CHARS]
    if _BEGINS.match(text) or _PERSON.search(text) or _POINTS_BACK.search(text):
        return True
    if len(set(content_stems(text))) > _MAX_OWN_STEMS:
        return False
    last_stems = {*content_stems(last.question), *content_stems(last.answer)}
    return any(not last_stems.isdisjoint(content_stems(found.group())) for found in _DEFINITE.finditer(text))
