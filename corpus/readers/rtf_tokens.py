"""Tokens of rich text (RTF 1.9), and the code pages and signs that its control words name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,40})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([\r\n\x00]+)|([^\\{}\r\n\x00]+)|.",
    re.DOTALL,
)
CODE_PAGES_BY_CHARSET = {
    77: 10000, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255,
    178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
}  # fmt: skip
SIGNS = {
    "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "emspace": " ", "enspace": " ", "qmspace": " ", "tab": "\t", "zwnj": "\u200c", "zwj": "\u200d", "ltrmark": "",
    "rtlmark": "",
}  # fmt: skip
"""Control words that stand for characters."""

SKIPPED_DESTINATIONS = frozenset({
    "colortbl", "filetbl", "revtbl", "template", "nonshppict", "xe", "tc", "rxe", "txe", "private", "fldinst",
    "objdata", "bkmkstart", "bkmkend", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "mmathPict",
    "nonesttables", "pntxtb", "pntxta", "sn", "sv", "operator", "company", "comment", "doccomm", "hlinkbase",
    "creatim", "printim", "buptim", "manager", "objclass", "objname", "objalias", "listname", "levelnumbers",
    "fname", "falt", "panose", "pgdsctbl", "background", "ffname", "ffdeftext", "ffhelptext", "ffstattext", "ffl",
    "userprops", "datafield", "datastore", "themedata", "colorschememapping", "latentstyles", "picprop", "upr",
    "atnref", "atndate", "atntime", "atnparent", "generator",
})  # fmt: skip
"""Destinations without text of the document. All others behind `\\*` that are not named below are skipped, too."""
KEPT_STARRED_DESTINATIONS = frozenset({
    "shppict", "shpinst", "shptxt", "do", "dptxbxtext", "ud", "annotation", "atnauthor", "pn", "moMath", "moMathPara",
    "mmath", "cs", "ts", "sp", "footnote", "stylesheet",
})  # fmt: skip
CAPTURED_DESTINATIONS = frozenset({
    "title", "author", "keywords", "category", "subject", "atnauthor", "atnid", "listtext", "pntext", "header",
    "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "stylesheet", "fonttbl", "revtim",
})  # fmt: skip
"""Destinations whose text is kept for another use."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: "word" with its number, "{", "}", "byte", "sign" (of one character behind a backslash), or "text"."""

    kind: str
    text: str = ""
    number: int | None = None
    data: bytes = b""


def iter_tokens(data: bytes) -> Iterator[Token]:
    """Yield the tokens; binary data within the file is passed over."""
    at = 0
    while (found := _TOKEN.match(data, at)) is not None:
        at = found.end()
        if found[1]:
            word, number = found[1].decode("ascii"), int(found[2]) if found[2] else None
            if word == "bin":
                at += max(number or 0, 0)
            yield Token("word", word, number)
        elif found[3]:
            yield Token("byte", data=bytes([int(found[3], 16)]))
        elif found[4]:
            yield Token("sign", found[4].decode("latin-1"))
        elif found[5]:
            yield Token(found[5].decode("ascii"))
        elif found[7]:
            yield Token("text", data=found[7])
