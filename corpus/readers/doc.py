"""Word files before 2007 (.doc): headings, lists with their numbers, tables, notes and comments."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.docx_symbols import name_symbol
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.file_kinds import name_other_kind
from argot.corpus.readers.furniture_fields import read_labelled_fields
from argot.corpus.readers.html import ELEMENTS_PER_SECOND, convert_tree, parse_body
from argot.corpus.readers.ole_files import OLE_MAGIC, OleFile
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.paragraph_html import Block, TableRow, TextParagraph, write_blocks
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.titles import clean_title, find_first_heading
from argot.corpus.readers.word_binary import REMEDY, WordBinary
from argot.corpus.readers.word_properties import CharacterProperties, ParagraphProperties
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

MEDIA_TYPE = "application/msword"
_CHARACTERS_PER_SECOND = 500_000
_CELL_END, _PARAGRAPH_END, _PAGE_END = "\x07", "\r", "\x0c"
_FIELD_BEGIN, _FIELD_SEPARATOR, _FIELD_END = "\x13", "\x14", "\x15"
_PLAIN_SIGNS = {"\x0b": "\n", "\x0e": " ", "\x1e": "-", "\x1f": "", "\t": " ", "\xa0": " "}
_MAX_FIELD_DEPTH = 100


def read_doc(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a Word file. The title comes from its properties, else the first top heading, else the file name.

    Hidden text and text deleted by tracked changes are left out. Macros are not run.
    """
    if not data.startswith(OLE_MAGIC):
        other = name_other_kind(data, "Word file")
        raise UnreadableDocument(name, *(other or ("no Word file, and of no other kind that Argot reads", REMEDY)))
    ole = OleFile(data, name, limits)
    word, omissions = WordBinary(ole, name), Omissions()
    limits.check_markup(word.stories["header box"][1], _CHARACTERS_PER_SECOND, "text", name)
    story = _Story(word, omissions)
    blocks = story.read("text")
    blocks += story.read("box")
    elements = sum(1 if isinstance(one, TextParagraph) else 2 + len(one.cells) for one in blocks)
    limits.check_elements(elements, ELEMENTS_PER_SECOND, "text", name)
    markdown = convert_tree(parse_body(f"<html><body>{write_blocks(blocks)}</body></html>"), omissions)
    running = [one.html for one in _Story(word, Omissions()).read("header") if isinstance(one, TextParagraph)]
    found = ole.read_properties()
    omissions.add(
        "embedded file", len({one.split("/")[1] for one in ole.list_streams() if one.startswith("ObjectPool/")})
    )
    hidden = ("hidden text was left out",) if story.has_hidden else ()
    deleted = ("text deleted by tracked changes was left out",) if story.has_deleted else ()
    macros = ("its macros are left out and were not run",) if ole.has("Macros") else ()
    named = ((key, str(found.get(key) or "")) for key in ("creator", "keywords", "category"))
    return ParsedDocument(
        clean_title(str(found.get("title") or "")) or find_first_heading(markdown) or name_without_suffix(name),
        markdown,
        MEDIA_TYPE,
        date=found.get("date"),
        warnings=(*hidden, *deleted, *omissions.warnings(), *macros),
        fields=tuple(dict.fromkeys([*build_fields(named), *read_labelled_fields(running)])),
    )


@dataclass(slots=True)
class _Row:
    """Cells of a row whose end has not come yet."""

    cells: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


