"""Steps that put what stands in the text of a Word file into elements that mammoth reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.docx_equations import write_equations
from argot.corpus.readers.docx_form_fields import write_form_values
from argot.corpus.readers.docx_package import W, WordPackage
from argot.corpus.readers.docx_symbols import write_symbol_characters
from argot.corpus.readers.docx_wrappers import lift_unknown_elements
from argot.corpus.readers.omissions import Omissions

# Tables of Word files whose cells say how many columns they take: wrong counts, and rows that begin further right.

_SPAN_TAGS = tuple(f"{W}{name}" for name in ("gridSpan", "gridBefore", "gridAfter"))
_COLUMN_COUNT = re.compile("[0-9]{1,9}")
_MAX_EMPTY_CELLS = 100
"""Put in front of a row; more columns than a page can show."""


def repair_grids(root: Any, _: Omissions) -> None:
    """Drop counts of columns that are no numbers, and put empty cells where a row begins behind the first column."""
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


_TEXT_KINDS = ("footnotes", "endnotes", "comments", "header", "footer")
_STEPS = (lift_unknown_elements, repair_grids, write_equations, write_form_values, write_symbol_characters)


def prepare_text(package: WordPackage, omissions: Omissions) -> None:
    """Write equations, forms and symbols of all texts of the file as characters."""
    for root in _iter_text_roots(package):
        for step in _STEPS:
            step(root, omissions)


def _iter_text_roots(package: WordPackage) -> Iterator[Any]:
    related = [one.part for one in package.read_relations(package.document).values() if one.kind in _TEXT_KINDS]
    for part in dict.fromkeys((package.document, *related)):
        root = package.parse_tree(part)
        if root is not None:
            yield root
