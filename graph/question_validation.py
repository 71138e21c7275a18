"""Validation of questions, in one place for all user interfaces."""

from __future__ import annotations

import re
import unicodedata

from argot.errors import InvalidInput
from argot.languages.catalogues import format_local_number, translate

# Line ends stay: a list of questions keeps its lines.
_SPACES = re.compile(r"[^\S\n]+")


def check_question(question: str, max_chars: int) -> str:
    """Return the question as it enters the graph: without control characters, lone surrogates and outer white space.

    Raises:
        InvalidInput: the question is empty, has neither letter nor digit, or is longer than `max_chars` characters.
    """
    # Checked first: cleaning takes time for each character.
    if len(question) > max_chars:
        text = (
            "The question has %(number)s characters; at most %(most)s can be asked at once. "
            "Shorten it, or add the long text as a document and ask about that."
        )
        raise InvalidInput(
            translate(text, number=format_local_number(len(question)), most=format_local_number(max_chars))
        )
    text = _SPACES.sub(" ", "".join(map(_clean_char, question))).strip()
    if not text:
        raise InvalidInput(translate("The question is empty. Write what you want to know."))
    # Letters and digits of any script, so that a question in Japanese or a single number is accepted.
    if not any(unicodedata.category(char)[0] in "LN" for char in text):
        raise InvalidInput(translate("'%(text)s' holds no words. Write what you want to know.", text=text[:40]))
    return text


def _clean_char(char: str) -> str:
    """Return a character that can be stored: a space for a control character (line ends stay), a question mark for a
    lone surrogate.
    """
    if char == "\n":
        return char
    match unicodedata.category(char):
        case "Cc":
            return " "
        # A lone surrogate (half of an emoji, cut in two by a client) cannot be encoded as UTF-8.
        case "Cs":
            return "\N{REPLACEMENT CHARACTER}"
        case _:
            return char