class _Story:
    """The blocks of a story of the file, such as its text or its text boxes."""

    def __init__(self, word: WordBinary, omissions: Omissions) -> None:
        self._word, self._omissions = word, omissions
        self._notes = self._list_notes()
        self._pieces: list[str] = []
        self._after: list[str] = []
        self._row = _Row()
        self._number = 0
        self._fields: list[bool] = []
        """For each open field: its instruction is being read, not its result."""
        self.has_hidden = self.has_deleted = False

    def _list_notes(self) -> dict[int, tuple[str, int, int]]:
        """Return kind, first and last character of each note by the place of its mark."""
        authors = self._word.list_comment_authors()
        found: dict[int, tuple[str, int, int]] = {}
        for kind in ("footnote", "endnote"):
            found |= {mark: (kind, start, end) for mark, start, end in self._word.list_notes(kind)}
        for number, (mark, start, end) in enumerate(self._word.list_notes("comment")):
            author = " ".join(authors[number].split()) if number < len(authors) else ""
            found[mark] = (f"Comment by {author}" if author else "Comment", start, end)
        return found

    def read(self, story: str) -> list[Block]:
        """Return the blocks of a story."""
        start, end = self._word.stories[story]
        return self._read_span(start, end, has_notes=story == "text")

    def _read_span(self, start: int, end: int, *, has_notes: bool = False) -> list[Block]:
        blocks: list[Block] = []
        last = 0
        for place, (character, offset) in enumerate(self._word.iter_characters(start, end), start=start):
            last = offset
            if character in (_PARAGRAPH_END, _CELL_END, _PAGE_END):
                self._end_paragraph(character, offset, blocks)
            elif has_notes and place in self._notes and character in ("\x02", "\x05"):
                self._add_note(*self._notes[place])
            else:
                self._add_character(character, offset)
        if self._pieces:
            self._end_paragraph(_PARAGRAPH_END, last, blocks)
        self._end_row(blocks, ParagraphProperties())
        return blocks

    # -- paragraphs ---------------------------------------------------------------------------------------------------

    def _end_paragraph(self, mark: str, offset: int, blocks: list[Block]) -> None:
        about = self._word.find_paragraph(offset)
        html = _join_surrogates("".join(self._pieces)).replace("\n", "<br/>")
        self._pieces = []
        label = self._word.lists.count(about.list_id, about.list_level) if about.list_id and html.strip() else ""
        if about.in_table:
            self._row.text.append(f"{escape(label)} {html}" if label else html)
            self._row.after += self._after
            self._after = []
            if about.ends_row:
                self._row.text.clear()
                self._end_row(blocks, about)
            elif mark == _CELL_END and about.depth <= 1:
                self._row.cells.append("".join(f"<p>{text}</p>" for text in self._row.text if text.strip()))
                self._row.text = []
            return
        self._end_row(blocks, about)
        if html.strip() or self._after:
            heading = self._word.find_heading(about)
            blocks.append(TextParagraph(html.strip(), heading, label, about.list_level, self._after))
            self._after = []

    def _end_row(self, blocks: list[Block], about: ParagraphProperties) -> None:
        row, self._row = self._row, _Row()
        if row.text:
            row.cells.append("".join(f"<p>{text}</p>" for text in row.text if text.strip()))
        if not row.cells:
            self._after += row.after
            return
        # A cell that is merged with the one before it holds nothing.
        kept = [at for at in range(len(row.cells)) if at not in about.beside or row.cells[at]]
        ends = [*kept[1:], len(row.cells)]
        has_edges = len(about.edges) >= len(row.cells)
        blocks.append(
            TableRow(
                [row.cells[at] for at in kept],
                [about.edges[end - 1] for end in ends] if has_edges else [],
                about.is_header,
                frozenset(number for number, at in enumerate(kept) if at in about.below),
                row.after,
            )
        )

    # -- characters ---------------------------------------------------------------------------------------------------

    def _add_character(self, character: str, offset: int) -> None:
        if character == _FIELD_BEGIN and len(self._fields) < _MAX_FIELD_DEPTH:
            self._fields.append(True)
        elif character == _FIELD_SEPARATOR and self._fields:
            self._fields[-1] = False
        elif character == _FIELD_END and self._fields:
            self._fields.pop()
        elif any(self._fields):
            return
        else:
            self._add_shown(character, self._word.find_characters(offset))

    def _add_shown(self, character: str, about: CharacterProperties) -> None:
        if about.hidden or about.deleted:
            self.has_hidden = self.has_hidden or (about.hidden and character > " ")
            self.has_deleted = self.has_deleted or (about.deleted and character > " ")
        elif about.symbol is not None:
            font, code = about.symbol
            self._pieces.append(escape(name_symbol(self._word.find_font(font), code, self._omissions)))
        elif character in ("\x01", "\x08"):
            if about.special:
                # Embedded files are counted by their storages.
                self._omissions.add("picture", not about.is_object)
        elif character in _PLAIN_SIGNS:
            self._pieces.append(_PLAIN_SIGNS[character])
        elif character >= " ":
            text = escape(character, quote=False)
            self._pieces.append(f"<{about.raised}>{text}</{about.raised}>" if about.raised else text)

    def _add_note(self, kind: str, start: int, end: int) -> None:
        inner = _Story(self._word, self._omissions)
        inner._notes = {}
        blocks = inner._read_span(start, end)
        texts = [one.html for one in blocks if isinstance(one, TextParagraph)]
        texts += [cell for one in blocks if isinstance(one, TableRow) for cell in one.cells]
        text = " ".join(texts).strip()
        self.has_hidden, self.has_deleted = self.has_hidden or inner.has_hidden, self.has_deleted or inner.has_deleted
        if kind.startswith("Comment"):
            self._after.append(f"<p>{escape(kind)}: {text}</p>\n")
            return
        self._number += 1
        self._pieces.append(f"^{self._number}")
        self._after.append(f"<p>^{self._number} {text}</p>\n")


def _join_surrogates(text: str) -> str:
    if not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
