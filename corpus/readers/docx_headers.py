"""Headers and footers of Word files: read once, whatever the number of pages and sections with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.docx_insertions import make_text_run
from argot.corpus.readers.docx_package import R, W, WordPackage, is_switched_on
from argot.corpus.readers.docx_text_boxes import show_all_text
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.header_fields import PAGE_NUMBER_MARK, TODAY_MARK, HeaderText, Row, read_header_rows
from argot.types import DocumentField

_REFERENCE_TAGS = (f"{W}headerReference", f"{W}footerReference")
_CONTENT = f"{W}txbxContent"
_PAGE_FIELDS = ("PAGE", "NUMPAGES", "SECTIONPAGES", "SECTION")
_TODAY_FIELDS = ("DATE", "TIME", "PRINTDATE")
_SKIPPED_TAGS = (f"{W}del", f"{W}moveFrom", f"{W}pPr", f"{W}rPr", f"{W}sdtPr", f"{W}instrText")
_HEADING = re.compile(r"#{1,6} [^\n]*\n+")


def read_headers(package: WordPackage, document: Any) -> list[HeaderText]:
    """Return the headers and footers that Word shows on some page."""
    found: list[HeaderText] = []
    for part in dict.fromkeys(_list_shown_parts(package, document)):
        root = package.parse_tree(part)
        if root is not None:
            _mark_simple_fields(root)
            show_all_text(root)
            found += read_header_rows(list(_read_rows(root)))
    return list(dict.fromkeys(found))


def list_header_fields(headers: list[HeaderText]) -> tuple[DocumentField, ...]:
    return build_fields((one.field_name, one.value) for one in headers if one.field_name)


def put_headers_into(markdown: str, headers: list[HeaderText], title: str) -> str:
    """Return the text with the headers as a list after its first heading, where askers look first."""
    shown = [one.line for one in headers if one.value.casefold() != title.casefold()]
    shown = [line for line in shown if f"# {line}\n" not in markdown]
    if not shown:
        return markdown
    heading = _HEADING.match(markdown)
    start = heading.end() if heading else 0
    listed = "\n".join(f"- {line}" for line in shown)
    return f"{markdown[:start]}Header and footer of the document:\n\n{listed}\n\n{markdown[start:]}"


def _list_shown_parts(package: WordPackage, document: Any) -> Iterator[str]:
    """Yield the parts of headers and footers that sections use; those of first and even pages only if these differ."""
    settings = package.parse_tree(package.find_related_part("settings"))
    has_even = settings is not None and is_switched_on(settings.find(f"{W}evenAndOddHeaders"))
    relations = package.read_relations(package.document)
    first_pages: dict[tuple[str, str], str] = {}
    for section in document.iter(f"{W}sectPr"):
        used = {"default", *(["even"] if has_even else [])}
        for one in section.iter(*_REFERENCE_TAGS):
            kind = str(one.get(f"{W}type") or "default")
            relation = relations.get(str(one.get(f"{R}id")))
            if relation and kind == "first":
                first_pages[one.tag, kind] = relation.part
            elif relation and kind in used:
                yield relation.part
        # A section inherits the first page's header of the previous one.
        if is_switched_on(section.find(f"{W}titlePg")):
            yield from first_pages.values()


def _mark_simple_fields(root: Any) -> None:
    """Replace the page number by its mark if a field is one element."""
    for simple in root.iter(f"{W}fldSimple"):
        if mark := _choose_mark(str(simple.get(f"{W}instr") or "")):
            simple[:] = [make_text_run(mark)]


def _read_rows(element: Any) -> Iterator[Row]:
    """Yield the rows of tables, and lines as rows of the texts between their tabs."""
    for child in element:
        if child.tag == f"{W}tbl":
            for row in child.iter(f"{W}tr"):
                yield [" ".join(_read_lines(cell)) for cell in row.iter(f"{W}tc")]
        elif child.tag == f"{W}p":
            for line in _read_lines(child):
                yield [text for part in line.split("\t") if (text := " ".join(part.split()))]
            for box in child.iter(_CONTENT):
                yield from _read_rows(box)
        elif child.tag not in _SKIPPED_TAGS:
            yield from _read_rows(child)


def _read_lines(element: Any) -> list[str]:
    """Return the lines of an element without those of text boxes within it; marks replace page numbers."""
    reading = _LineReading()
    paragraphs = [element] if element.tag == f"{W}p" else list(element.iter(f"{W}p"))
    for paragraph in paragraphs:
        reading.read(paragraph)
        reading.words.append("\n")
    return [line.strip(" ") for line in "".join(reading.words).split("\n") if line.strip()]


class _LineReading:
    """The words of a paragraph, with a mark in place of the result of each field for page numbers or dates."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._fields: list[tuple[list[str], int]] = []
        """The instruction of each open field, and the number of words before it."""

    def read(self, element: Any) -> None:
        for child in element:
            name = str(child.tag).rpartition("}")[2]
            if name == "t":
                self.words.append(child.text or "")
            elif name in ("tab", "ptab"):
                self.words.append("\t")
            elif name in ("br", "cr"):
                self.words.append("\n")
            elif name == "fldChar":
                self._read_field_mark(str(child.get(f"{W}fldCharType")))
            elif name == "instrText" and self._fields:
                self._fields[-1][0].append(child.text or "")
            elif name == "pgNum":
                self.words.append(PAGE_NUMBER_MARK)
            elif child.tag not in (*_SKIPPED_TAGS, _CONTENT):
                self.read(child)

    def _read_field_mark(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append(([], len(self.words)))
        elif kind == "end" and self._fields:
            instruction, before = self._fields.pop()
            mark = _choose_mark("".join(instruction))
            self.words[before:] = [mark] if mark else self.words[before:]


def _choose_mark(instruction: str) -> str:
    kind = (instruction.split() or [""])[0].upper()
    return PAGE_NUMBER_MARK if kind in _PAGE_FIELDS else TODAY_MARK if kind in _TODAY_FIELDS else ""
