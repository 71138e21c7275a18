"""Splits a sentence into the statements that it joins, each of which may rest on another sentence of a passage."""

from __future__ import annotations

import re
from functools import lru_cache

from argot.tools.answering.support import find_statement_stems

_BREAK = re.compile(
    r"[,;:.!?](?=\s)(?![^()]{0,200}\))|\s[-–—|]\s"
    r"|(?=\s(?:and|but|or|nor|which|who|whom|whose|because|while|whereas|although|though|so that|so|then)\s)"
)
# A condition, an exception or a contrast says how far the statement before it goes, and is compared with it.
_BOUND_TO_BEFORE = re.compile(
    r"\s*(?:(?:and|but|or) )?(?:if|when|once|unless|except\w*|excluding|without|not|never|rather than|instead|than"
    r"|provided|as long as|so long as|in case|other than|apart from"
    # "but only managers may open them" is a statement of its own
    r"|only\b(?![^,;:.]* (?:can|may|must|should|is|are|has|have)\b))\b",
    re.IGNORECASE,
)
_BOUND_TO_NEXT = re.compile(r"\s*(?:if|when|once|unless|except|without|after|before|while)\b", re.IGNORECASE)
_ADJUNCT = re.compile(r"\s*(?:for|with|in|at|on|during|as|by|from|to)\b", re.IGNORECASE)
_PLACE = re.compile(r"\W*(?:on|in|at|under|from) (?:the|your|this|that) [^,;:.]+\W*", re.IGNORECASE)
_ENDS = tuple(";:.!?")
_MIN_STEMS = 2  # stems; a shorter part has too few words to be found by
_MIN_ADJUNCT_STEMS = 4  # stems; "for members of the union" is no statement


@lru_cache(maxsize=8_000)
def split_statement(sentence: str) -> tuple[str, ...]:
    """Return the statements that a sentence joins, in order; the sentence itself if it makes only one.

    Text from documents is split the same way. Only the punctuation between the statements is dropped.
    """
    parts: list[str] = []
    pending = ""
    for piece in _cut_pieces(sentence):
        count = len(find_statement_stems(piece))
        is_short = count < _MIN_STEMS or (count < _MIN_ADJUNCT_STEMS and bool(_ADJUNCT.match(piece)))
        begins = not parts or bool(pending) or parts[-1].rstrip()[-1:] in _ENDS
        if parts and not begins and (is_short or _BOUND_TO_BEFORE.match(piece)):
            parts[-1] += piece
        elif begins and (is_short or _BOUND_TO_NEXT.match(piece)):
            pending += piece
        else:
            parts.append(f"{pending}{piece}")
            pending = ""
    if pending and parts:
        parts[-1] += pending
    elif pending:
        parts.append(pending)
    return tuple(part.strip(" ,;:.") for part in parts)


def is_place(part: str) -> bool:
    """Return whether a part of a sentence only says where the rest happens: "On the settings page, ..."."""
    return _PLACE.fullmatch(part) is not None


def _cut_pieces(sentence: str) -> list[str]:
    ends = [found.end() for found in _BREAK.finditer(sentence) if 0 < found.end() < len(sentence)]
    return [sentence[first:last] for first, last in zip([0, *ends], [*ends, len(sentence)], strict=True)]
