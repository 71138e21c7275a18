"""Workbooks of Excel before 2007 (.xls), by xlrd, in the tables that other workbooks become."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Iterator
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.biff_records import SheetDrawings, list_sheet_starts, read_drawings
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.file_kinds import name_other_kind
from argot.corpus.readers.furniture_fields import read_labelled_fields
from argot.corpus.readers.grid_sheets import GridCell, GridSheet, place_cells, write_note
from argot.corpus.readers.ole_files import OLE_MAGIC, OleFile
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.sheet_xml import MergedArea, SheetExtras
from argot.corpus.readers.sheets import SheetTexts
from argot.corpus.readers.titles import clean_title
from argot.corpus.readers.workbooks import WorkbookSheet
from argot.errors import UnreadableDocument
from argot.types import DocumentField, ParsedDocument

MEDIA_TYPE = "application/vnd.ms-excel"
_BYTES_PER_SECOND = 700_000
"""xlrd's speed."""
_MAX_COLUMNS = 501
_HEADER_CODE = re.compile(r'&(?:"[^"]*"|K[0-9A-Fa-f]{6}|\d+|[A-Za-z&])')


def read_xls(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Every sheet is a heading and a page mark; values as last computed by the program that saved the file.

    Hidden sheets, rows and columns are left out, as in other workbooks. Macros are not run.
    """
    properties, stream = _open_streams(data, name, limits)
    book = _open_book(data, name)
    try:
        starts = list_sheet_starts(stream)
        drawings = [read_drawings(stream, start) for start in starts[: book.nsheets]]
        drawings += [SheetDrawings() for _ in range(book.nsheets - len(drawings))]
        sheets = [_make_sheet(book, number, drawings[number]) for number in range(book.nsheets)]
        texts = SheetTexts(sheets, name, limits)
        texts.read()
    finally:
        book.release_resources()
    macros = ("its macros are left out and were not run",) if properties.get("macros") else ()
    omissions = Omissions()
    omissions.add("embedded file", properties.get("embedded", 0))
    named = ((key, str(properties.get(key) or "")) for key in ("creator", "keywords", "category"))
    running = _read_running_fields(drawings, sheets)
    return ParsedDocument(
        clean_title(str(properties.get("title") or "")) or name_without_suffix(name),
        "".join(texts.parts),
        MEDIA_TYPE,
        pages=tuple(texts.pages),
        date=properties.get("date"),
        warnings=(*texts.warnings, *omissions.warnings(), *macros),
        fields=tuple(dict.fromkeys([*build_fields(named), *running])),
    )


def _open_streams(data: bytes, name: str, limits: ReadLimits) -> tuple[dict[str, Any], bytes]:
    """Return the properties and the stream of cells; the oldest workbooks are nothing but that stream."""
    limits.check_markup(len(data), _BYTES_PER_SECOND, "cells", name)
    if not data.startswith(OLE_MAGIC):
        if other := name_other_kind(data, "workbook"):
            raise UnreadableDocument(name, *other)
        return {}, data
    ole = OleFile(data, name, limits)
    stream = ole.read("Workbook") or ole.read("Book")
    if stream is None:
        raise UnreadableDocument(name, "damaged: it holds no workbook", "Open it in its program and save it again.")
    embedded = {one.partition("/")[0] for one in ole.list_streams() if one.startswith("MBD")}
    return {**ole.read_properties(), "macros": ole.has("_VBA_PROJECT_CUR"), "embedded": len(embedded)}, stream


def _open_book(data: bytes, name: str) -> Any:
    import xlrd  # type: ignore[import-untyped]

    try:
        return xlrd.open_workbook(file_contents=data, formatting_info=True, ragged_rows=True, logfile=io.StringIO())
    except xlrd.XLRDError as error:
        if "encrypted" in str(error).lower() or "password" in str(error).lower():
            raise UnreadableDocument(name, "encrypted", "Save it without a password.") from error
        remedy = "Open it in its program and save it as .xlsx."
        raise UnreadableDocument(name, f"damaged, or no workbook ({error})"[:200], remedy) from error


def _make_sheet(book: Any, number: int, drawings: SheetDrawings) -> WorkbookSheet:
    sheet = book.sheet_by_index(number)
    if sheet.visibility:
        return WorkbookSheet(sheet.name, "", True)
    rows = frozenset(row + 1 for row, info in sheet.rowinfo_map.items() if info.hidden)
    columns = frozenset(column + 1 for column, info in sheet.colinfo_map.items() if info.hidden)
    merged = [MergedArea(top + 1, left + 1, bottom, right) for top, bottom, left, right in sheet.merged_cells]
    notes = [
        write_note(row, column, note.author, note.text)
        for (row, column), note in sorted(sheet.cell_note_map.items())
        if note.text.strip() and row + 1 not in rows and column + 1 not in columns
    ]
    boxes = [" ".join(text.split()) for text in drawings.boxes]
    grid = GridSheet(
        lambda: _read_rows(book, sheet), SheetExtras(merged, frozenset(), rows, columns), [*filter(None, boxes), *notes]
    )
    return WorkbookSheet(sheet.name, "", False, grid)


def _read_rows(book: Any, sheet: Any) -> Iterator[list[GridCell]]:
    for number in range(sheet.nrows):
        cells = (
            (column, *_read_value(book, cell))
            for column, cell in enumerate(sheet.row(number)[:_MAX_COLUMNS])
            if cell.ctype not in (0, 6)
        )
        yield place_cells(cells)


def _read_value(book: Any, cell: Any) -> tuple[Any, str]:
    """Return the value of a cell, as openpyxl gives it, and its number format."""
    import xlrd

    number_format = _find_format(book, cell)
    match cell.ctype:
        case xlrd.XL_CELL_NUMBER:
            value = float(cell.value)
            return int(value) if value.is_integer() and abs(value) < 1e15 else value, number_format
        case xlrd.XL_CELL_DATE:
            return convert_serial(float(cell.value), book.datemode), number_format
        case xlrd.XL_CELL_BOOLEAN:
            return bool(cell.value), ""
        case xlrd.XL_CELL_ERROR:
            return xlrd.error_text_from_code.get(cell.value, "#ERROR"), ""
        case _:
            return str(cell.value), ""


def convert_serial(value: float, date_mode: int) -> datetime.datetime | datetime.time | float:
    """Return the moment that Excel stores as a number of days; the number itself if it is no possible date."""
    from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel

    try:
        moment = from_excel(value, CALENDAR_MAC_1904 if date_mode else CALENDAR_WINDOWS_1900)
    except (OverflowError, ValueError):
        return value
    return moment if isinstance(moment, datetime.datetime | datetime.time) else value


def _find_format(book: Any, cell: Any) -> str:
    try:
        found = book.format_map[book.xf_list[cell.xf_index].format_key]
    except (IndexError, KeyError, TypeError):
        return ""
    return str(found.format_str)


def _read_running_fields(drawings: list[SheetDrawings], sheets: list[WorkbookSheet]) -> tuple[DocumentField, ...]:
    """Return the properties in the headers and footers of the sheets that are shown."""
    shown = (one for one, sheet in zip(drawings, sheets, strict=True) if not sheet.is_hidden)
    lines = (line for one in shown for text in one.headers for line in re.split(r"&[LCR](?![a-z])", text))
    return read_labelled_fields(" ".join(_HEADER_CODE.sub("", line).split()) for line in lines)
