"""Binary workbooks of Excel (.xlsb), in the tables that other workbooks become."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import biff12
from argot.corpus.readers.archives import check_archive, read_core_properties
from argot.corpus.readers.file_kinds import BINARY_WORKBOOK_KIND
from argot.corpus.readers.furniture_fields import read_labelled_fields
from argot.corpus.readers.grid_sheets import MAX_ROWS, GridCell, GridSheet, place_cells, write_note
from argot.corpus.readers.office_package import OfficePackage
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.sheet_parts import SheetParts
from argot.corpus.readers.sheet_xml import MergedArea, SheetExtras
from argot.corpus.readers.sheets import SheetTexts
from argot.corpus.readers.workbooks import WorkbookSheet
from argot.corpus.readers.xls import convert_serial
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

MEDIA_TYPE = "application/vnd.ms-excel.sheet.binary.macroEnabled.12"
_ELEMENTS_PER_SECOND = 110_000
_BYTES_PER_SECOND = 3_000_000
_MAX_COLUMNS = 501


def read_xlsb(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Every sheet is a heading and a page mark; values as last computed by the program that saved the file.

    Hidden sheets, rows and columns are left out, as in other workbooks. Macros are not run.
    """
    checked = check_archive(data, name, limits, elements_a_second=_ELEMENTS_PER_SECOND, kind=BINARY_WORKBOOK_KIND)
    package, omissions = OfficePackage(checked.data), Omissions()
    book = _BinaryWorkbook(package, name, limits, omissions)
    texts = SheetTexts(book.make_sheets(), name, limits)
    texts.read()
    core = read_core_properties(checked.data)
    return ParsedDocument(
        core.title or name_without_suffix(name),
        "".join(texts.parts),
        MEDIA_TYPE,
        pages=tuple(texts.pages),
        date=core.date,
        warnings=(*checked.warnings, *texts.warnings, *omissions.warnings()),
        fields=tuple(dict.fromkeys([*core.fields, *read_labelled_fields(book.headers)])),
    )


class _BinaryWorkbook:
    """The parts of a binary workbook that its sheets share."""

    def __init__(self, package: OfficePackage, name: str, limits: ReadLimits, omissions: Omissions) -> None:
        self._package, self._omissions = package, omissions
        self._name, self._limits = name, limits
        self._main = package.find_main_part() or "xl/workbook.bin"
        self._size = 0
        self._strings = biff12.read_shared_strings(self._read_related("sharedStrings"))
        self._formats = biff12.read_formats(self._read_related("styles"))
        self._from_1904 = False
        self.headers: list[str] = []

    def make_sheets(self) -> list[WorkbookSheet]:
        """Return the sheets in order."""
        if not self._package.has_part(self._main):
            raise UnreadableDocument(self._name, "damaged: it holds no workbook", "Get a complete copy of it.")
        entries, self._from_1904 = biff12.read_sheet_list(self._read(self._main))
        relations = self._package.read_relationships(self._main)
        sheets = []
        for entry in entries:
            target = relations.get(entry.relation)
            path = target.target if target else ""
            is_sheet = target is not None and target.kind == "worksheet" and self._package.has_part(path)
            grid = self._make_grid(path) if is_sheet and not entry.is_hidden else None
            sheets.append(WorkbookSheet(entry.title, path, entry.is_hidden, grid))
        return sheets

    def _read_related(self, kind: str) -> bytes:
        return b"".join(self._read(part) for part in self._package.find_related(self._main, kind)[:1])

    def _read(self, part: str) -> bytes:
        data = self._package.read(part) if self._package.has_part(part) else b""
        self._size += len(data)
        self._limits.check_markup(self._size, _BYTES_PER_SECOND, "cells", self._name)
        return data

    def _make_grid(self, path: str) -> GridSheet:
        data = self._read(path)
        found = biff12.read_sheet_records(data)
        self.headers += (" ".join(re.sub(r'&(?:"[^"]*"|\d+|[A-Z&])', " ", one).split()) for one in found.headers)
        extras = SheetExtras(
            [MergedArea(top + 1, left + 1, bottom + 1, right + 1) for top, bottom, left, right in found.merged],
            frozenset(),
            frozenset(row + 1 for row in found.hidden_rows),
            frozenset(column + 1 for column in found.hidden_columns),
        )
        notes = [
            write_note(row, column, author, text.strip().removeprefix(f"{author}:"))
            for part in self._package.find_related(path, "comments")
            for row, column, author, text in biff12.read_notes(self._read(part))
            if row not in found.hidden_rows and column not in found.hidden_columns and text.strip()
        ]
        blocks = list(SheetParts(self._package, path, self._omissions, extras.is_hidden).read_blocks())
        return GridSheet(lambda: self._read_rows(data), extras, [*blocks, *notes])

    def _read_rows(self, data: bytes) -> Iterator[list[GridCell]]:
        expected = 0
        for row, cells in groupby(biff12.iter_cells(data, self._strings), key=lambda cell: cell[0]):
            if row < expected or row >= MAX_ROWS:
                continue
            for _ in range(expected, row):
                yield []
            expected = row + 1
            yield place_cells(
                ((column, *self._convert(value, style)) for _, column, value, style in cells), _MAX_COLUMNS
            )

    def _convert(self, value: Any, style: int) -> tuple[Any, str]:
        """Return the value as openpyxl gives it, and its number format."""
        from openpyxl.styles.numbers import is_date_format

        number_format = self._formats[style] if style < len(self._formats) else ""
        if isinstance(value, int | float) and not isinstance(value, bool) and is_date_format(number_format):
            return convert_serial(float(value), int(self._from_1904)), number_format
        return value, number_format
