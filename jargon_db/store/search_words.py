"""Splits texts into the words by which the search box finds them.

Words are folded like terms. SQLite's `ascii` tokenizer treats every character beyond ASCII as a letter, so the signs
that are part of terms (`C++`, `%`) are written as private characters, and scripts without spaces are split into
characters.
"""

from __future__ import annotations

from argot.jargon_db.lookup.atoms import split_words
from argot.types import Sense

SearchRow = tuple[int, str, str, str, str]
"""Id of the sense, and the words of term, aliases, expansion and description, separated by spaces."""

# The first code point of the private use area, where no text has letters of its own.
_PRIVATE = 0xE000
_SILENT = frozenset("-/_.,;:!?()[]{}<>\"'`*|\\~^=")
"""Signs nobody searches for among words; a term that begins with one is found by its key."""


def _map_ascii(char: str) -> str:
    if char.isalnum():
        return char.lower()
    return " " if char in _SILENT or char == " " else f" {chr(_PRIVATE + ord(char))} "


_WORDS_OF_ASCII = {code: _map_ascii(chr(code)) for code in range(0x20, 0x7F)}
"""The replacement of each printable ASCII character: usual text is split with one look-up per character."""


def search_row(number: int, sense: Sense) -> SearchRow:
    return (
        number,
        _join_words(sense.term),
        " ".join(map(_join_words, sense.aliases)),
        _join_words(sense.expansion),
        _join_words(sense.description),
    )


def search_words(text: str) -> list[str]:
    """Return the words of a text as the index stores them."""
    # The usual text, in one C call; the rest is folded.
    if text.isascii() and text.isprintable():
        return text.translate(_WORDS_OF_ASCII).split()
    return [word if word[0].isalnum() else _sign(word) for word in split_words(text) if word not in _SILENT]


def _join_words(text: str) -> str:
    return " ".join(search_words(text))


def _sign(sign: str) -> str:
    return chr(_PRIVATE + ord(sign)) if sign.isascii() else sign
