"""The text of an RTF file, collected from its tokens into paragraphs, rows, notes and properties."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import escape

from argot.corpus.readers.dates import find_date
from argot.corpus.readers.docx_symbols import name_symbol
from argot.corpus.readers.ole_files import decode_code_page
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.paragraph_html import Block, TextParagraph, write_blocks
from argot.corpus.readers.rtf_tables import RowBuilder
from argot.corpus.readers.rtf_tokens import (
    CAPTURED_DESTINATIONS,
    CODE_PAGES_BY_CHARSET,
    KEPT_STARRED_DESTINATIONS,
    SIGNS,
    SKIPPED_DESTINATIONS,
    Token,
    iter_tokens,
)

_MAX_DEPTH = 2_000
_BOX_DESTINATIONS = ("shptxt", "dptxbxtext")
_HEADING_NAME = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|nagłówek|заголовок) ?(\d)", re.I)
_TITLE_NAMES = ("title", "titel", "titre", "título")
_MAX_PICTURES = 300


@dataclass(slots=True)
class _State:
    """The state of a group. `use`: "" for text, "skip", or the name of a captured destination."""

    use: str = ""
    hidden: bool = False
    deleted: bool = False
    font: int = -1
    unicode_skip: int = 1
    raised: str = ""
    boxed: bool = False
    noted: str = ""
    pict: bool = False
    starred: bool = field(default=False)


@dataclass(slots=True)
class _Paragraph:
    style: int = 0
    outline: int = -1
    level: int = 0
    label: str = ""


@dataclass(slots=True)
class _Flow:
    """Text that is being collected: the document's, a note's, or a text box's."""

    blocks: list[Block] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    rows: RowBuilder = field(default_factory=RowBuilder)
    paragraph: _Paragraph = field(default_factory=_Paragraph)


