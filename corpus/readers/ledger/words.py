"""Words by Unicode, so that the same text has the same words in a file and in the Markdown made of it."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator

# Soft hyphens, zero-width characters, and U+0002 and U+FFFE, which PDFium gives for a hyphen at the end of a line.
_NOTHING = re.compile("[\xad\u200b-\u200f\u2060-\u2064\ufeff\x02\ufffe\ufffd]+(?:[ \t]*\r?\n[ \t]*)?")
# Marks of Markdown and hyphens part no word, in the file as in the Markdown: "**Nord**vik", "well-\nknown".
_JOINING = re.compile(r"(?<=\w)[*_`~\\\u2010\u2011-]+(?:[ \t]*\r?\n[ \t>]*)?(?=[^\W_])")
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]"  # Chinese and Japanese: by character
    r"|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]+(?:[\u0300-\u036f]+[^\W_]*)*"
)
_MARKS = re.compile(r"[*_`~\\]+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]{2,31});")
_MATHS = re.compile(r"\$\$(.{1,4000}?)\$\$|(?<![\w\\$])\$([^$\n]{1,2000}?)\$(?!\w)", re.DOTALL)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SPOKEN = re.compile(r"\\(?:text|mathrm|operatorname|mathit|mathbf)\b")


def words_of(text: str) -> list[str]:
    """Return the words of a text in their order: letters and digits, without case, ligatures and soft hyphens."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _NOTHING.sub("", text))
    elif "\x02" in text:
        text = _NOTHING.sub("", text)
    return _WORD.findall(_MARKS.sub("", _JOINING.sub("", text)).casefold())


def words_of_markdown(markdown: str) -> list[str]:
    """Return the words of Markdown, its marks and character references taken away."""
    return words_of(_ENTITY.sub(lambda found: html.unescape(found[0]), markdown) if "&" in markdown else markdown)


def symbols_of(formula: str) -> Iterator[str]:
    """Give each letter and number of an equation: programs part its words differently."""
    plain = unicodedata.normalize("NFKC", formula)
    for found in re.finditer(r"\d+|[^\W\d_]", plain):
        yield f"={found[0].casefold()}"


def symbols_of_markdown(markdown: str) -> Iterator[str]:
    """Give the symbols of all equations between dollar signs, Greek letters by their names in LaTeX included."""
    for found in _MATHS.finditer(markdown) if "$" in markdown else ():
        latex = _SPOKEN.sub("", found[1] or found[2])
        yield from symbols_of(_COMMAND.sub(_letter, latex))


def _letter(command: re.Match[str]) -> str:
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
