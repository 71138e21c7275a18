"""Words by Unicode, so that the same text has the same words in a file and in its Markdown."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator

_INVISIBLE_CHARACTERS = re.compile("[\xad\u200b-\u200f\u2060-\u2064\ufeff]+(?:[ \t]*\r?\n[ \t]*)?")
# PDFium's character for a hyphen at the end of a line, and for a glyph that its font does not name: usually a ligature.
_UNKNOWN_CHARACTERS = re.compile("[\x02\ufffe\ufffd]+(?:[ \t]*\r?\n[ \t]*)?")
_UNKNOWN_LETTER = "\ua7fb"
"""Placeholder for such a character within a word; a letter that no language uses."""
_LIGATURE_SPELLINGS = ("", "fi", "fl", "ff", "ffi", "ffl")
# A hyphen does not split a word, nor does the end of a line after it: "well-known" and "well-\nknown" are one word
# each. The literal comes first, which makes the search several times as fast.
_JOINING_HYPHEN = re.compile(r"-(?<=\w-)-*[ \t]*(?:\r?\n[ \t>]*)?(?=[^\W_])")
_ASCII_WORD = re.compile("[a-z0-9]+")
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]"  # Chinese and Japanese: by character
    r"|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]+(?:[\u0300-\u036f]+[^\W_]*)*"
)
_DROPPED_MARKS = str.maketrans({**dict.fromkeys("*_`~\\"), "\u2010": "-", "\u2011": "-"})
"""Marks of Markdown do not split a word either, as in "**Nord**vik"; they are dropped in files too, so that both
agree."""
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]{2,31});")
_MATH = re.compile(r"\$\$(.{1,4000}?)\$\$|(?<![\w\\$])\$([^$\n]{1,2000}?)\$(?!\w)", re.DOTALL)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_TEXT_COMMAND = re.compile(r"\\(?:text|mathrm|operatorname|mathit|mathbf)\b")


def split_words(text: str) -> list[str]:
    """Return the words of a text in their order: letters and digits, without case, ligatures and soft hyphens."""
    if text.isascii() and "\x02" not in text:
        return _ASCII_WORD.findall(_JOINING_HYPHEN.sub("", text.translate(_DROPPED_MARKS).lower()))
    text = _UNKNOWN_CHARACTERS.sub(_UNKNOWN_LETTER, unicodedata.normalize("NFKC", _INVISIBLE_CHARACTERS.sub("", text)))
    return _WORD.findall(_JOINING_HYPHEN.sub("", text.translate(_DROPPED_MARKS).casefold()))


def split_markdown_words(markdown: str) -> list[str]:
    """Return the words of Markdown, without its marks and character references."""
    return split_words(_ENTITY.sub(lambda found: html.unescape(found[0]), markdown) if "&" in markdown else markdown)


_LETTERS_AND_DIGITS = re.compile(r"\d+|\D+")
_MAX_NOTE_DIGITS = 2
_LIGATURE_END = re.compile("[fil]")


def iter_spellings(word: str) -> Iterator[list[str]]:
    """Yield the other ways in which a reader may write a word: as several words, or with a ligature that it knows.

    A raised note mark is part of the preceding word in one program and a separate word in another.
    """
    if _UNKNOWN_LETTER in word:
        yield from ([word.replace(_UNKNOWN_LETTER, letters)] for letters in _LIGATURE_SPELLINGS)
        yield [part for part in word.split(_UNKNOWN_LETTER) if part]
    parts = _LETTERS_AND_DIGITS.findall(word)
    if len(parts) > 1:
        yield parts
        # "mid-January" with the mark 7
        yield ["".join(parts[:-1]), parts[-1]]
    if parts and parts[-1].isdigit():
        for digits in range(1, min(len(parts[-1]) - 1, _MAX_NOTE_DIGITS) + 1):
            yield [word[:-digits], word[-digits:]]
    # Some fonts give a ligature the code of its last letter: "ofice", "inal".
    if word.isalpha():
        for found in _LIGATURE_END.finditer(word):
            yield from ([f"{word[: found.start()]}{more}{word[found.start() :]}"] for more in ("f", "ff"))


def split_symbols(formula: str) -> Iterator[str]:
    """Yield each letter and number of an equation: programs split its words differently."""
    plain = unicodedata.normalize("NFKC", formula)
    for found in re.finditer(r"\d+|[^\W\d_]", plain):
        yield f"={found[0].casefold()}"


def split_markdown_symbols(markdown: str) -> Iterator[str]:
    """Yield the symbols of all equations between dollar signs, including Greek letters by their LaTeX names."""
    for found in _MATH.finditer(markdown) if "$" in markdown else ():
        latex = _TEXT_COMMAND.sub("", found[1] or found[2])
        yield from split_symbols(_COMMAND.sub(_convert_command, latex))


def _convert_command(command: re.Match[str]) -> str:
    name = command[1].removeprefix("var")
    case = "CAPITAL" if name[:1].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}")
    except KeyError:
        # A function such as \sin is a word of the equation; anything else is a command.
        return name if name in _FUNCTIONS else " "


_FUNCTIONS = frozenset(
    {"sin", "cos", "tan", "cot", "log", "ln", "exp", "min", "max", "lim", "det", "gcd", "sup", "inf"}
)
