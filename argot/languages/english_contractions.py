"""English contractions: how "don't", "cannot" and "it's" are written, as parts of patterns and as whole words.

The parts of patterns are regular expressions for `re.IGNORECASE` or folded text. An apostrophe may be straight or not.
"""

from __future__ import annotations

import re

CONTRACTED_NOT = "n['’]t"
"""The end of "don't" and "isn't"."""
NOT = f"(?: not|{CONTRACTED_NOT})"
"""What follows an auxiliary to deny: the end of "do not" and of "don't"."""
CANNOT = "can(?:not|['’]t)"
"""As one word: "can not" is two."""
WILL_NOT = "w(?:ill not|on['’]t)"

_CONTRACTION = re.compile(rf"(?:{CONTRACTED_NOT}|['’](?:re|ve|ll|d|m|all))$")
_EXPANSIONS = (
    (re.compile(rf"\b{CANNOT}\b"), "can not"),
    (re.compile(r"\bwon['’]t\b"), "will not"),
    (re.compile(rf"{CONTRACTED_NOT}\b"), " not"),
    (re.compile(r"\b(what|who|where|when|how|why|which|there|that|it)['’]s\b"), r"\1 is"),
    # "I'd" may stand for "I would" and for "I had", so the second word is left out.
    (re.compile(r"['’](?:d|ll|re|ve|m)\b"), " "),
)


def is_contraction(word: str) -> bool:
    """Return whether a folded word is two that are written as one: "don't", "they'll"; a possessive is none."""
    return _CONTRACTION.search(word) is not None


def expand_contractions(text: str) -> str:
    """Return a folded text with "not" and "is" as words of their own, and without other contracted verbs."""
    for pattern, expansion in _EXPANSIONS:
        text = pattern.sub(expansion, text)
    return text
