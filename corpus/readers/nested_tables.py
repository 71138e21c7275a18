"""Tables within the cells of other tables: data stays in its row, and layout tables are read block by block.

A pipe table cannot contain another. A small table in a data cell therefore becomes one line of it ("day: 4403; night:
4499"), and a large one is placed below the outer table under a number that the cell names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import Tag

_MAX_LINE_CHARS = 400
_MAX_CELL_CHARS = 600
"""A cell with more content beside a table is a part of a page."""
_PAGE_PART_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6", "form", "article", "section", "hr")


def flatten_nested_tables(root: Tag) -> None:
    """Move the tables out of the cells of each data table; layout tables stay unchanged."""
    around = {id(one): one for inner in root.select("table table") if (one := inner.find_parent("table")) is not None}
    # The innermost first: once flat it is an ordinary cell for the table around it.
    for outer in reversed(list(around.values())):
        rows = list(_group_cells(outer))
        if _is_data_table(rows):
            _flatten(outer, rows)


def _group_cells(table: Tag) -> Iterator[list[Tag]]:
    for row in table.find_all("tr"):
        if row.find_parent("table") is table:
            yield list(row.find_all(["td", "th"], recursive=False))


def _is_data_table(rows: list[list[Tag]]) -> bool:
    """Tell whether a table around others has rows of several short cells, few of which hold a table."""
    cells = [cell for row in rows for cell in row]
    filled = sum(bool(cell.get_text(strip=True)) for cell in cells)
    full = [row for row in rows if sum(bool(cell.get_text(strip=True)) for cell in row) > 1]
    nesting = [cell for cell in cells if cell.find("table") is not None]
    if len(full) < 2 or 2 * len(full) < len(rows) or 2 * len(nesting) > filled:
        return False
    # Two rows without headings around a table that has them: more often a page's columns than data.
    has_names = any(cell.name == "th" for cell in cells)
    if len(full) == 2 and not has_names and any(cell.find("th") is not None for cell in nesting):
        return False
    return all(cell.find(_PAGE_PART_TAGS) is None and _count_own_chars(cell) <= _MAX_CELL_CHARS for cell in cells)


def _count_own_chars(cell: Tag) -> int:
    inner = [one for one in cell.find_all("table") if one.find_parent("table") is cell.find_parent("table")]
    return len(cell.get_text(" ", strip=True)) - sum(len(one.get_text(" ", strip=True)) for one in inner)


def _flatten(outer: Tag, rows: list[list[Tag]]) -> None:
    below: list[Tag] = []
    for cell in (cell for row in rows for cell in row):
        for inner in cell.find_all("table"):
            if inner.find_parent("table") is not outer:
                continue
            is_short = len(inner.get_text(" ", strip=True)) <= _MAX_LINE_CHARS
            if is_short and inner.find(["table", "pre", "ul", "ol", "dl", *_PAGE_PART_TAGS]) is None:
                inner.replace_with(_make_line(inner))
            else:
                below.append(inner)
                inner.replace_with(_make_tag(f"(table {len(below)} below)"))
    for number, inner in reversed(list(enumerate(below, start=1))):
        outer.insert_after(_make_tag(f"Table {number} of the table above:"), inner)


def _make_line(table: Tag) -> Tag:
    """Return the table as one line: its rows separated by semicolons, two cells by a colon and more by commas."""
    rows = [[cell for cell in row if cell.get_text(strip=True) or cell.find("img")] for row in _group_cells(table)]
    line = _make_tag("")
    caption = table.find("caption")
    if caption is not None and caption.get_text(strip=True):
        line.append(f"{caption.get_text(' ', strip=True)}: ")
    names = _read_column_names(rows)
    for index, row in enumerate(one for one in (rows[1:] if names else rows) if one):
        line.append("; " if index else "")
        for column, cell in enumerate(row):
            line.append("" if not column else ", " if names or len(row) > 2 else ": ")
            if names:
                line.append(f"{names[column]}: ")
            for block in cell.find_all(["p", "div"]):
                block.insert_after(" ")
                block.unwrap()
            _strip_last_blanks(cell)
            line.extend(list(cell.contents))
    line.smooth()
    return line


def _strip_last_blanks(cell: Tag) -> None:
    """Remove the blanks at the end, so that a colon or semicolon directly follows the last word."""
    from bs4.element import NavigableString

    cell.smooth()
    if cell.contents and isinstance(last := cell.contents[-1], NavigableString):
        last.replace_with(str(last).rstrip())


def _read_column_names(rows: list[list[Tag]]) -> list[str]:
    """Return the names in the first row if it is a header, and all rows below have as many cells."""
    if len(rows) < 2 or any(cell.name != "th" for cell in rows[0]) or len({len(row) for row in rows}) > 1:
        return []
    return [cell.get_text(" ", strip=True) for cell in rows[0]]


def _make_tag(text: str) -> Tag:
    from bs4 import Tag

    made = Tag(name="p")
    made.append(text)
    return made
