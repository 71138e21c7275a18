"""The glossary as a workbook: each sheet is a table (`table_format`), with or without a sheet of contexts.

Macros are never run and formulas never computed: a cell has the value that the program which saved it stored. A value
that is merged over several rows holds for each of them. Hidden sheets are left out, as nobody sees what they contain.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from argot.jargon_db.formats.glossary_file import GlossaryFile, ProcessRequired, ReadOptions, refuse
from argot.jargon_db.formats.table_format import Row, Table, read_tables
from argot.jargon_db.formats.table_writer import CONTEXT_COLUMNS, describe_context, make_rows
from argot.types import Context, Sense
from argot.xml_text import drop_forbidden_characters

MAX_SHEETS = 500
MAX_CELL_CHARS = 32_767
"""Maximum of a cell in every spreadsheet program."""
_MAX_COLUMNS = 200
_MAX_UNPACKED_BYTES = 2_000_000_000
_MAX_MERGED_ROWS = 1_000
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\b[^>]*\bref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_PIECE_BYTES = 1 << 20
_OVERLAP_BYTES = 200
_WORKBOOK_PART = "xl/workbook.xml"
_ESCAPED = re.compile(r"_x00([01][0-9A-Fa-f]|7[Ff])_")
"""A control character as workbooks write it."""


def is_workbook(data: bytes) -> bool:
    """Return whether a ZIP archive is a workbook of spreadsheets since 2007."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _WORKBOOK_PART in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError):
        return False


def read_xlsx(data: bytes, name: str, options: ReadOptions) -> GlossaryFile:
    """Return the senses and contexts of a workbook.

    Raises:
        InvalidGlossary: as for tables; or the workbook is damaged, encrypted or too large.
        ProcessRequired: only a process with its own limits may read it, because its parts may be far larger than it.
    """
    if not options.bounded:
        raise ProcessRequired
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > _MAX_UNPACKED_BYTES:
            raise refuse(name, f"its parts have {size / 2**20:,.0f} MiB when unpacked; split the workbook")
        tables = _read_sheets(data, name, options)
    except (zipfile.BadZipFile, InvalidFileException, KeyError, ValueError, TypeError, OSError, SyntaxError) as error:
        raise refuse(
            name, f"the workbook is damaged ({error}); open it in a spreadsheet program and save it again"
        ) from error
    return read_tables(tables, name, options)


def write(senses: Iterable[Sense], contexts: Iterable[Context]) -> bytes:
    """Return a workbook with a sheet of terms and one of contexts. Control characters are dropped.

    Raises:
        InvalidGlossary: a text is too long for a cell.
    """
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    header, rows = make_rows(senses)
    _fill_sheet(book.create_sheet("Terms"), header, rows)
    listed = ([describe_context(one)[name] for name in CONTEXT_COLUMNS] for one in contexts)
    _fill_sheet(book.create_sheet("Contexts"), list(CONTEXT_COLUMNS), listed)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _fill_sheet(sheet: Any, header: list[str], rows: Iterable[list[str]]) -> None:
    from openpyxl.cell import WriteOnlyCell

    def make_cell(text: str) -> Any:
        text = drop_forbidden_characters(text)
        if len(text) > MAX_CELL_CHARS:
            message = (
                f"{text[:60]!r}... has {len(text):,} characters, and a cell holds {MAX_CELL_CHARS:,}; export as JSON"
            )
            raise refuse("glossary.xlsx", message)
        if not text.startswith("="):
            return text or None
        # Otherwise it would be written as a formula, which the spreadsheet runs.
        cell = WriteOnlyCell(sheet, value="x")
        cell.value, cell.data_type = text, "s"
        return cell

    sheet.freeze_panes = "A2"
    for row in (header, *rows) if isinstance(rows, list) else _chain(header, rows):
        sheet.append([make_cell(cell) for cell in row])


def _chain(header: list[str], rows: Iterable[list[str]]) -> Iterator[list[str]]:
    yield header
    yield from rows


