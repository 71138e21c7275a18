"""Records of binary workbooks (.xlsb, MS-XLSB): shared strings, formats, cells, and what is hidden and merged."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

ROW, CELL_SHORT, CELL_SHARED, CELL_RICH, LAST_CELL = 0, 2, 7, 62, 11
_ERROR_CODES, _BOOL_CODES, _REAL_CODES, _TEXT_CODES = (3, 11), (4, 10), (5, 9), (6, 8)
"""Of cells with a value, and of those with a formula."""
SHARED_ITEM, FORMAT, CELL_STYLE, COLUMNS, SHEET_ENTRY, MERGED, BOOK_PROPERTIES = 19, 44, 47, 60, 156, 176, 153
CELL_STYLES_BEGIN, CELL_STYLES_END, HEADER_FOOTER = 617, 618, 479
COMMENT_AUTHOR, COMMENT, COMMENT_TEXT = 632, 635, 637
_ERRORS = {
    0: "#NULL!",
    7: "#DIV/0!",
    15: "#VALUE!",
    23: "#REF!",
    29: "#NAME?",
    36: "#NUM!",
    42: "#N/A",
    43: "#GETTING_DATA",
}
_MAX_STRINGS = 10_000_000


def iter_records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield code and content of each record, up to the end or to damage."""
    at, end = 0, len(data)
    while at < end:
        code, at = data[at], at + 1
        if code & 0x80 and at < end:
            code, at = (code & 0x7F) | (data[at] & 0x7F) << 7, at + 1
        size = shift = 0
        while at < end and shift < 28:
            byte, at = data[at], at + 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        if at + size > end:
            return
        yield code, data[at : at + size]
        at += size


def read_text(content: bytes, at: int) -> tuple[str, int]:
    """Return the text at this place, and where it ends."""
    if at + 4 > len(content):
        return "", at
    (count,) = struct.unpack_from("<I", content, at)
    if count == 0xFFFFFFFF:
        return "", at + 4
    end = min(at + 4 + 2 * count, len(content))
    return content[at + 4 : end].decode("utf-16-le", "replace"), end


def read_rich_text(content: bytes, at: int = 0) -> str:
    """Return a text with formats; its first byte tells which structures follow the text."""
    return read_text(content, at + 1)[0]


def read_shared_strings(data: bytes) -> list[str]:
    """Return the strings that cells refer to by number."""
    found: list[str] = []
    for code, content in iter_records(data):
        if code == SHARED_ITEM and len(found) < _MAX_STRINGS:
            found.append(read_rich_text(content))
    return found


def read_formats(data: bytes) -> list[str]:
    """Return the number format of each style of a cell."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS

    own: dict[int, str] = {}
    formats: list[str] = []
    in_cells = False
    for code, content in iter_records(data):
        if code == FORMAT and len(content) >= 6:
            own[struct.unpack_from("<H", content)[0]] = read_text(content, 2)[0]
        elif code in (CELL_STYLES_BEGIN, CELL_STYLES_END):
            in_cells = code == CELL_STYLES_BEGIN
        elif code == CELL_STYLE and in_cells and len(content) >= 4:
            (number,) = struct.unpack_from("<H", content, 2)
            formats.append(own.get(number) or BUILTIN_FORMATS.get(number, "General"))
    return formats


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """A sheet in the list of the workbook. `relation`: the id of its part."""

    title: str
    relation: str
    is_hidden: bool


def read_sheet_list(data: bytes) -> tuple[list[SheetEntry], bool]:
    """Return the sheets in order, and whether the workbook counts days from 1904."""
    sheets, from_1904 = [], False
    for code, content in iter_records(data):
        if code == SHEET_ENTRY and len(content) >= 12:
            relation, end = read_text(content, 8)
            sheets.append(SheetEntry(read_text(content, end)[0], relation, bool(content[0])))
        elif code == BOOK_PROPERTIES and content:
            from_1904 = bool(content[0] & 1)
    return sheets, from_1904


@dataclass(slots=True)
class SheetRecords:
    """All of a sheet beside its cells. Rows and columns from 0; `merged` as first and last row, then columns."""

    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)


def read_sheet_records(data: bytes) -> SheetRecords:
    """Return the hidden and merged cells of a sheet, and its printed headers."""
    found = SheetRecords()
    for code, content in iter_records(data):
        if code == ROW and len(content) >= 12 and content[11] & 0x10:
            found.hidden_rows.add(struct.unpack_from("<I", content)[0])
        elif code == COLUMNS and len(content) >= 18 and content[16] & 1:
            first, last = struct.unpack_from("<II", content)
            found.hidden_columns.update(range(first, min(last, 16_383) + 1))
        elif code == MERGED and len(content) >= 16:
            found.merged.append(struct.unpack_from("<IIII", content))
        elif code == HEADER_FOOTER:
            at = 2
            while at + 4 <= len(content):
                text, at = read_text(content, at)
                found.headers.append(text)
    return found


def iter_cells(data: bytes, strings: list[str]) -> Iterator[tuple[int, int, Any, int]]:
    """Yield row, column, value and number of the style of each cell that is not blank."""
    row = 0
    for code, content in iter_records(data):
        if code == ROW and len(content) >= 4:
            (row,) = struct.unpack_from("<I", content)
        elif (code <= LAST_CELL or code == CELL_RICH) and len(content) > 8:
            column, style = struct.unpack_from("<II", content)
            try:
                value = _read_value(code, content, strings)
            except struct.error:
                continue
            if value is not None and value != "":
                yield row, column, value, style & 0xFFFFFF


def _read_value(code: int, content: bytes, strings: list[str]) -> Any:
    value: Any = None
    if code == CELL_SHORT:
        value = _read_short_number(content)
    elif code in _REAL_CODES:
        value = _shorten(struct.unpack_from("<d", content, 8)[0])
    elif code in _BOOL_CODES:
        value = bool(content[8])
    elif code in _ERROR_CODES:
        value = _ERRORS.get(content[8], "#ERROR")
    elif code in _TEXT_CODES:
        value = read_text(content, 8)[0]
    elif code == CELL_RICH:
        value = read_rich_text(content, 8)
    elif code == CELL_SHARED:
        (number,) = struct.unpack_from("<I", content, 8)
        value = strings[number] if number < len(strings) else None
    return value


def _read_short_number(content: bytes) -> float:
    (raw,) = struct.unpack_from("<I", content, 8)
    if raw & 2:
        value: float = struct.unpack("<i", struct.pack("<I", raw))[0] >> 2
    else:
        value = struct.unpack("<d", b"\0\0\0\0" + struct.pack("<I", raw & 0xFFFFFFFC))[0]
    return _shorten(value / 100 if raw & 1 else value)


def _shorten(value: float) -> float:
    return int(value) if abs(value) < 1e15 and float(value).is_integer() else value


def read_notes(data: bytes) -> list[tuple[int, int, str, str]]:
    """Return row, column, author and text of each note of a part of comments."""
    authors: list[str] = []
    found: list[tuple[int, int, str, str]] = []
    row = column = author = 0
    for code, content in iter_records(data):
        if code == COMMENT_AUTHOR:
            authors.append(read_text(content, 0)[0])
        elif code == COMMENT and len(content) >= 20:
            author, row, _, column, _ = struct.unpack_from("<IIIII", content)
        elif code == COMMENT_TEXT:
            found.append((row, column, authors[author] if author < len(authors) else "", read_rich_text(content)))
    return found
