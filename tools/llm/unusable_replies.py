"""Recognises a model's reply that is no answer: no word, JSON instead of text, or no sentence that claims anything."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence

from argot.languages.question_words import compile_remarks, is_confirmation, is_verdict
from argot.tools.answering.citation_marks import strip_marks
from argot.tools.answering.support import is_quoted
from argot.tools.reading.chitchat import identify_small_talk
from argot.tools.text.sentences import split_sentences

_FENCE = re.compile(r"\s*```\w*\n(?P<inside>.*)\n```\s*", re.DOTALL)
_MAX_REMARK_CHARS = 300
"""Characters: a longer sentence claims something."""


def find_reply_fault(reply: str, passages: Sequence[str]) -> str:
    """Return why a whole reply is no answer, as a clause that follows "The language model server"; empty if it may be
    one.

    `passages`: the texts that the model was shown; JSON that one of them contains is a quotation.
    """
    text = strip_marks(reply, sys.maxsize)
    if not any(map(str.isalnum, text)):
        return "sent an empty answer"
    is_json = _is_json(text) and not any(is_quoted(text, passage) for passage in passages)
    return "sent no usable answer" if is_json or not _has_claim(text) else ""


def _is_json(text: str) -> bool:
    """Return whether a text is nothing but a JSON object or array, in a code fence or without."""
    fenced = _FENCE.fullmatch(text)
    inside = (fenced["inside"] if fenced else text).strip()
    if not inside.startswith(("{", "[")):
        return False
    try:
        json.loads(inside)
    except (ValueError, RecursionError):
        return False
    return True


def _has_claim(text: str) -> bool:
    return any(not _is_remark(text[start:end]) for start, end in split_sentences(text))


def _is_remark(sentence: str) -> bool:
    """Return whether a sentence is only a courtesy ("Of course!") or points to its source ("See [1]."); "Yes." and
    "Correct." are answers.
    """
    if is_verdict(sentence) or is_confirmation(sentence) or len(sentence) > _MAX_REMARK_CHARS:
        return False
    rest = compile_remarks().sub(" ", sentence.replace("’", "'"))
    return not any(map(str.isalnum, rest)) or identify_small_talk(rest) not in (None, "unasked")
