"""CSV files and workbooks: pipe tables, cut every few rows with the header repeated, so that no cell loses its name."""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.archives import check_archive, read_core_properties
from argot.corpus.readers.grid_sheets import GridSheet
from argot.corpus.readers.moment_formats import format_moment
from argot.corpus.readers.number_formats import format_number
from argot.corpus.readers.office_package import OfficePackage
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.pipe_tables import join_headers, render_pipe_table
from argot.corpus.readers.plain_text import decode_text, name_without_suffix
from argot.corpus.readers.sheet_parts import SheetParts
from argot.corpus.readers.sheet_xml import MergedArea, SheetExtras, read_sheet_extras
from argot.corpus.readers.workbooks import WorkbookSheet, open_workbook
from argot.errors import UnreadableDocument
from argot.types import DocumentField, PageMark, ParsedDocument

ROWS_PER_TABLE = 25
# Formatting may extend over all 16,384 columns of a sheet.
_MAX_COLUMNS = 500
_ELEMENTS_PER_SECOND = 110_000
"""openpyxl's speed: 60 seconds are enough for some 100 MB of ordinary sheets (unpacked)."""
_MAX_HEADING_ROWS = 4  # rows
_MAX_MERGED_ROWS = 100
"""Columns that a heading spans, including hidden ones."""
_MAX_NAMED_ITEMS = 10  # cells, rows or sheets in a warning
_NO_VALUE_NOTE = "(formula without a value)"
_DELIMITERS = ",;\t|"
_SEPARATOR_LINE = re.compile(r"""\ufeff?"?sep=([^\w\s"']|\t)"?[ \t,;]*(?:\n|\Z)""", re.IGNORECASE)
_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

Row = list[str]


