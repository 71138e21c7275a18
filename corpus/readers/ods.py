"""OpenDocument spreadsheets (.ods): each cell as its program shows it, in the tables that workbooks become."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.grid_sheets import MAX_ROWS, GridCell, GridSheet, write_note
from argot.corpus.readers.html import convert_tree, parse_body
from argot.corpus.readers.odf_package import (
    DRAW,
    OFFICE,
    TABLE,
    TEXT,
    OpenDocument,
    open_document,
    read_properties,
    read_running_fields,
)
from argot.corpus.readers.odf_text import TextRenderer
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.sheet_xml import MergedArea, SheetExtras
from argot.corpus.readers.sheets import SheetTexts
from argot.corpus.readers.workbooks import WorkbookSheet
from argot.types import ParsedDocument

MEDIA_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_ELEMENTS_PER_SECOND = 60_000
_ROWS_PER_SECOND = 100_000
_MAX_CELLS_A_ROW = 501
"""One more than is read of a row, so that the reader of sheets sees that there are more."""
_MAX_SPACES = 100
_HIDDEN_VALUES = ("collapse", "filter")
_BLANK_CELL = GridCell()


def read_ods(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Every sheet is a heading and a page mark. Values as the program that saved the file showed them.

    Hidden sheets, rows and columns are left out, as in other workbooks.
    """
    document = open_document(data, name, limits, "spreadsheet", _ELEMENTS_PER_SECOND)
    omissions = Omissions()
    renderer = TextRenderer(document, omissions)
    sheets, total = [], 0
    for table in document.body.iterchildren(f"{TABLE}table"):
        is_hidden = renderer.looks.find_visibility(table.get(f"{TABLE}style-name"), "table") == "false"
        rows = 0 if is_hidden else _SheetTable.count_rows(table)
        total += rows
        limits.check_elements(total, _ROWS_PER_SECOND, "row", name)
        cells = None if is_hidden else _SheetTable(table, document, renderer, omissions).make_grid()
        sheets.append(WorkbookSheet(str(table.get(f"{TABLE}name") or ""), "", is_hidden, cells))
    texts = SheetTexts(sheets, name, limits)
    texts.read()
    core = read_properties(document)
    return ParsedDocument(
        core.title or name_without_suffix(name),
        "".join(texts.parts),
        MEDIA_TYPE,
        pages=tuple(texts.pages),
        date=core.date,
        warnings=(*document.warnings, *texts.warnings, *omissions.warnings()),
        fields=tuple(dict.fromkeys([*core.fields, *read_running_fields(document)])),
    )


