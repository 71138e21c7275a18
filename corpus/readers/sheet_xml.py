"""Merged cells, hidden rows and columns, and uncomputed formulas: openpyxl skips them when it reads row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from argot.corpus.readers.furniture_fields import read_labelled_fields
from argot.corpus.readers.sheet_parts import read_header_texts
from argot.types import DocumentField

_CHUNK_BYTES = 1 << 20
_MAX_AREAS = 10_000
"""Merged areas, and formulas, of a sheet."""
_MAX_CELL_BYTES = 10_000
"""Bytes of a cell that may lie across two chunks."""
_MERGED_CELL = re.compile(rb'<mergeCell ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
_UNCOMPUTED_CELL = re.compile(
    rb'<c r="([A-Z]{1,3}\d{1,7})"[^>]{0,200}><f(?: [^>]{0,300})?>[^<]{1,2000}</f>(?:<v ?/>|<v></v>)?</c>'
)
_HIDDEN_ROW = re.compile(
    rb"""<(?:\w{1,20}:)?row(?=\s[^>]{0,900}\bhidden=["'](?:1|true)["'])[^>]{0,900}?\sr=["'](\d{1,7})["']"""
)
_HIDDEN_COLUMNS = re.compile(rb"""<(?:\w{1,20}:)?col\s([^>]{0,900}?\bhidden=["'](?:1|true)["'][^>]{0,900})>""")
_FIRST, _LAST = (re.compile(rb"""\b%s=["'](\d{1,5})["']""" % name) for name in (b"min", b"max"))
_MAX_COLUMNS = 16_384


@dataclass(frozen=True, slots=True)
class MergedArea:
    """Rows and columns from 1, the last ones belong to it."""

    row: int
    column: int
    last_row: int
    last_column: int


@dataclass(frozen=True, slots=True)
class SheetExtras:
    """`uncomputed`: cells with a formula that no program has computed, such as `B7`. Rows and columns from 1.

    `fields`: the document properties in the header and the footer.
    """

    merged: Sequence[MergedArea] = ()
    uncomputed: frozenset[str] = frozenset()
    hidden_rows: frozenset[int] = frozenset()
    hidden_columns: frozenset[int] = frozenset()
    fields: Sequence[DocumentField] = ()

    def is_hidden(self, cell: str) -> bool:
        """Return True where a cell such as "B7" stands in a hidden row or column."""
        from openpyxl.utils.cell import coordinate_to_tuple

        try:
            row, column = coordinate_to_tuple(cell)
        except (ValueError, TypeError):
            return False
        return row in self.hidden_rows or column in self.hidden_columns


def read_sheet_extras(book: Any, sheet: Any) -> SheetExtras:
    """Return the extras of a sheet in a workbook that openpyxl has opened to be read row by row."""
    from openpyxl.utils import range_boundaries

    areas: dict[str, None] = {}
    uncomputed: set[str] = set()
    rows: set[int] = set()
    columns: set[int] = set()
    headers: dict[str, None] = {}
    for part in _read_pieces(book, sheet):
        # All hidden cells, however many they are: they must not be shown.
        rows.update(int(match[1]) for match in _HIDDEN_ROW.finditer(part))
        for match in _HIDDEN_COLUMNS.finditer(part):
            columns.update(_parse_columns(match[1]))
        if b"eaderFooter" in part:
            headers.update((text, None) for text in read_header_texts(part))
        if len(areas) <= _MAX_AREAS:
            areas.update((match[1].decode(), None) for match in _MERGED_CELL.finditer(part))
        if len(uncomputed) <= _MAX_AREAS:
            uncomputed.update(match[1].decode() for match in _UNCOMPUTED_CELL.finditer(part))
    bounds = (range_boundaries(area) for area in list(areas)[:_MAX_AREAS])
    merged = [MergedArea(r, c, last_r, last_c) for c, r, last_c, last_r in bounds]
    fields = read_labelled_fields(headers)
    return SheetExtras(merged, frozenset(uncomputed), frozenset(rows), frozenset(columns), fields)


def _parse_columns(attributes: bytes) -> range:
    first, last = _FIRST.search(attributes), _LAST.search(attributes)
    return range(int(first[1]), min(int(last[1]), _MAX_COLUMNS) + 1) if first and last else range(0)


def _read_pieces(book: Any, sheet: Any) -> Iterator[bytes]:
    """Yield the sheet in pieces that overlap, so that no cell is cut in all of them."""
    with book._archive.open(sheet._worksheet_path) as file:
        rest = b""
        while chunk := file.read(_CHUNK_BYTES):
            yield rest + chunk
            rest = (rest + chunk)[-_MAX_CELL_BYTES:]
