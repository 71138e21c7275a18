"""All text of Word files before 2007, of rich text, of Outlook's messages, and of Visio's drawings."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.budget import Budget
from argot.corpus.readers.ledger.mail_parts import read_mail_texts
from argot.corpus.readers.ledger.nesting import Nesting
from argot.corpus.readers.ledger.source_text import SourceText
from argot.corpus.readers.ledger.xml_walk import read_unknown_part
from argot.corpus.readers.rtf_tokens import CODE_PAGES_BY_CHARSET, Token, iter_tokens

_CHECKED_PARTS = re.compile(r"visio/(?P<kind>pages|masters|comments)(?:/.*)?\.xml")
_STORY_RULES = {"header": rules.RUNNING, "header box": rules.RUNNING, "macro": rules.TECHNICAL}
_STORY_KINDS = {"text": "text", "box": "text box", "header box": "header"}
_FONT = re.compile(rb"\\f(\d{1,5})(?:\\(?!f\d)[a-z]{1,20}-?\d{0,6} ?){0,5}?\\fcharset(\d{1,3})")
_TOKENS_PER_CHECK = 20_000
_PIECES_PER_TEXT = 100_000
_NO_TEXT_WORDS = frozenset({
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "fldinst", "objdata", "filetbl", "xe", "tc", "nonshppict",
    "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "mmathPict", "listtext", "pntext", "pntxtb",
    "pntxta", "sn", "sv", "atnid", "objclass", "objname", "template", "revtbl", "bkmkstart", "bkmkend", "upr",
    "nonesttables",
})  # fmt: skip
_STARRED_TEXT_WORDS = frozenset({
    "shppict", "shpinst", "shptxt", "do", "dptxbxtext", "annotation", "moMath", "moMathPara", "footnote", "cs", "ud",
})  # fmt: skip
_RUNNING_WORDS = ("header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf")
_SIGNS_OF_WORDS = {"emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”"}
_BREAKS = frozenset({"par", "line", "cell", "row", "tab", "sect", "page", "nestcell", "nestrow", "pard", "bullet"})
_CHARACTERS_PER_PIECE = 20_000


def read_rtf_texts(data: bytes, budget: Budget) -> Iterator[SourceText]:
    """Give the words of rich text, paragraph by paragraph."""
    walk = _RichWalk(data)
    for number, token in enumerate(iter_tokens(data)):
        if number % _TOKENS_PER_CHECK == 0:
            budget.check()
        walk.read(token)
        if len(walk.pieces) >= _PIECES_PER_TEXT:
            yield from walk.take()
    yield from walk.take()


class _RichWalk:
    """The text of rich text, by the rule that leaves it out."""

    def __init__(self, data: bytes) -> None:
        self._rules = [""]
        self._skips = 0
        self._charsets = {int(found[1]): int(found[2]) for found in _FONT.finditer(data)}
        self._font, self._fonts = 0, list[int]()
        self._is_starred = False
        self.pieces: list[tuple[str, str]] = []

    def read(self, token: Token) -> None:
        """Read one token."""
        if token.kind == "{":
            self._rules.append(self._rules[-1])
            self._fonts.append(self._font)
        elif token.kind == "}":
            if len(self._rules) > 1:
                self._rules.pop()
            self._font = self._fonts.pop() if self._fonts else self._font
        elif token.kind == "word":
            self._read_word(token)
        elif token.kind == "sign":
            self._is_starred = token.text == "*"
            self._add({"~": " ", "_": "-", "-": ""}.get(token.text, token.text if token.text in "\\{}" else ""))
            return
        elif token.kind == "byte" and self._skips:
            self._skips -= 1
        else:
            page = CODE_PAGES_BY_CHARSET.get(self._charsets.get(self._font, 0), 1252)
            text = token.data.decode(f"cp{page}" if page < 1300 and page > 1240 else "ascii", "ignore")
            self._add(text[self._skips :])
            self._skips = max(0, self._skips - len(text))
        self._is_starred = False

    def _read_word(self, token: Token) -> None:
        word = token.text
        if word in _NO_TEXT_WORDS or (self._is_starred and word not in _STARRED_TEXT_WORDS):
            self._rules[-1] = rules.TECHNICAL
        elif word in _RUNNING_WORDS:
            self._rules[-1] = rules.RUNNING
        elif word in ("v", "deleted") and self._rules[-1] != rules.TECHNICAL:
            self._rules[-1] = "" if token.number == 0 else rules.HIDDEN if word == "v" else rules.DELETED
        elif word == "plain" and self._rules[-1] in (rules.HIDDEN, rules.DELETED):
            self._rules[-1] = ""
        elif word == "f":
            self._font = token.number or 0
        elif word == "u":
            code = (token.number or 0) % 0x10000
            self._add(chr(code) if not 0xD800 <= code < 0xF900 else " ")
            self._skips = 1
        else:
            self._add(_SIGNS_OF_WORDS.get(word, "\n" if word in _BREAKS else ""))

    def _add(self, text: str) -> None:
        if text and self._rules[-1] != rules.TECHNICAL:
            self.pieces.append((self._rules[-1], text))

    def take(self) -> Iterator[SourceText]:
        """Yield the text read so far, and start the next one."""
        pieces, self.pieces = self.pieces, []
        for rule in dict.fromkeys(rule for rule, _ in pieces):
            yield SourceText("rich text", "text", "".join(text for why, text in pieces if why == rule), rule)


def read_doc_texts(data: bytes, budget: Budget) -> Iterator[SourceText]:
    """Give the text of each story of a Word file: text, notes, comments, headers, text boxes."""
    from argot.corpus.readers.ole_files import OleFile
    from argot.corpus.readers.word_binary import WordBinary

    word = WordBinary(OleFile(data, "a Word file", ReadLimits()), "a Word file")
    for story, (start, end) in word.stories.items():
        pieces: dict[str, list[str]] = {"": [], rules.HIDDEN: [], rules.DELETED: [], rules.FIELD_CODE: []}
        instructions: list[bool] = []
        for number, (character, offset) in enumerate(word.iter_characters(start, end)):
            if number % _CHARACTERS_PER_PIECE == 0:
                budget.check()
            if character == "\x13":
                instructions.append(True)
            elif instructions and character == "\x14":
                instructions[-1] = False
            elif instructions and character == "\x15":
                instructions.pop()
            looks = word.find_characters(offset)
            rule = rules.HIDDEN if looks.hidden else rules.DELETED if looks.deleted else ""
            rule = rules.FIELD_CODE if any(instructions) else rule
            # Signs of symbol fonts stand for others.
            pieces[rule].append(character if looks.symbol is None else " ")
        for rule, characters in pieces.items():
            text = "".join(characters).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            text = re.sub("[\x13-\x15\x1f]", "", text).replace("\x1e", "-")
            text = re.sub("[\x00-\x1d]", " ", text)
            yield SourceText(story, _STORY_KINDS.get(story, story), text, _STORY_RULES.get(story) or rule)


def read_msg_texts(data: bytes, nesting: Nesting) -> Iterator[SourceText]:
    """Give the text of a message of Outlook, with that of its attachments."""
    from argot.corpus.readers.msg_conversion import convert_message

    yield from read_mail_texts(convert_message(data, "a message", ReadLimits()), nesting)


def read_vsdx_texts(data: bytes, budget: Budget) -> Iterator[SourceText]:
    """Give the text of the shapes of a drawing; that of its masters is a form to be filled in."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            found = _CHECKED_PARTS.fullmatch(name)
            if found is None:
                continue
            kind = {"comments": "comment"}.get(found["kind"], "text")
            rule = rules.LAYOUT if found["kind"] == "masters" else ""
            for text in read_unknown_part(archive.open(name), budget):
                yield SourceText(name, kind, text, rule)