class _SheetTable:
    """One table of a spreadsheet: what is hidden and merged in it, its notes, and its rows."""

    def __init__(self, table: Any, document: OpenDocument, renderer: TextRenderer, omissions: Omissions) -> None:
        self._table, self._document, self._renderer, self._omissions = table, document, renderer, omissions
        self._merged: list[MergedArea] = []
        self._hidden_rows: set[int] = set()
        self._notes: list[str] = []

    @staticmethod
    def count_rows(table: Any) -> int:
        """Return how many rows the cells and repetitions of a sheet make; blank ones at its end do not count."""
        number = last = 0
        for row in table.iter(f"{TABLE}table-row"):
            number += min(_parse_number(row.get(f"{TABLE}number-rows-repeated")), MAX_ROWS)
            last = number if next(row.iter(f"{TEXT}p"), None) is not None else last
        return last

    def make_grid(self) -> GridSheet:
        """Return the sheet as a grid."""
        hidden_columns = frozenset(self._find_hidden_columns())
        for number, row, times in self._iter_rows():
            if row.get(f"{TABLE}visibility") in _HIDDEN_VALUES or _is_in_hidden_group(row, self._table):
                self._hidden_rows.update(range(number, min(number + times, MAX_ROWS)))
            self._scan_cells(number, row, hidden_columns)
        extras = SheetExtras(self._merged, frozenset(), frozenset(self._hidden_rows), hidden_columns)
        return GridSheet(self._read_rows, extras, [*self._notes, *self._read_shapes()])

    def _iter_rows(self) -> Iterator[tuple[int, Any, int]]:
        """Yield each row with its first number, from 1, and how often it is repeated."""
        number = 1
        for row in self._table.iter(f"{TABLE}table-row"):
            if next(row.iterancestors(f"{TABLE}table")) is not self._table:
                continue
            times = _parse_number(row.get(f"{TABLE}number-rows-repeated"))
            yield number, row, times
            number += times
            if number > MAX_ROWS:
                return

    def _find_hidden_columns(self) -> Iterator[int]:
        number = 1
        for column in self._table.iter(f"{TABLE}table-column"):
            times = min(_parse_number(column.get(f"{TABLE}number-columns-repeated")), 16_384)
            if column.get(f"{TABLE}visibility") in _HIDDEN_VALUES or _is_in_hidden_group(column, self._table):
                yield from range(number, number + times)
            number += times
            if number > 16_384:
                return

    def _scan_cells(self, number: int, row: Any, hidden_columns: frozenset[int]) -> None:
        column = 1
        for cell in row:
            wide, tall = (_parse_number(cell.get(f"{TABLE}number-{what}-spanned")) for what in ("columns", "rows"))
            if wide > 1 or tall > 1:
                self._merged.append(MergedArea(number, column, number + tall - 1, column + wide - 1))
            for note in cell.iterchildren(f"{OFFICE}annotation"):
                author = " ".join((note.findtext("{*}creator") or "").split())
                text = " ".join(_read_shown_text(line) for line in note.iter(f"{TEXT}p"))
                if text.strip() and number not in self._hidden_rows and column not in hidden_columns:
                    self._notes.append(write_note(number - 1, column - 1, author, text))
            column += _parse_number(cell.get(f"{TABLE}number-columns-repeated"))

    def _read_rows(self) -> Iterator[list[GridCell]]:
        blank = 0
        for _, row, times in self._iter_rows():
            cells = self._read_cells(row)
            if not cells:
                blank += times
                continue
            # Blank rows at the end of a sheet are often a million.
            for _ in range(blank):
                yield []
            blank = 0
            for _ in range(min(times, MAX_ROWS)):
                yield cells

    def _read_cells(self, row: Any) -> list[GridCell]:
        cells: list[GridCell] = []
        blank = 0
        for cell in row:
            times = min(_parse_number(cell.get(f"{TABLE}number-columns-repeated")), _MAX_CELLS_A_ROW)
            text = _read_cell_text(cell) if cell.tag == f"{TABLE}table-cell" else ""
            if not text:
                blank += times
                continue
            cells += [_BLANK_CELL] * min(blank, _MAX_CELLS_A_ROW)
            blank = 0
            cells += [GridCell(text, "", len(cells) + at) for at in range(1, times + 1)]
            if len(cells) > _MAX_CELLS_A_ROW:
                break
        return cells

    def _read_shapes(self) -> Iterator[str]:
        """Yield the text of boxes and charts upon the sheet."""
        for frame in self._table.iter(f"{DRAW}frame", f"{DRAW}custom-shape", f"{DRAW}rect", f"{DRAW}ellipse"):
            if next(frame.iterancestors(f"{TABLE}table")) is not self._table:
                continue
            holder = frame.makeelement("holder")
            holder.append(_copy(frame))
            html = self._renderer.write_blocks(holder)
            yield convert_tree(parse_body(f"<html><body>{html}</body></html>"), self._omissions, self._document.read)


def _copy(element: Any) -> Any:
    from copy import deepcopy

    copied = deepcopy(element)
    copied.tail = None
    return copied


def _is_in_hidden_group(element: Any, table: Any) -> bool:
    for around in element.iterancestors():
        if around is table:
            return False
        if around.get(f"{TABLE}display") == "false":
            return True
    return False


def _read_cell_text(cell: Any) -> str:
    lines = [_read_shown_text(line) for line in cell.iterchildren(f"{TEXT}p", f"{TEXT}h", f"{TEXT}list")]
    text = " ".join(filter(None, lines))
    if text or not len(cell.attrib):
        return text
    # A program other than an office may write values without the text that shows them.
    for name in ("string-value", "date-value", "time-value", "boolean-value", "value"):
        if value := cell.get(f"{OFFICE}{name}"):
            return str(value)
    return ""


def _read_shown_text(element: Any) -> str:
    pieces = [element.text or ""]
    for child in element:
        if child.tag == f"{TEXT}s":
            pieces.append(" " * min(_parse_number(child.get(f"{TEXT}c")), _MAX_SPACES))
        elif child.tag in (f"{TEXT}tab", f"{TEXT}line-break"):
            pieces.append(" ")
        elif child.tag != f"{OFFICE}annotation" and not child.tag.startswith(DRAW):
            pieces.append(_read_shown_text(child))
        pieces.append(child.tail or "")
    return "".join(pieces)


def _parse_number(value: str | None) -> int:
    text = value or ""
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 8 else 1
