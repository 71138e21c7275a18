"""Workbooks opened for reading: their sheets in order, chart sheets included, and what had to be left out for that."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from argot.corpus.readers.archives import CheckedArchive
from argot.corpus.readers.office_package import (
    OfficePackage,
    drop_dangling_relationships,
    parse_part,
    repair_parts,
    translate_strict,
    warn_of_missing,
    without_related,
)

_BLANKS = {
    "worksheet": b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData/></worksheet>',
}
_DISPENSABLE = (
    "styles",
    "theme",
    "externalLink",
    "chartsheet",
    "custom-properties",
    "connections",
    "pivotCacheDefinition",
)
"""Kinds of parts on which openpyxl can fail and that hold no cells."""
_VISIBLE = "visible"


@dataclass(frozen=True, slots=True)
class WorkbookSheet:
    """One sheet. `cells`: openpyxl's sheet, None for a sheet that is a chart. `path`: its part."""

    title: str
    path: str
    is_hidden: bool
    cells: Any = None


@dataclass(frozen=True, slots=True)
class OpenedWorkbook:
    """A workbook that openpyxl has opened, and the package it was opened from."""

    book: Any
    data: bytes
    package: OfficePackage
    sheets: tuple[WorkbookSheet, ...]
    warnings: tuple[str, ...] = ()


def open_workbook(checked: CheckedArchive) -> OpenedWorkbook:
    """Return the workbook, opened without the parts that openpyxl cannot read.

    Raises:
        Exception: whatever openpyxl raises where its cells cannot be read even so.
    """
    data, missing = drop_dangling_relationships(translate_strict(checked.data), _BLANKS)
    warnings = [*checked.warnings, *warn_of_missing(missing, checked.warnings)]
    whole = data
    try:
        book = _load(data)
    except Exception:
        repaired, damaged = repair_parts(data)
        whole = repaired
        if damaged:
            warnings.append(f"damaged parts were read as far as they go: {', '.join(damaged[:10])}")
        try:
            book = _load(repaired)
        except Exception:
            # Programs write styles that openpyxl refuses: the cells can be read without them.
            book = _load(without_related(repaired, OfficePackage(repaired).find_main_part(), _DISPENSABLE))
            warnings.append(
                "the formats of its numbers could not be read: dates and percentages stand as plain numbers"
            )
    package = OfficePackage(whole)
    return OpenedWorkbook(book, whole, package, tuple(_list_sheets(book, package)), tuple(warnings))


def _load(data: bytes) -> Any:
    import openpyxl

    return openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)


def _list_sheets(book: Any, package: OfficePackage) -> Iterator[WorkbookSheet]:
    main = package.find_main_part()
    root = parse_part(package.read(main)) if main else None
    related = package.read_relationships(main)
    cells = {sheet.title: sheet for sheet in book.worksheets}
    for element in root.iter("{*}sheet") if root is not None else ():
        title = str(element.get("name") or "")
        target = next(
            (related[id_] for name, id_ in element.attrib.items() if name.endswith("}id") and id_ in related), None
        )
        is_hidden = element.get("state", _VISIBLE) != _VISIBLE
        if title in cells or (target is not None and target.kind == "chartsheet"):
            yield WorkbookSheet(title, target.target if target else "", is_hidden, cells.get(title))
