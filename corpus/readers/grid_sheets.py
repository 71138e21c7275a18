"""Sheets of spreadsheets that openpyxl does not open, in the form in which `sheets` turns rows into tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from argot.corpus.readers.sheet_xml import SheetExtras

MAX_ROWS = 1_048_576
"""The rows of a sheet in every program of today."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell, with the attributes of openpyxl's cells that `sheets` reads. `column` counts from 1."""

    value: Any = None
    number_format: str = ""
    column: int = 0

    @property
    def column_letter(self) -> str:
        return name_column(self.column)


@dataclass(slots=True)
class GridSheet:
    """The cells of one sheet. `read_rows`: yields every row from the first on, blank ones included.

    `notes`: Markdown that follows the tables, such as "Note on B2: checked".
    """

    read_rows: Callable[[], Iterable[Sequence[GridCell]]]
    extras: SheetExtras = field(default_factory=SheetExtras)
    notes: Sequence[str] = ()

    def reset_dimensions(self) -> None:
        """Do nothing: a grid claims no size. openpyxl's sheets do, often a wrong one."""

    def iter_rows(self) -> Iterator[Sequence[GridCell]]:
        """Yield the rows."""
        yield from self.read_rows()


def place_cells(cells: Iterable[tuple[int, Any, str]], max_columns: int = 16_384) -> list[GridCell]:
    """Return a row of cells, given by column from 0, value and number format, with the blank ones between them."""
    row: list[GridCell] = []
    for column, value, number_format in cells:
        if 0 <= column < max_columns:
            row += [GridCell(column=number) for number in range(len(row) + 1, column + 2)]
            row[column] = GridCell(value, number_format, column + 1)
    return row


def name_column(number: int) -> str:
    """Return the letters of a column, counted from 1: "A", "Z", "AA"."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def write_note(row: int, column: int, author: str, text: str) -> str:
    """Return a cell's note in the words of the other workbooks. Row and column count from 0."""
    by = f" ({author})" if author else ""
    return f"Note on {name_column(column + 1)}{row + 1}{by}: {' '.join(text.split())}"
