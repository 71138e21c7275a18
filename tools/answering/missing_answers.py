"""Sentences of an answer that state what is missing from the passages: no passage can contain such a statement."""

from __future__ import annotations

import re

from argot.languages.english_contractions import NOT
from argot.tools.text.quantities import find_missing_quantity
from argot.tools.text.words import find_identifiers

_SOURCES = (
    r"(?:(?:provided|given|cited|available|numbered|retrieved) )?"
    r"(?:passages?|documents?|sources?|excerpts?|texts?|context)"
)
_TELLING = (
    r"(?:tell|say|state|mention|give|specify|explain|describe|cover|name|contain|include|list|provide|answer|address"
    r"|indicate|show|clarify|detail|define|discuss|go into)"
)
_MISSING = re.compile(
    rf"^\W*(?:(?:however|but|though|unfortunately),? )?(?:(?:the|these|those) {_SOURCES} (?:do|does){NOT}"
    rf" (?:\w+ly )?{_TELLING}\b|(?:none|nothing) (?:of|in) (?:the|these|those) {_SOURCES} (?:\w+ly )?\w+"
    rf"|no (?:passage|document|source) {_TELLING}s?\b)",
    re.IGNORECASE,
)
_MORE = re.compile(
    # A full stop behind an initial ends nothing.
    r"(?:[,;:!?]|(?<!\b[A-Z])\.)\s+(?!(?:or|nor|and)? ?"
    r"(?:what|which|whom?|how|when|where|whether|why|if|such as|like|including)\b|or (?:an?|any|the)\b)"
    r"|\s(?:but|so|although|while)\s"
)
_ASIDE = re.compile(r", (?:for|of|in|at|on|with|without|as|by|from) [^,;:.!?]*,(?= \w)")
"""Words between two commas that only say whom or what is meant: "whether a guest, for one night, pays"."""


def is_missing_answer(sentence: str, asked: str, passages: str) -> bool:
    """Return whether a sentence states only what is missing from the passages.

    A sentence that goes on with another statement states more, and so does one with a number or name that neither the
    question nor the passages have: "the passages do not tell why the fee is 50 euros" states a fee.
    """
    found = _MISSING.match(sentence)
    rest = sentence[found.end() :].rstrip(" .!?") if found else ""
    if found is None or _MORE.search(_ASIDE.sub("", rest)):
        return False
    known = f"{asked}\n\n{passages}"
    return not find_missing_quantity(rest, known) and find_identifiers(rest) <= find_identifiers(known)
