"""Recognises a refusal while it streams: "NOT IN THE PASSAGES", or a model's variant of it."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

from argot.prompts.loader import NOT_IN_PASSAGES

_OPENINGS = ("", "answer", "sorry", "reply")
# Not held back while streaming (`RefusalGate`): many answers begin with these words.
_SAYING = ("the answer is", "the answer to the question is", "this is", "that is", "it is", "information")
_REFUSING = (
    ("not",),
    ("", "found", "mentioned", "stated", "given", "contained", "available", "present"),
    ("in",),
    ("", "the", "these", "any of the", "those"),
    ("", "given", "provided", "above"),
    ("passages", "passage", "documents", "document", "context"),
)
"""One of each, in this order, makes a refusal: 'Answer: not found in the given passages'."""


def is_refusal(reply: str) -> bool:
    """Return whether a whole reply refuses, even in words with which many answers begin: "This is not in the
    passages".
    """
    letters = _extract_letters(reply)
    return letters in _list_refusals() or letters in _list_wordy_refusals()


class RefusalGate:
    """Holds a reply back until it is clear that it does not begin as a refusal. After that everything passes.

    Only text that begins like a refusal is held: the asker waits for every held token.
    """

    def __init__(self) -> None:
        self.refused = False
        self._open = False
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the text that can be passed on now; nothing while the reply may still be a refusal, or once it is
        one.
        """
        if self._open:
            return piece
        self._held += piece
        # An empty text is a beginning of every refusal: leading blanks and marks are held as well.
        if self.refused or _extract_letters(self._held) in _list_beginnings():
            return ""
        self.refused = _is_refusal_with_more(self._held)
        if self.refused:
            return ""
        self._open = True
        held, self._held = self._held, ""
        return held

    def rest(self) -> str:
        """Return the text held back when the reply ended: all of it, unless it is a refusal."""
        held, self._held = self._held, ""
        self.refused = self.refused or _extract_letters(held) in _list_refusals()
        return "" if self.refused else held


def _is_refusal_with_more(text: str) -> bool:
    """Return whether a refusal is its own sentence, followed by an excuse, a repetition or an answer from memory."""
    # The prompt's own words in capitals are a refusal whatever follows, even without a full stop.
    if text.lstrip(" \n\t\"'*#>-“").startswith(NOT_IN_PASSAGES):
        return True
    first = re.split(r"[.!?\n]", text.strip(" \n\t\"'*"), maxsplit=1)
    # Only if the sentence ends there: "Not in the passages on costs, but ..." is an answer.
    return len(first) > 1 and _extract_letters(first[0]) in _list_refusals()


def _extract_letters(text: str) -> str:
    # Letters only, so that blanks, marks and emphasis need no variants: "**Not in the passages.**"
    return "".join(char for char in text.casefold() if char.isalpha())


@cache
def _list_refusals() -> frozenset[str]:
    return frozenset(_extract_letters("".join(parts)) for parts in product(_OPENINGS, *_REFUSING))


@cache
def _list_wordy_refusals() -> frozenset[str]:
    return frozenset(_extract_letters("".join(parts)) for parts in product(_OPENINGS, _SAYING, *_REFUSING))


@cache
def _list_beginnings() -> frozenset[str]:
    """Return the beginnings of all refusals, in letters only, including the empty and the whole ones."""
    return frozenset(text[:end] for text in _list_refusals() for end in range(len(text) + 1))
