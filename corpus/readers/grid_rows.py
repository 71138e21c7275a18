"""Tables as rows of text: one header row, merged cells repeated, and a header carried over the page break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from argot.corpus.readers.pipe_tables import render_pipe_table
from argot.corpus.readers.table_grid import NUMBER_LIKE, YEAR, GridCell

_MAX_HEADER_ROWS = 6


@dataclass(frozen=True, slots=True)
class TableRows:
    """`title`: a first row that spans all columns. `header` is empty if the table begins with figures."""

    title: str
    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]

    @property
    def markdown(self) -> str:
        table = render_pipe_table([self.header, *self.body] if self.header else self.body)
        return f"{self.title}\n\n{table}" if self.title else table

    def under(self, header: Sequence[str]) -> TableRows:
        """Return the rows under another table's header; a first row taken for a header becomes an ordinary row."""
        return replace(self, header=tuple(header), body=(self.header, *self.body) if self.header else self.body)


def build_rows(cells: Sequence[GridCell]) -> TableRows:
    """Return the cells row by row.

    A cell over several rows is repeated in each, so that a row can be read alone. A cell over several columns is
    repeated in the header but not in the body, where it would be read as several figures.
    """
    used_rows, used_columns = (sorted({getattr(cell, name) for cell in cells}) for name in ("row", "column"))
    width = len(used_columns)
    title = [cell for cell in cells if cell.row == used_rows[0]]
    over_all = len(title) == 1 and width > 1 and sum(map(title[0].reaches, used_columns)) == width
    if over_all and len(used_rows) > 2 and title[0].last_row == title[0].row:
        rest = build_rows([cell for cell in cells if cell is not title[0]])
        return replace(rest, title=f"{title[0].text}\n\n{rest.title}".strip())
    at = {
        (row, c): cell
        for cell in cells
        for row in range(cell.row, cell.last_row + 1)
        for c in range(cell.column, cell.last_column + 1)
    }
    rows = [[at.get((row, column)) for column in used_columns] for row in used_rows]
    count = _count_header_rows(rows)
    header = [
        " ".join(cell.text for cell in dict.fromkeys(row[c] for row in rows[:count]) if cell) for c in range(width)
    ]
    body = [
        tuple(
            cell.text if cell and (number == 0 or row[number - 1] is not cell) else ""
            for number, cell in enumerate(row)
        )
        for row in rows[count:]
    ]
    return TableRows("", tuple(header) if count else (), tuple(body))


def _count_header_rows(rows: Sequence[Sequence[GridCell | None]]) -> int:
    """Return the number of rows above the first row of figures: units, years, names over several lines."""
    count = 0
    for label, *cells in rows[: min(_MAX_HEADER_ROWS, len(rows) - 1)]:
        filled = [cell.text for cell in cells if cell]
        figures = any(NUMBER_LIKE.fullmatch(text) and not YEAR.fullmatch(text) for text in filled)
        if label and (figures or (not filled and count > 0)):
            break
        count += 1
        if label and filled:
            break
    # The name of the first column may extend down beside headings and those below them.
    reaching = {cell: sum(cell in row for row in rows[:_MAX_HEADER_ROWS]) for cell in rows[0] if cell}
    wide = any(sum(cell is other for other in rows[0]) > 1 for cell in reaching)
    if count == 1 and (wide or sum(down > 1 for down in reaching.values()) > 1):
        count = max(count, min(max(reaching.values()), len(rows) - 1))
    return count