def read_csv(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a table separated by comma, semicolon, tab or bar, whichever gives the most even columns. The title is the
    file name.
    """
    text, separator = _split_separator_line(decode_text(data, name))
    # By default a cell may have 131,072 characters. The limit holds for the whole process.
    csv.field_size_limit(max(limits.max_text_chars, 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator or _detect_delimiter(text))
    try:
        markdown = "\n\n".join(_render_tables(reader))
    except csv.Error as error:
        raise UnreadableDocument(name, f"no valid CSV at line {reader.line_num}: {error}") from error
    return ParsedDocument(name_without_suffix(name), markdown, "text/csv")


def read_xlsx(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Every sheet is a heading and a page mark; values as last computed by the program that saved the file.

    Hidden sheets, rows and columns are left out: their author did not mean them for everyone. An unreadable sheet loses
    only that sheet.
    """
    checked = check_archive(data, name, limits, elements_a_second=_ELEMENTS_PER_SECOND)
    opened = open_workbook(checked)
    sheets = SheetTexts(opened.sheets, name, limits, opened.package, opened.book)
    sheets.read()
    core = read_core_properties(opened.data)
    return ParsedDocument(
        core.title or name_without_suffix(name),
        "".join(sheets.parts),
        _MEDIA_TYPE,
        pages=tuple(sheets.pages),
        date=core.date,
        warnings=(*opened.warnings, *sheets.warnings, *sheets.omissions.warnings()),
        fields=(*core.fields, *sheets.fields),
    )


class SheetTexts:
    """The sheets of a workbook as Markdown, and the content found in them but not read.

    Without a package the cells of each sheet are a `GridSheet`, as the readers of other spreadsheets make it.
    """

    def __init__(
        self,
        sheets: Sequence[WorkbookSheet],
        name: str,
        limits: ReadLimits,
        package: OfficePackage | None = None,
        book: Any = None,
    ) -> None:
        self._sheets, self._name, self._limits = sheets, name, limits
        self._package, self._book = package, book
        self._length = 0
        self.omissions = Omissions()
        self.parts: list[str] = []
        self.pages: list[PageMark] = []
        self.warnings: list[str] = []
        self.fields: list[DocumentField] = []

    def read(self) -> None:
        """Read every sheet that is not hidden."""
        hidden = [sheet.title for sheet in self._sheets if sheet.is_hidden]
        self.warnings += [f"hidden sheets were left out: {_join_names(hidden)}"] if hidden else []
        failed: list[str] = []
        for number, sheet in enumerate(self._sheets, start=1):
            if sheet.is_hidden:
                continue
            try:
                blocks = list(self._read_sheet(sheet))
            except (UnreadableDocument, MemoryError):
                raise
            except Exception:
                # openpyxl may raise any error on a damaged part.
                failed.append(sheet.title)
                continue
            if any(blocks):
                text = "\n\n".join([f"# {' '.join(sheet.title.split())}", *filter(None, blocks)]) + "\n\n"
                self.pages.append(PageMark(self._length, number, "sheet"))
                self.parts.append(text)
                self._length += len(text)
                self._limits.check_chars(self._length, self._name)
        self.warnings += [f"damaged, and not read: sheet {_join_names(failed)}"] if failed else []

    def _read_sheet(self, sheet: WorkbookSheet) -> Iterator[str]:
        hides: Callable[[str], bool] | None = None
        if isinstance(sheet.cells, GridSheet):
            yield from self._read_tables(sheet, sheet.cells.extras)
            yield from sheet.cells.notes
            return
        if sheet.cells is not None:
            extras = read_sheet_extras(self._book, sheet.cells)
            yield from self._read_tables(sheet, extras)
            self.fields += [field for field in extras.fields if field not in self.fields]
            hides = extras.is_hidden
        if self._package is not None:
            yield from SheetParts(self._package, sheet.path, self.omissions, hides).read_blocks()

    def _read_tables(self, sheet: WorkbookSheet, extras: SheetExtras) -> list[str]:
        cells = _Cells(sheet.cells, extras, self._length, self._name, self._limits)
        tables = list(_render_tables(cells))
        if cells.left_out:
            self.warnings.append(f"not read: columns behind the {_MAX_COLUMNS}th in {sheet.title}")
        if cells.uncomputed:
            some = _join_names(cells.uncomputed)
            self.warnings.append(
                f"formulas without a value in {sheet.title}: {some}. Save it in a spreadsheet program."
            )
        if cells.hidden:
            self.warnings.append(f"hidden rows or columns were left out in {sheet.title}: {_join_names(cells.hidden)}")
        return tables


def _join_names(names: Sequence[str]) -> str:
    return f"{', '.join(names[:_MAX_NAMED_ITEMS])}{' ...' if len(names) > _MAX_NAMED_ITEMS else ''}"


def _split_separator_line(text: str) -> tuple[str, str]:
    """Return the table and the delimiter that a first line such as "sep=;" tells Excel; it is no part of the table."""
    found = _SEPARATOR_LINE.match(text)
    return (text[found.end() :], found[1]) if found else (text, "")


def _detect_delimiter(text: str) -> str:
    """Return the delimiter by which most of the first rows have the same number of cells, above one."""
    sample = list(islice(io.StringIO(text[:100_000]), 60))

    def evenness(delimiter: str) -> tuple[int, int]:
        try:
            widths = [len(row) for row in csv.reader(sample, delimiter=delimiter) if row]
        except csv.Error:
            return (0, 0)
        commonest = max(set(widths), key=widths.count, default=0)
        return (widths.count(commonest), commonest) if commonest > 1 else (0, 0)

    return max(_DELIMITERS, key=evenness)


class _Cells:
    """The rows of a sheet as text, after `length` characters of the sheets before. `left_out`: some cells were.

    Rows of headings, the first with some that reach over several columns, become one. `uncomputed`: the cells with a
    formula that no program has computed. `hidden`: the non-empty rows and columns left out.

    Raises:
        UnreadableDocument: more text than allowed.
    """

    def __init__(self, sheet: Any, extras: SheetExtras, length: int, name: str, limits: ReadLimits) -> None:
        self._sheet = sheet
        self._extras = extras
        self._length = length
        self._name = name
        self._limits = limits
        self.left_out = False
        self.uncomputed: list[str] = []
        self._hidden: dict[str, None] = {}
        self._tall: dict[int, tuple[int, str]] = {}
        """By column, from 0: the most recent cell over several rows, with its last row."""

    @property
    def hidden(self) -> list[str]:
        return list(self._hidden)

    def __iter__(self) -> Iterator[Row]:
        columns = self._extras.hidden_columns
        for row in self._join_headings():
            yield [text for number, text in enumerate(row, start=1) if number not in columns] if columns else row

    def _join_headings(self) -> Iterator[Row]:
        rows, text_above = self._read_rows(), False
        for number, row in rows:
            # The start of a table: the first row with several cells below a blank one, or below a title.
            begins, text_above = not text_above and _count_filled(row) > 1, _count_filled(row) > 1
            count = self._count_heading_rows(number, row) if begins else 1
            if count == 1:
                yield self._fill_cells(number, row)
                continue
            numbered = [(number, row), *islice(rows, count - 1)]
            width = max(len(each) for _, each in numbered)
            headings = [self._repeat_headings(at, each + [""] * (width - len(each))) for at, each in numbered]
            yield list(join_headers([*headings, []], len(headings))[0])

    def _fill_cells(self, number: int, row: Row) -> Row:
        """Return the row with the text of cells that extend down to it; a blank row separates tables and stays
        blank.
        """
        if not _count_filled(row):
            return row
        # A row may end before them.
        full = row + [""] * (max(self._tall, default=-1) + 1 - len(row))
        for column, (last, text) in self._tall.items():
            if number <= last and not full[column]:
                full[column] = text
                self._length += len(text)
        self._limits.check_chars(self._length, self._name)
        return full

    def _read_rows(self) -> Iterator[tuple[int, Row]]:
        # A sheet may claim any size; what counts are the cells that are there.
        self._sheet.reset_dimensions()
        tall: dict[int, list[MergedArea]] = {}
        for area in self._extras.merged:
            if area.last_row > area.row:
                tall.setdefault(area.row, []).append(area)
        for number, row in enumerate(self._sheet.iter_rows(), start=1):
            if number in self._extras.hidden_rows:
                if any(cell.value is not None for cell in row):
                    self._hidden[f"row {number}"] = None
                continue
            shown = [self._read_cell(column, cell) for column, cell in enumerate(row[:_MAX_COLUMNS], start=1)]
            self.left_out |= any(cell.value is not None for cell in row[_MAX_COLUMNS:])
            # Before the cells are joined: a shared string is in memory once, however many cells show it.
            self._length += sum(map(len, shown))
            self._limits.check_chars(self._length, self._name)
            for area in tall.get(number, ()):
                if area.column <= len(shown):
                    self._tall[area.column - 1] = (area.last_row, shown[area.column - 1])
            yield number, shown

    def _read_cell(self, column: int, cell: Any) -> str:
        if column in self._extras.hidden_columns:
            if cell.value is not None:
                self._hidden[f"column {cell.column_letter}"] = None
        elif cell.value is None and getattr(cell, "coordinate", "") in self._extras.uncomputed:
            self.uncomputed.append(cell.coordinate)
            return _NO_VALUE_NOTE
        return _format_cell(cell)

    def _count_heading_rows(self, number: int, row: Row) -> int:
        """Return the number of rows that name the columns of the table that begins here."""
        areas = [area for area in self._extras.merged if area.row == number and area.column <= len(row)]
        wide = any(area.last_column > area.column for area in areas)
        last = min(max((area.last_row for area in areas), default=number), number + _MAX_MERGED_ROWS)
        deepest = sum(each not in self._extras.hidden_rows for each in range(number, last + 1))
        return min(max(1 + wide, deepest), _MAX_HEADING_ROWS) if wide else 1

    def _repeat_headings(self, number: int, row: Row) -> Row:
        """Return the row with a heading over several columns repeated in each of them."""
        full = list(row)
        for area in self._extras.merged:
            if area.row == number and area.column <= len(row):
                for column in range(area.column, min(area.last_column, len(row))):
                    full[column] = full[area.column - 1]
        return full


def _format_cell(cell: Any) -> str:
    value = cell.value
    if value is None:
        return ""
    # Before numbers, because a bool is an int.
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return format_number(value, str(getattr(cell, "number_format", "") or ""))
    if isinstance(value, datetime.datetime | datetime.time | datetime.timedelta):
        return format_moment(value, str(getattr(cell, "number_format", "") or ""))
    return str(value)


# -- rows to tables -------------------------------------------------------------------------------------------------


def _render_tables(rows: Iterable[Row]) -> Iterator[str]:
    """Yield tables, parted by blank rows; lone cells above a table are text, the first full row is its header."""
    for block in _split_blocks(rows):
        first = next((index for index, row in enumerate(block) if _count_filled(row) > 1), None)
        if first is None:
            # One column: its first cell names it, and a single cell is just text.
            first = 0 if len(block) > 1 else 1
        for row in block[:first]:
            yield " ".join(" ".join(row).split())
        header, body = block[first : first + 1], block[first + 1 :]
        for start in range(0, max(len(body), len(header)), ROWS_PER_TABLE):
            yield render_pipe_table([*header, *body[start : start + ROWS_PER_TABLE]])


def _split_blocks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    block: list[Row] = []
    for row in rows:
        if any(text.strip() for text in row):
            block.append(row)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _count_filled(row: Row) -> int:
    return sum(1 for text in row if text.strip())
