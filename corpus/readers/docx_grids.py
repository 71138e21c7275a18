"""Tables of Word files whose cells declare their columns: wrong counts, and rows that begin further right."""

from __future__ import annotations

import re
from typing import Any

from argot.corpus.readers.docx_package import W
from argot.corpus.readers.omissions import Omissions

_SPAN_TAGS = tuple(f"{W}{name}" for name in ("gridSpan", "gridBefore", "gridAfter"))
_COLUMN_COUNT = re.compile("[0-9]{1,9}")
_MAX_EMPTY_CELLS = 100
"""Inserted before a row; more columns than a page can show."""


def repair_grids(root: Any, _: Omissions) -> None:
    """Drop counts of columns that are no numbers, and insert empty cells where a row begins after the first column."""
    for span in list(root.iter(*_SPAN_TAGS)):
        if not _COLUMN_COUNT.fullmatch(span.get(f"{W}val") or ""):
            span.getparent().remove(span)
    for before in list(root.iter(f"{W}gridBefore")):
        row = before.getparent().getparent()
        if row is not None and row.tag == f"{W}tr":
            for _number in range(min(int(before.get(f"{W}val")), _MAX_EMPTY_CELLS)):
                before.getparent().addnext(_make_empty_cell(row))


def _make_empty_cell(row: Any) -> Any:
    cell = row.makeelement(f"{W}tc")
    cell.append(cell.makeelement(f"{W}p"))
    return cell