# -- reading ----------------------------------------------------------------------------------------------------------


def _read_sheets(data: bytes, name: str, options: ReadOptions) -> list[Table]:
    from openpyxl import load_workbook

    # Without its macros and links, which are never followed.
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    sheets = [one for one in book.worksheets if one.sheet_state == "visible"]
    if len(sheets) > MAX_SHEETS:
        raise refuse(name, f"it has {len(sheets):,} sheets; split the workbook into parts of {MAX_SHEETS}")
    formulas: Any = None
    tables = []
    for sheet in sheets:
        merged, has_formulas = _scan_sheet(data, sheet)
        rows = list(_read_rows(sheet, options.most_senses))
        notes: list[tuple[int, str]] = []
        if has_formulas:
            formulas = formulas or load_workbook(io.BytesIO(data), read_only=True, keep_links=False)
            notes = _find_lost_formulas(formulas[sheet.title], rows)
        _fill_merged(rows, merged)
        tables.append(Table(sheet.title, rows, tuple(notes)))
    book.close()
    return tables


def _read_rows(sheet: Any, most: int) -> Iterator[Row]:
    """Yield the rows that hold something, at most one more than may be imported."""
    sheet.reset_dimensions()
    found = 0
    for number, values in enumerate(sheet.iter_rows(values_only=True, max_col=_MAX_COLUMNS), 1):
        if any(value is not None for value in values):
            yield number, [_format_value(value) for value in values]
            found += 1
            # Titles and the header come on top of the senses.
            if found > most + 100:
                return


def _format_value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        plain = value.replace("_x000D_", "").replace("\r\n", "\n")
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), plain)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return (
            value.date().isoformat()
            if value.time() == datetime.time()
            else value.isoformat(sep=" ", timespec="minutes")
        )
    return str(value)


def _scan_sheet(data: bytes, sheet: Any) -> tuple[list[tuple[int, int, int, int]], bool]:
    """Return the merged areas of a sheet, as first column, first row, last column and last row, and whether it has
    formulas; columns count from 0, rows from 1. openpyxl tells neither while it streams.
    """
    found: dict[tuple[int, int, int, int], None] = {}
    has_formulas = False
    path = str(sheet._worksheet_path).lstrip("/")
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(path) as part:
        before = b""
        while piece := part.read(_PIECE_BYTES):
            text = before + piece
            has_formulas = has_formulas or _FORMULA.search(text) is not None
            for first, top, last, bottom in _MERGED.findall(text):
                found[_column(first), int(top), _column(last), int(bottom)] = None
            before = text[-_OVERLAP_BYTES:]
    return list(found), has_formulas


def _fill_merged(rows: list[Row], merged: Iterable[tuple[int, int, int, int]]) -> None:
    """Write the value of cells merged over several rows into each of these rows."""
    cells = dict(rows)
    for left, top, _, bottom in merged:
        if not 0 < bottom - top <= _MAX_MERGED_ROWS or top not in cells or left >= len(cells[top]):
            continue
        for number in range(top + 1, bottom + 1):
            if number in cells and left < len(cells[number]):
                cells[number][left] = cells[number][left] or cells[top][left]


def _find_lost_formulas(sheet: Any, rows: list[Row]) -> list[tuple[int, str]]:
    """Return the rows with a formula whose value was not stored, and what to do."""
    known = dict(rows)
    notes = []
    sheet.reset_dimensions()
    for number, values in enumerate(sheet.iter_rows(values_only=True, max_col=_MAX_COLUMNS), 1):
        cells = known.get(number, [])
        for at, value in enumerate(values):
            if isinstance(value, str) and value.startswith("=") and not (at < len(cells) and cells[at]):
                message = (
                    f"the formula {value[:60]!r} has no stored value; open the workbook in a spreadsheet and save it"
                )
                notes.append((number, message))
                break
    return notes


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number - 1