class RichText:
    """Rich text that is read. `running`: the lines of headers and footers; `pictures`: by their address in the HTML."""

    def __init__(self, omissions: Omissions) -> None:
        self._omissions = omissions
        self._state, self._stack = _State(), list[_State]()
        self._flows = [_Flow()]
        self._closing: list[tuple[int, Callable[[], None]]] = []
        self._code_page, self._skip_left = 1252, 0
        self._bytes = bytearray()
        self._captured: list[str] = []
        self._fonts: dict[int, tuple[int, str]] = {}
        self._font_key = self._style_key = 0
        self._headings: dict[int, int] = {}
        self._notes = 0
        self._comment_author = ""
        self._picture = bytearray()
        self._picture_kind = ""
        self._date = [0, 0, 0]
        self.info: dict[str, str] = {}
        self.running: list[str] = []
        self.pictures: dict[str, bytes] = {}
        self.has_hidden = self.has_deleted = False

    def read(self, data: bytes) -> None:
        """Read all tokens; a file that is cut off is read as far as it goes."""
        for token in iter_tokens(data):
            match token.kind:
                case "{":
                    self._open_group()
                case "}":
                    self._close_group()
                case "word":
                    self._read_word(token)
                case "sign":
                    self._read_sign(token.text)
                case "byte":
                    self._add_bytes(token.data, is_one_character=True)
                case _:
                    self._add_bytes(token.data)
        while self._stack:
            self._close_group()
        self._end_paragraph()
        self._flows[0].rows.end_row(self._flows[0].blocks)

    def write_html(self) -> str:
        return write_blocks(self._flows[0].blocks)

    def count_elements(self) -> int:
        """Return about how many elements of HTML it will be."""
        return sum(1 if isinstance(one, TextParagraph) else 2 + len(one.cells) for one in self._flows[0].blocks)

    def find_date(self) -> str | None:
        year, month, day = self._date
        return find_date(f"{year:04}-{month:02}-{day:02}") if year and month and day else None

    # -- groups -------------------------------------------------------------------------------------------------------

    def _open_group(self) -> None:
        self._flush()
        if len(self._stack) < _MAX_DEPTH:
            self._stack.append(self._state)
            self._state = replace(self._state, starred=False)
        else:
            raise RecursionError("groups within groups")

    def _close_group(self) -> None:
        self._flush()
        if not self._stack:
            return
        while self._closing and self._closing[-1][0] == len(self._stack):
            self._closing.pop()[1]()
        self._state = self._stack.pop()

    def _at_end(self, action: Callable[[], None]) -> None:
        """Do this when the group that is open ends."""
        self._closing.append((len(self._stack), action))

    def _open_destination(self, word: str, *, is_starred: bool) -> bool:
        """Return whether the word opens a destination, and record how its text is treated."""
        state = self._state
        if state.use == "skip":
            if word == "ud":
                state.use = ""
            return word != "bin"
        if word in _BOX_DESTINATIONS and not state.use:
            self._open_flow("box")
        elif word in ("footnote", "annotation") and not state.use:
            self._open_flow(word)
        elif word == "pict":
            state.pict, state.use = True, "pict"
            self._picture.clear()
            self._picture_kind = ""
            self._at_end(self._keep_picture)
        elif word in ("object", "objemb"):
            if word == "object":
                self._omissions.add("embedded file")
        elif word in CAPTURED_DESTINATIONS:
            state.use = word
            self._captured = []
            self._at_end(lambda: self._keep_captured(word))
        elif word in SKIPPED_DESTINATIONS or (is_starred and word not in KEPT_STARRED_DESTINATIONS):
            state.use = "skip"
        else:
            return False
        return True

    def _open_flow(self, kind: str) -> None:
        if kind == "footnote":
            self._notes += 1
            number = self._notes
            self._add_html(f"^{number}")
            self._at_end(lambda: self._close_flow(f"^{number} "))
        elif kind == "annotation":
            by = f" by {self._comment_author}" if self._comment_author else ""
            self._at_end(lambda: self._close_flow(f"Comment{escape(by)}: "))
        else:
            self._at_end(lambda: self._close_flow(""))
        self._flows.append(_Flow())

    def _close_flow(self, begin: str) -> None:
        self._end_paragraph()
        flow = self._flows.pop()
        flow.rows.end_row(flow.blocks)
        html = write_blocks(flow.blocks)
        if begin:
            html = f"<p>{begin}{re.sub('</?p>', ' ', html).strip()}</p>\n"
        if re.sub("<[^>]*>", "", html).strip() not in ("", begin.strip()):
            self._flows[-1].after.append(html)

    def _keep_captured(self, kind: str) -> None:
        text = "".join(self._captured)
        self._captured = []
        flow = self._flows[-1]
        if kind in ("listtext", "pntext"):
            flow.paragraph.label = " ".join(text.split()) or flow.paragraph.label
        elif kind == "atnauthor":
            self._comment_author = " ".join(text.split())
        elif kind.startswith(("header", "footer")):
            self.running += text.splitlines()
        elif kind in ("title", "author", "keywords", "category", "subject"):
            self.info[kind] = " ".join(text.split())

    def _keep_picture(self) -> None:
        is_known = self._picture_kind in ("pngblip", "jpegblip", "emfblip", "wmetafile")
        data = bytes.fromhex(self._picture[: len(self._picture) // 2 * 2].decode("ascii")) if is_known else b""
        if not data or len(self.pictures) >= _MAX_PICTURES:
            self._omissions.add("picture")
            return
        address = f"picture{len(self.pictures)}"
        self.pictures[address] = data
        self._add_html(f'<img src="{address}" alt=""/>')

    # -- control words ------------------------------------------------------------------------------------------------

    def _read_word(self, token: Token) -> None:
        word, number = token.text, token.number
        if word == "u":
            self._add_unicode(number or 0)
            return
        self._flush()
        starred, self._state.starred = self._state.starred, False
        self._skip_left = 0
        if self._open_destination(word, is_starred=starred):
            return
        if word in SIGNS:
            self._add_text(SIGNS[word])
        elif not self._read_table_word(word, number) and not self._read_paragraph_word(word, number):
            self._read_character_word(word, number)

    def _read_sign(self, sign: str) -> None:
        if sign == "*":
            self._state.starred = True
            return
        if sign in "\r\n":
            self._flush()
            self._end_paragraph()
        elif sign in "\\{}~_":
            self._add_bytes({"~": b" ", "_": b"-"}.get(sign, sign.encode("latin-1")), is_one_character=True)

    def _read_table_word(self, word: str, number: int | None) -> bool:
        flow = self._flows[-1]
        if self._state.use:
            return False
        if word == "cell":
            self._end_paragraph(in_cell=True)
            flow.rows.end_cell()
        elif word == "row":
            self._end_paragraph(in_cell=True)
            flow.rows.after += flow.after
            flow.after = []
            flow.rows.end_row(flow.blocks)
        elif word in ("nestcell", "nestrow"):
            self._add_text("; " if word == "nestrow" else " ")
        else:
            return flow.rows.read_word(word, number)
        return True

    def _read_paragraph_word(self, word: str, number: int | None) -> bool:
        flow = self._flows[-1]
        match word:
            case "par" | "sect" | "page":
                if self._state.use.startswith(("header", "footer")):
                    self._captured.append("\n")
                elif not self._state.use:
                    self._end_paragraph()
            case "line":
                self._add_html("<br/>")
            case "pard":
                flow.paragraph = _Paragraph(label=flow.paragraph.label)
                flow.rows.in_table = False
            case "s":
                flow.paragraph.style = self._style_key = number or 0
            case "outlinelevel":
                flow.paragraph.outline = number if number is not None else -1
                if self._state.use == "stylesheet" and 0 <= flow.paragraph.outline < 9:
                    self._headings[self._style_key] = flow.paragraph.outline + 1
            case "ilvl" | "pnlvl":
                flow.paragraph.level = (number or 0) - (word == "pnlvl")
            case "pnlvlblt":
                flow.paragraph.label = flow.paragraph.label or "•"
            case _:
                return False
        return True

    def _read_character_word(self, word: str, number: int | None) -> None:
        state, is_on = self._state, number != 0
        match word:
            case "plain":
                state.hidden, state.raised, state.deleted = False, "", False
            case "v":
                state.hidden = is_on
            case "deleted":
                state.deleted = is_on
            case "super" | "sub":
                state.raised = {"super": "sup"}.get(word, word) if is_on else ""
            case "nosupersub":
                state.raised = ""
            case "uc":
                state.unicode_skip = min(max(number or 0, 0), 10)
            case _:
                self._read_font_word(word, number)

    def _read_font_word(self, word: str, number: int | None) -> None:
        match word:
            case "f":
                self._state.font = self._font_key = number or 0
            case "ansicpg":
                self._code_page = number or 1252
            case "mac" | "pc" | "pca":
                self._code_page = {"mac": 10000, "pc": 437, "pca": 850}[word]
            case "fcharset":
                self._fonts[self._font_key] = (number or 0, self._fonts.get(self._font_key, (0, ""))[1])
            case "pngblip" | "jpegblip" | "emfblip" | "wmetafile":
                self._picture_kind = word
            case "yr" | "mo" | "dy":
                if self._state.use == "revtim":
                    self._date[("yr", "mo", "dy").index(word)] = number or 0

    # -- text ---------------------------------------------------------------------------------------------------------

    def _add_unicode(self, number: int) -> None:
        self._flush()
        code = number + 0x10000 if number < 0 else number
        if self._state.use != "skip" and 0 < code < 0x110000:
            font = self._fonts.get(self._state.font, (0, ""))
            is_private = 0xF000 <= code <= 0xF0FF
            self._add_text(name_symbol(font[1], code, self._omissions) if is_private else chr(code))
        self._skip_left = self._state.unicode_skip

    def _add_bytes(self, data: bytes, *, is_one_character: bool = False) -> None:
        if self._skip_left:
            # The replacement for programs that do not know the character.
            left = max(0, self._skip_left - (1 if is_one_character else len(data)))
            data, self._skip_left = (b"" if is_one_character else data[self._skip_left :]), left
        if self._state.use == "pict":
            self._picture += re.sub(rb"[^0-9a-fA-F]", b"", data) if not is_one_character else b""
        elif self._state.use != "skip":
            self._bytes += data

    def _flush(self) -> None:
        """Turn the bytes that were collected into text: a character may take several."""
        if not self._bytes:
            return
        data, self._bytes = bytes(self._bytes), bytearray()
        charset, font = self._fonts.get(self._state.font, (0, ""))
        if charset == 2 and not self._state.use:
            self._add_text(
                "".join(name_symbol(font, byte, self._omissions) if byte > 32 else chr(byte) for byte in data)
            )
            return
        if self._state.use == "fonttbl":
            key = self._font_key
            self._fonts[key] = (self._fonts.get(key, (0, ""))[0], data.decode("latin-1").strip(" ;"))
            return
        self._add_text(decode_code_page(data, CODE_PAGES_BY_CHARSET.get(charset, self._code_page)))

    def _add_text(self, text: str) -> None:
        state = self._state
        if state.use == "stylesheet":
            self._read_style_name(text)
        elif state.use:
            if state.use != "skip":
                self._captured.append(text)
        elif state.deleted or state.hidden:
            self.has_deleted = self.has_deleted or (state.deleted and bool(text.strip()))
            self.has_hidden = self.has_hidden or (state.hidden and bool(text.strip()))
        elif state.raised and text.strip():
            self._add_html(f"<{state.raised}>{escape(text, quote=False)}</{state.raised}>")
        else:
            self._add_html(escape(text, quote=False))

    def _read_style_name(self, text: str) -> None:
        name = text.strip(" ;").casefold()
        if found := _HEADING_NAME.match(name):
            self._headings[self._style_key] = int(found[1]) or 1
        elif name in _TITLE_NAMES:
            self._headings[self._style_key] = 1

    def _add_html(self, html: str) -> None:
        if not self._state.use or self._state.use == "pict":
            self._flows[-1].pieces.append(html)

    def _end_paragraph(self, *, in_cell: bool = False) -> None:
        self._flush()
        flow, about = self._flows[-1], self._flows[-1].paragraph
        html = _join_surrogates("".join(flow.pieces))
        flow.pieces = []
        if in_cell or flow.rows.in_table:
            label = f"{escape(about.label)} " if about.label and html.strip() else ""
            flow.rows.add_text(label + html, is_end=not in_cell)
            about.label = ""
            return
        flow.rows.end_row(flow.blocks)
        heading = about.outline + 1 if 0 <= about.outline < 9 else self._headings.get(about.style, 0)
        if html.strip() or flow.after:
            flow.blocks.append(TextParagraph(html, heading, about.label, about.level, flow.after))
            flow.after = []
        about.label = ""


def _join_surrogates(text: str) -> str:
    """Return the text with characters beyond the first 65,536 whole: RTF gives them in two halves."""
    if not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
