"""The words of LaTeX, found by patterns and not by the parser that reads it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from argot.corpus.readers import latex_grammar as grammar
from argot.corpus.readers.latex_source import CODE_ENVIRONMENTS
from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.decoding import decode_text
from argot.corpus.readers.ledger.source_text import SourceText

_GROUP = r"\{(?:[^{}\n]|\{[^{}\n]*\}){0,500}\}"
_OPTION = r"\[[^\]\n]{0,500}\]"
_END = "(?![A-Za-z])"
_DOUBLE = (
    "multicolumn",
    "multirow",
    "textcolor",
    "colorbox",
    "parbox",
    "resizebox",
    "raisebox",
    "rotatebox",
    "captionof",
    "mintinline",
)


def _join_names(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), reverse=True))


_UNSEEN = [name for name in grammar.UNSEEN if name not in ("title", "author", "date") and grammar.takes_arguments(name)]
_UNIT = re.compile(
    rf"\\(?:[vV]erb\*?|lstinline(?:{_OPTION})?|mintinline(?:{_OPTION})?{_GROUP})(?:(?P<mark>[^\w\s*{{\[])"
    rf"(?P<line>[^\n]{{0,2000}}?)(?P=mark)|(?=\{{)(?P<group>{_GROUP}))"
    rf"|\\begin\{{(?P<code>{_join_names(CODE_ENVIRONMENTS)})\}}(?:{_OPTION})?(?P<body>.*?)(?:\\end\{{(?P=code)\}}|\Z)"
    r"|(?P<math>\$\$.{1,4000}?\$\$|\$[^$\n]{1,2000}\$|\\\[.{1,4000}?\\\]|\\\(.{1,2000}?\\\)"
    r"|\\begin\{(?P<formula>(?:equation|align|gather|multline|flalign|alignat|eqnarray|displaymath)\*?)\}"
    r".{1,9000}?\\end\{(?P=formula)\})"
    r"|(?P<unseen>(?:%[^\n]*(?:\n[ \t]*(?!\n))?|\\begin\{comment\}.*?(?:\\end\{comment\}|\Z)"
    r"|\\iffalse(?![A-Za-z]).*?(?:\\(?:fi|else)(?![A-Za-z])|\Z)"
    rf"|\\(?:begin|end)\s*\{{(?:{_join_names(grammar.ENVIRONMENTS)})\}}(?:{_OPTION}|{_GROUP})*"
    r"|\\(?:begin|end)\s*\{[^{}\n]*\}|\\endfirsthead.*?\\endhead"
    rf"|\\(?:(?:re)?newcommand|providecommand|[gex]?def){_END}[^\n]*"
    rf"|\\(?:{_join_names([*_UNSEEN, *grammar.INPUTS])}){_END}\*?(?:\s*(?:{_OPTION}|{_GROUP}))*"
    rf"|\\(?:{_join_names([*grammar.HEADINGS, 'caption', 'footnote'])}){_END}\*?\s*{_OPTION}"
    rf"|\\(?:{_join_names(_DOUBLE)}){_END}\*?(?:{_OPTION})?{_GROUP}(?:{_OPTION})?(?:{_GROUP}(?=\s*\{{))?"
    rf"|\\\\\*?{_OPTION}|\\cmidrule(?:{_OPTION})?(?:\((?:[lr]|{_GROUP}){{0,4}}\))?{_GROUP}))"
    r"|\\text(?:sub|super)script\s*\{(?P<script>[^{}\n]*)\}"
    r"|\\(?P<accent>[\"'`^~=.]|[cHkbdruv](?![A-Za-z]))\s*\{?\\?(?P<letter>[A-Za-z])\}?"
    rf"|\\(?P<special>ss|ae|AE|oe|OE|aa|AA|o|O|l|L|textmu){_END}(?:\{{\}}|\s*)"
    r"|\\(?P<command>[A-Za-z@]+)\*?|\\(?P<sign>.)|(?P<dash>-{2,3})",
    re.DOTALL,
)
_MATH_MARKUP = re.compile(r"\\(?:label|begin|end)\s*\{[^{}]*\}")
_ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "c": "\u0327", "H": "\u030b", "k": "\u0328", "b": "\u0331", "d": "\u0323", "r": "\u030a", "u": "\u0306",
    "v": "\u030c",
}  # fmt: skip
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł",
    "textmu": "µ",
}  # fmt: skip
_HEAD = re.compile(
    rf"\\(?:title|{_join_names(grammar.HEAD)})\s*(?:{_OPTION})?\s*"
    r"\{((?:[^{}]|\{[^{}]*\}){0,20000})\}"
)


def read_latex_texts(data: bytes) -> Iterator[SourceText]:
    """Give the text, formulas and code of a file without its commands; of its preamble only title, author and date."""
    text = decode_text(data).replace("\r\n", "\n")
    preamble, begin, after = text.partition("\\begin{document}")
    body = (after if begin else text).partition("\\end{document}")[0]
    if begin:
        yield SourceText("preamble", "text", preamble, rules.MARKUP)
        for found in _HEAD.finditer(preamble):
            yield from _split_text(found[1])
        yield from _split_text(preamble.partition("\\begin{abstract}")[2].partition("\\end{abstract}")[0])
    yield from _split_text(body)


def _split_text(text: str) -> Iterator[SourceText]:
    apart: list[SourceText] = []

    def replace(found: re.Match[str]) -> str:
        if found["code"] is not None or found["math"] is not None:
            written = found["body"] or _MATH_MARKUP.sub("", found[0])
            apart.append(SourceText("text", "text", written))
        elif (line := found["line"] or found["group"]) is not None:
            apart.append(SourceText("text", "text", line))
        elif found["unseen"] is not None:
            apart.append(SourceText("text", "text", found[0], rules.MARKUP))
            return "" if found[0].startswith("%") else " "
        elif found["script"] is not None:
            return found["script"].replace("-", "−")  # a sign, and no hyphen
        elif found["accent"] is not None:
            return unicodedata.normalize("NFC", found["letter"] + _ACCENTS[found["accent"]])
        elif found["special"] is not None:
            return _LETTERS[found["special"]]
        elif found["sign"] is not None:
            return "" if found["sign"] in "-/" else found["sign"] if found["sign"] in "#$%&_{}" else " "
        return "–" if found["dash"] is not None else " "

    rest = _UNIT.sub(replace, text)
    yield from apart
    yield SourceText("text", "text", rest.replace("~", " "))
