"""What openpyxl leaves out where it reads a sheet row by row: merged cells, and formulas that nobody has computed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

_CHUNK = 1 << 20
_MOST = 10_000
"""Merged areas, and formulas, of a sheet."""
_LONGEST_CELL = 10_000
"""Bytes of a cell that may lie across two chunks."""
_MERGED = re.compile(rb'<mergeCell ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
_UNCOMPUTED = re.compile(
    rb'<c r="([A-Z]{1,3}\d{1,7})"[^>]{0,200}><f(?: [^>]{0,300})?>([^<]{1,2000})</f>(?:<v ?/>|<v></v>)?</c>'
)


@dataclass(frozen=True, slots=True)
class MergedArea:
    """Rows and columns from 1, the last ones belong to it."""

    row: int
    column: int
    last_row: int
    last_column: int


@dataclass(frozen=True, slots=True)
class SheetExtras:
    """`formulas`: by cell, as in `B7`, with their equals sign."""

    merged: Sequence[MergedArea] = ()
    formulas: Mapping[str, str] = field(default_factory=dict)


def sheet_extras(book: Any, sheet: Any) -> SheetExtras:
    """Of a sheet of a workbook that openpyxl has opened to be read row by row."""
    from openpyxl.utils import range_boundaries

    areas: dict[str, None] = {}
    formulas: dict[str, str] = {}
    for part in _parts(book, sheet):
        areas.update((match[1].decode(), None) for match in _MERGED.finditer(part))
        formulas.update((m[1].decode(), _formula(m[2])) for m in _UNCOMPUTED.finditer(part))
        if len(areas) > _MOST or len(formulas) > _MOST:
            break
    bounds = (range_boundaries(area) for area in list(areas)[:_MOST])
    return SheetExtras([MergedArea(r, c, last_r, last_c) for c, r, last_c, last_r in bounds], formulas)


def _parts(book: Any, sheet: Any) -> Iterator[bytes]:
    """The sheet in pieces that overlap, so that no cell is cut in all of them."""
    with book._archive.open(sheet._worksheet_path) as file:
        rest = b""
        while chunk := file.read(_CHUNK):
            yield rest + chunk
            rest = (rest + chunk)[-_LONGEST_CELL:]


def _formula(xml: bytes) -> str:
    return f"={unescape(xml.decode('utf-8', 'replace'))}"
