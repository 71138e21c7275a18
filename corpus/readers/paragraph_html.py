"""Paragraphs, list items and rows of tables as HTML, for readers of formats that know no blocks around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

_NUMBER_LABEL = re.compile(r"(\d{1,6})[.)]?")
_WORD_LABEL = re.compile(r"\(?[\w.]{1,12}[.):]?")
_EDGE_TOLERANCE = 120
"""Twips (a twentieth of a point) by which the edges of one column may differ from row to row."""
_MAX_COLUMNS = 200
_MAX_LIST_LEVELS = 9


@dataclass(slots=True)
class TextParagraph:
    """One paragraph. `html`: its text; `after`: blocks that follow it, such as notes.

    `heading`: the level, 0 for none. `label`: what is printed before an item of a list; `list_level` counts from 0.
    """

    html: str
    heading: int = 0
    label: str = ""
    list_level: int = 0
    after: list[str] = field(default_factory=list)


@dataclass(slots=True)
class TableRow:
    """One row. `edges`: the right edge of each cell in twips, empty if unknown.

    `below`: the cells that are merged with those above them.
    """

    cells: list[str]
    edges: Sequence[int] = ()
    is_header: bool = False
    below: frozenset[int] = frozenset()
    after: list[str] = field(default_factory=list)


Block = TextParagraph | TableRow


def write_blocks(blocks: Iterable[Block]) -> str:
    """Return the HTML of paragraphs and rows: neighbouring rows are one table, neighbouring items one list."""
    written: list[str] = []
    for kind, group in groupby(blocks, _name_group):
        members = list(group)
        if kind == "table":
            written.append(_write_table([one for one in members if isinstance(one, TableRow)]))
        elif kind == "list":
            written.append("".join(_write_list([one for one in members if isinstance(one, TextParagraph)])))
        else:
            written += (_write_paragraph(one) for one in members if isinstance(one, TextParagraph))
        if kind != "text":
            written += (note for one in members for note in one.after)
    return "".join(written)


def _name_group(block: Block) -> str:
    if isinstance(block, TableRow):
        return "table"
    return "list" if block.label and not block.heading else "text"


def _write_paragraph(one: TextParagraph) -> str:
    notes = "".join(one.after)
    if not one.html.strip():
        return notes
    if one.heading:
        label = f"{escape(one.label)} " if _WORD_LABEL.fullmatch(one.label) else ""
        level = min(one.heading, 6)
        return f"<h{level}>{label}{one.html}</h{level}>\n{notes}"
    return f"<p>{one.html}</p>\n{notes}"


def _write_list(items: Sequence[TextParagraph]) -> Iterator[str]:
    """Yield the HTML of items that stand at several levels."""
    open_lists: list[tuple[int, str]] = []
    for item in items:
        level = min(max(item.list_level, 0), _MAX_LIST_LEVELS)
        number = _NUMBER_LABEL.fullmatch(item.label.strip())
        tag = "ol" if number else "ul"
        while open_lists and (open_lists[-1][0] > level or (open_lists[-1][0] == level and open_lists[-1][1] != tag)):
            yield f"</li></{open_lists.pop()[1]}>"
        if open_lists and open_lists[-1][0] == level:
            yield "</li>"
        else:
            open_lists.append((level, tag))
            yield f"<{tag}>"
        value = f' value="{int(number[1])}"' if number else ""
        label = "" if number or not _WORD_LABEL.fullmatch(item.label.strip()) else f"{escape(item.label.strip())} "
        yield f"<li{value}>{label}{item.html}"
    while open_lists:
        yield f"</li></{open_lists.pop()[1]}>"
    yield "\n"


def _write_table(rows: Sequence[TableRow]) -> str:
    edges = _join_edges(rows)
    head, body = list[str](), list[str]()
    above: dict[int, str] = {}
    for row in rows:
        cells = []
        for number, cell in enumerate(row.cells):
            # A cell that is merged with the one above it shows that one's text.
            text = above.get(number, "") if number in row.below and not cell.strip() else cell
            above[number] = text
            tag = "th" if row.is_header else "td"
            span = _count_columns(row.edges, number, edges)
            cells.append(f'<{tag} colspan="{span}">{text}</{tag}>' if span > 1 else f"<{tag}>{text}</{tag}>")
        (head if row.is_header and not body else body).append(f"<tr>{''.join(cells)}</tr>")
    top = f"<thead>{''.join(head)}</thead>" if head else ""
    return f"<table>{top}{''.join(body)}</table>\n"


def _join_edges(rows: Sequence[TableRow]) -> list[int]:
    """Return the right edges of a table's columns."""
    joined: list[int] = []
    for edge in sorted({edge for row in rows for edge in row.edges[: len(row.cells)]}):
        if not joined or edge - joined[-1] > _EDGE_TOLERANCE:
            joined.append(edge)
    return joined if len(joined) <= _MAX_COLUMNS else []


def _count_columns(edges: Sequence[int], number: int, columns: Sequence[int]) -> int:
    """Return how many of the table's columns a cell covers."""
    if number >= len(edges):
        return 1
    left = edges[number - 1] if number else -(1 << 30)
    return max(1, sum(left + _EDGE_TOLERANCE < edge <= edges[number] + _EDGE_TOLERANCE for edge in columns))
