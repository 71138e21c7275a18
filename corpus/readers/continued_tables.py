"""Tables that continue on the next page: the continuation gets the header of the first part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from argot.corpus.readers.grid_rows import TableRows, build_rows
from argot.corpus.readers.pdf_lines import Line
from argot.corpus.readers.pdf_tables import PageTable

_EDGE_TOLERANCE_POINTS = 12.0
_MAX_LINES_BETWEEN = 3
"""Lines that may be below the one part, or above the other: notes, and "continued"."""


def repeat_headers_overleaf(
    pages: Sequence[Sequence[PageTable]], lines: Sequence[Sequence[Line]]
) -> Iterator[list[tuple[PageTable, str]]]:
    """Yield the tables of each page with their Markdown, under the header of the previous page if they continue."""
    last: tuple[PageTable, TableRows] | None = None
    for tables, of_page in zip(pages, lines, strict=True):
        read = [(table, build_rows(table.cells)) for table in tables]
        if last is not None and read:
            top = min(range(len(read)), key=lambda number: read[number][0].area.y0)
            table, rows = read[top]
            above = sum(line.y1 < table.area.y0 for line in of_page)
            if above <= _MAX_LINES_BETWEEN and _is_continuation(last, table, rows):
                read[top] = table, rows.under(last[1].header)
        yield [(table, rows.markdown) for table, rows in read]
        last = max(read, key=lambda pair: pair[0].area.y1, default=None)
        if last is not None and sum(line.y0 > last[0].area.y1 for line in of_page) > _MAX_LINES_BETWEEN:
            last = None


def _is_continuation(last: tuple[PageTable, TableRows], table: PageTable, rows: TableRows) -> bool:
    """Return True if a table has the columns of the last one and no header of its own."""
    before, header = last[0], last[1].header
    same = (
        abs(before.area.x0 - table.area.x0) < _EDGE_TOLERANCE_POINTS
        and abs(before.area.x1 - table.area.x1) < _EDGE_TOLERANCE_POINTS
    )
    if not header or not same or len(header) != max(map(len, rows.body), default=0):
        return False
    return not rows.header or (before.bold_head and not table.bold_head)
