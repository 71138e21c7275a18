"""Sentences of an answer that only introduce its list: "You can do it in three ways:"."""

from __future__ import annotations

import re

from argot.tools.answering.cited_support import find_claim_objection
from argot.tools.answering.objections import is_soft
from argot.tools.answering.support import find_statement_stems
from argot.tools.text.words import NUMBER_WORDS

_MAX_NEW_WORDS = 3
"""Content words that neither the question nor the passage has: with more, a sentence states something of its own."""


def is_lead_in(sentence: str, passage: str, asked: str, entries: int) -> bool:
    """Return whether a sentence introduces a list of `entries` entries and claims nothing that the passage contradicts.

    The sentence may state the number of entries, and repeat the question in other words.
    """
    if not sentence.rstrip(" *_").endswith(":"):
        return False
    said = _remove_count(sentence, entries)
    known = find_statement_stems(asked) | find_statement_stems(passage)
    reason = find_claim_objection(said, passage, asked)
    return len(find_statement_stems(said) - known) <= _MAX_NEW_WORDS and (
        is_soft(reason) or reason.startswith("clause ")
    )


def _remove_count(sentence: str, entries: int) -> str:
    """Return the sentence without the number of entries, in digits or as a word."""
    words = [word for word, number in NUMBER_WORDS.items() if number == str(entries)]
    return re.sub(
        rf"(?<![\w.,])(?:{'|'.join([str(entries), *words])})(?![\w.,]\d)\b", " ", sentence, flags=re.IGNORECASE
    )
