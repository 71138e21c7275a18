"""The cells of an HTML table as a grid, and the marks that elements leave in the text until it is Markdown."""

from __future__ import annotations

import re
from typing import Any

OUTER_TABLE_MARK = "\x03"
"""An attribute set on tables that contain tables; no document can have it."""
TERM_MARK, DEFINITION_MARK = "\x01", "\x02"
"""Marks that join a definition to its term once both are Markdown; the source has no such characters left."""
# A few cells that claim to span thousands of columns would fill the memory.
_MAX_SPAN_COLUMNS = 50
_MAX_SPAN_ROWS = 65_534
"""According to the standard (HTML, 4.9.11)."""
_MAX_CELLS = 2_000_000


def build_grid(converter: Any, table: Any) -> tuple[list[list[str]], int]:
    """Return the cells of a table, spans filled with the cell they come from, and the number of header rows."""
    rows: list[list[str]] = []
    headers, held, made = 0, {}, 0  # type: int, dict[int, tuple[int, str]], int
    elements = _sort_rows(table)
    widest = _measure_columns(elements)
    group = None
    for element in elements:
        if element.parent is not group:  # no cell extends beyond its group of rows
            held, group = {}, element.parent
        row: list[str] = []
        cells = list(element.find_all(["td", "th"], recursive=False))
        for each in cells:
            while len(row) in held:
                row.append(_take_held(held, len(row)))
            content = _read_cell(converter, each)
            across = _parse_span(each, "colspan", _MAX_SPAN_COLUMNS)
            for _ in range(min(across, widest) if len(cells) == 1 and widest else across):
                if (down := _parse_span(each, "rowspan", _MAX_SPAN_ROWS)) > 1:
                    held[len(row)] = (down - 1, content)
                row.append(content)
        while len(row) in held:
            row.append(_take_held(held, len(row)))
        made += len(row)
        if made > _MAX_CELLS:
            break
        is_header = bool(cells) and (element.find_parent("thead") is not None or all(c.name == "th" for c in cells))
        # Only rows at the top are headers: a row of headings further down is an ordinary row.
        headers += is_header and headers == len(rows)
        rows.append(row)
    return rows, headers


def _sort_rows(table: Any) -> list[Any]:
    """Return the rows from top to bottom: browsers show a head above and a foot below, wherever they are written."""
    place = {"thead": 0, "tfoot": 2}
    return sorted(table.find_all("tr"), key=lambda row: place.get(row.parent.name, 1))


def _measure_columns(rows: list[Any]) -> int:
    """Return the columns of the widest row of several cells: a single cell that claims more means "all of them"."""
    cells = [row.find_all(["td", "th"], recursive=False) for row in rows]
    return max(
        (sum(_parse_span(one, "colspan", _MAX_SPAN_COLUMNS) for one in row) for row in cells if len(row) > 1), default=0
    )


def _take_held(held: dict[int, tuple[int, str]], column: int) -> str:
    left, content = held.pop(column)
    if left > 1:
        held[column] = (left - 1, content)
    return content


def _parse_span(element: Any, attribute: str, largest: int) -> int:
    value = str(element.get(attribute) or "1").strip()
    # `int` would also take other scripts' digits, and numbers of any length.
    if not (value.isascii() and value.isdigit() and len(value) < 6):
        return 1
    # A rowspan of 0 reaches to the end of its group of rows.
    return largest if attribute == "rowspan" and int(value) == 0 else min(max(int(value), 1), largest)


def _read_cell(converter: Any, element: Any) -> str:
    # List items and breaks end up on one line, since a pipe table has no second.
    text = converter.process_tag(element) if element.contents else ""
    # Fences of code and a line break's backslash have no meaning within a cell.
    text = re.sub(r"^```\w*$|\\$", "", text, flags=re.MULTILINE)
    return " ".join(text.replace(TERM_MARK, ": ").replace(DEFINITION_MARK, "").split()).rstrip("; ")


def read_line(element: Any) -> str:
    return " ".join(element.get_text(" ").split())[:300] if element is not None else ""
