"""Splits running text into tokens, and documents into the blocks in which terms are searched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from argot.jargon_db.mining.spelling_out import is_small

# "U.S.A." and "4.5" are one token each; the "'s" of "PUC's" is a separate one.
_TOKEN = re.compile(r"(?:[^\W\d_]\.){2,}|\d+(?:[.,]\d+)+|[^\W_]+|['’]s\b|\S")
HYPHENS = "-‐‑–—−"
OPENING, CLOSING = "([{（", ")]}）"
_STOPS = frozenset(".;:!?•|")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or one sign: text[start:end] of its text. `spaced`: white space precedes it."""

    text: str
    start: int
    end: int
    spaced: bool

    @property
    def is_word(self) -> bool:
        return self.text[0].isalnum()

    @property
    def is_hyphen(self) -> bool:
        return self.text in HYPHENS

    @property
    def is_stop(self) -> bool:
        return self.text in _STOPS

    @property
    def is_small_word(self) -> bool:
        """True for words that abbreviations usually leave out ("of", "the")."""
        return is_small(self.text.lower())


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text, in order."""
    found: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        found.append(Token(match.group(), match.start(), match.end(), match.start() > end))
        end = match.end()
    return found


# -- Markdown ---------------------------------------------------------------------------------------------------------

# Each replaced by spaces: fences with their code, targets of links, marks, HTML tags and heading signs.
_BLANKED = re.compile(
    r"""(?P<fence>^[ \t>]*```.*?^[ \t>]*```) | (?P<link>\]\([^()\s]*\)) | (?P<image>!?\[(?=[^\]]{0,1000}\]\())
        | (?P<mark>[*`]+|__+|\\(?=[\W_]))
        | (?P<tag></?[a-zA-Z][^<>\n]*>) | (?P<head>^\#{1,6}\ )""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_MAX_BLOCK_CHARS = 4_000  # characters
_BLOCK_END = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•]|\d+[.)]|\#{1,6})\s)|\n(?=[ \t]*\|)|(?<!\\)\|")


def blank_markup(text: str) -> str:
    """Return a text of the same length with its Markdown signs blanked, so that spans stay valid. Code is left out."""
    return _BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def split_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield paragraphs, list items, headings and table cells, with their offsets: no term's meaning crosses their ends.

    Text longer than any paragraph is cut, so that the work stays linear.
    """
    start = 0
    for end, following in [*((match.start(), match.end()) for match in _BLOCK_END.finditer(text)), (len(text), 0)]:
        for first in range(start, end, _MAX_BLOCK_CHARS):
            piece = text[first : min(end, first + _MAX_BLOCK_CHARS)]
            if piece.strip():
                yield first, piece
        start = following
