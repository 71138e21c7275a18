"""Word files before 2007 (.doc, MS-DOC): the order of their text, styles, notes and comments.

Only what reading needs is decoded. Macros and embedded objects stay closed.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from argot.corpus.readers import word_properties as properties
from argot.corpus.readers.ole_files import OleFile, decode_code_page
from argot.corpus.readers.word_lists import WordLists
from argot.errors import UnreadableDocument

_WORD_MARK = 0xA5EC
_WORD_97 = 0x00C1
_MAX_PIECES = 2_000_000
_MAX_BASES = 20
REMEDY = "Open it in Word or LibreOffice and save it as .docx."
_COUNTS_AT = 0x4C
_STYLES_AT, _FOOTNOTES_AT, _COMMENTS_AT, _CHARACTERS_AT, _PARAGRAPHS_AT = 0xA2, 0xAA, 0xBA, 0xFA, 0x102
_FONTS_AT, _PIECES_AT, _AUTHORS_AT, _ENDNOTES_AT, _LISTS_AT, _OVERRIDES_AT = 0x112, 0x1A2, 0x1BA, 0x20A, 0x2E2, 0x2EA
_NOTE_TABLES = {"footnote": (_FOOTNOTES_AT, 2), "endnote": (_ENDNOTES_AT, 2), "comment": (_COMMENTS_AT, 30)}
"""Where the file's head points to the tables of notes, and the bytes of data for each mark."""
_TITLE_NAMES = ("title", "titel", "titre", "título")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters from `start` to `end`. `offset`: its place in the stream; `width`: bytes a character."""

    start: int
    end: int
    offset: int
    width: int


@dataclass(frozen=True, slots=True)
class Style:
    """A style of paragraphs, with the style that it is based on."""

    name: str
    base: int
    changes: bytes


class WordBinary:
    """One file. `stories`: first and last character of text, footnotes, headers, comments, endnotes and text boxes."""

    def __init__(self, ole: OleFile, name: str) -> None:
        """Open the file.

        Raises:
            UnreadableDocument: it is encrypted, damaged, or older than Word 97.
        """
        self._main = ole.read("WordDocument") or b""
        if len(self._main) < 0x300:
            raise UnreadableDocument(name, "damaged: it holds no text of Word", REMEDY)
        mark, version = struct.unpack_from("<HH", self._main)
        flags = int.from_bytes(self._main[0x0A:0x0C], "little")
        if mark != _WORD_MARK or version < _WORD_97:
            raise UnreadableDocument(name, "in the format of Word before 97", REMEDY)
        if flags & 0x100:
            raise UnreadableDocument(name, "encrypted", "Save it without a password.")
        self._table = ole.read("1Table" if flags & 0x200 else "0Table") or b""
        self.stories = self._read_stories()
        self._pieces = list(self._read_pieces())
        if not self._pieces:
            raise UnreadableDocument(name, "damaged: the order of its text is lost", REMEDY)
        self._piece_starts = [piece.start for piece in self._pieces]
        self._styles = self._read_styles()
        self._resolved: dict[int, properties.ParagraphProperties] = {}
        self._fonts = self._read_fonts()
        self.lists = WordLists(self._read_table(_LISTS_AT, to_end=True), self._read_table(_OVERRIDES_AT))
        self._paragraphs = properties.read_runs(
            self._read_table(_PARAGRAPHS_AT), self._main, properties.parse_paragraph, properties.ParagraphProperties(),
            entry_bytes=13, cut=properties.cut_paragraph,
        )  # fmt: skip
        self._characters = properties.read_runs(
            self._read_table(_CHARACTERS_AT), self._main, properties.parse_characters,
            properties.CharacterProperties(), entry_bytes=1, cut=properties.cut_characters,
        )  # fmt: skip

    # -- text ---------------------------------------------------------------------------------------------------------

    def iter_characters(self, start: int, end: int) -> Iterator[tuple[str, int]]:
        """Yield each character between two places of the text, with its offset in the stream."""
        for piece in self._pieces[max(bisect_right(self._piece_starts, start) - 1, 0) :]:
            if piece.start >= end:
                return
            first, last = max(start, piece.start), min(end, piece.end)
            offset = piece.offset + (first - piece.start) * piece.width
            raw = self._main[offset : offset + max(last - first, 0) * piece.width]
            if piece.width == 1:
                text = decode_code_page(raw, 1252)
            else:
                text = "".join(map(chr, struct.unpack(f"<{len(raw) // 2}H", raw[: len(raw) // 2 * 2])))
            for character in text:
                yield character, offset
                offset += piece.width

    def find_characters(self, offset: int) -> properties.CharacterProperties:
        return self._characters.find(offset)

    def find_paragraph(self, offset: int) -> properties.ParagraphProperties:
        """Return the properties of the paragraph that ends here, with those of a list that its style gives it."""
        found = self._paragraphs.find(offset)
        style = self._resolve_style(found.style)
        if found.list_id is None and style.list_id is not None:
            return replace(found, list_id=style.list_id, list_level=found.list_level or style.list_level)
        return found

    def find_heading(self, paragraph: properties.ParagraphProperties) -> int:
        """Return the level of a heading; 0 for any other paragraph."""
        if paragraph.outline < properties.BODY_OUTLINE:
            return paragraph.outline + 1
        number = paragraph.style
        for _ in range(_MAX_BASES):
            # The first nine styles of every file are those of headings.
            if 1 <= number <= 9:
                return number
            style = self._styles.get(number)
            if style is None:
                break
            if style.name.casefold() in _TITLE_NAMES:
                return 1
            number = style.base
        outline = self._resolve_style(paragraph.style).outline
        return outline + 1 if outline < properties.BODY_OUTLINE else 0

    def find_font(self, number: int) -> str:
        return self._fonts[number] if number < len(self._fonts) else ""

    def list_notes(self, kind: str) -> list[tuple[int, int, int]]:
        """Return the place of each mark in the text, and the first and last character of its note in the stories.

        Args:
            kind: "footnote", "endnote" or "comment".
        """
        at, size = _NOTE_TABLES[kind]
        marks, places = self._read_places(at, size), self._read_places(at + 8, 0)
        first = self.stories[kind][0]
        spans = pairwise(places)
        return [(mark, first + start, first + end) for mark, (start, end) in zip(marks[:-1], spans, strict=False)]

    def list_comment_authors(self) -> list[str]:
        """Return the author of each comment: the full name if the file gives it, else the initials."""
        names, at, data = list[str](), 0, self._read_table(_AUTHORS_AT)
        while at + 2 <= len(data):
            length = int.from_bytes(data[at : at + 2], "little")
            names.append(data[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace"))
            at += 2 + 2 * length
        table = self._read_table(_COMMENTS_AT)
        count = max(0, (len(table) - 4) // 34)
        found = []
        for number in range(count):
            entry = table[4 * (count + 1) + 30 * number :][:30]
            author = int.from_bytes(entry[20:22], "little")
            initials = entry[2 : 2 + 2 * min(entry[0], 9)].decode("utf-16-le", "replace")
            found.append(names[author] if author < len(names) else initials)
        return found

    # -- tables of the file -------------------------------------------------------------------------------------------

    def _read_stories(self) -> dict[str, tuple[int, int]]:
        counts = struct.unpack_from("<8i", self._main, _COUNTS_AT)
        names = ("text", "footnote", "header", "macro", "comment", "endnote", "box", "header box")
        stories, at = {}, 0
        for name, count in zip(names, counts, strict=True):
            stories[name] = (at, at + max(count, 0))
            at += max(count, 0)
        return stories

    def _read_table(self, at: int, *, to_end: bool = False) -> bytes:
        """Return the part of the table stream to which the file's head points at this place."""
        if at + 8 > len(self._main):
            return b""
        start, size = struct.unpack_from("<II", self._main, at)
        if not size or start + size > len(self._table):
            return b""
        return self._table[start:] if to_end else self._table[start : start + size]

    def _read_places(self, at: int, size: int) -> list[int]:
        """Return the places that a table lists, each but the last with so many bytes of data."""
        data = self._read_table(at)
        count = (len(data) - 4) // (4 + size) + 1 if len(data) >= 4 else 0
        return list(struct.unpack_from(f"<{count}i", data)) if count else []

    def _read_pieces(self) -> Iterator[Piece]:
        data, at = self._read_table(_PIECES_AT), 0
        # Before the table may be changes that programs saved to be quicker.
        while at + 3 <= len(data) and data[at] == 1:
            at += 3 + int.from_bytes(data[at + 1 : at + 3], "little")
        if at + 5 > len(data) or data[at] != 2:
            return
        table = data[at + 5 :][: int.from_bytes(data[at + 1 : at + 5], "little")]
        count = min((len(table) - 4) // 12, _MAX_PIECES)
        if count < 1:
            return
        places = struct.unpack_from(f"<{count + 1}I", table)
        seen = 0
        for number in range(count):
            (where,) = struct.unpack_from("<I", table, 4 * (count + 1) + 8 * number + 2)
            width, offset = (1, (where & 0x3FFFFFFF) // 2) if where & 0x40000000 else (2, where & 0x3FFFFFFF)
            start, end = places[number], places[number + 1]
            # Pieces may not say more than the file holds, however often they name the same bytes.
            seen += max(end - start, 0) * width
            if end > start >= 0 and offset < len(self._main) and seen <= 2 * len(self._main):
                yield Piece(start, end, offset, width)

    def _read_styles(self) -> dict[int, Style]:
        data = self._read_table(_STYLES_AT)
        found: dict[int, Style] = {}
        if len(data) < 6:
            return found
        count, base_bytes = struct.unpack_from("<HH", data, 2)
        at = 2 + int.from_bytes(data[:2], "little")
        for number in range(count):
            size = int.from_bytes(data[at : at + 2], "little")
            entry = data[at + 2 : at + 2 + size]
            at += 2 + size
            if len(entry) < base_bytes + 2:
                continue
            kind = int.from_bytes(entry[2:4], "little")
            end = base_bytes + 2 + 2 * int.from_bytes(entry[base_bytes : base_bytes + 2], "little")
            name = entry[base_bytes + 2 : end].decode("utf-16-le", "replace").partition(",")[0]
            after = entry[end + 2 :]
            changes = after[4 : 2 + int.from_bytes(after[:2], "little")] if kind & 0xF == 1 else b""
            found[number] = Style(name, kind >> 4, changes)
        return found

    def _resolve_style(self, number: int) -> properties.ParagraphProperties:
        """Return the properties of a style, with those of the styles that it is based on."""
        if number not in self._resolved:
            chain: list[Style] = []
            current: int = number
            while len(chain) < _MAX_BASES and (style := self._styles.get(current)) is not None:
                chain.append(style)
                current = style.base
            found = properties.ParagraphProperties()
            for one in reversed(chain):
                found = properties.apply_paragraph(one.changes, found)
            self._resolved[number] = found
        return self._resolved[number]

    def _read_fonts(self) -> list[str]:
        data, names = self._read_table(_FONTS_AT), list[str]()
        at = 4
        while at < len(data):
            entry = data[at + 1 : at + 1 + data[at]]
            names.append(entry[39:].decode("utf-16-le", "replace").partition("\0")[0])
            at += 1 + data[at]
        return names
