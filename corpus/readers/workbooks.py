"""Workbooks opened for reading: their sheets in order, chart sheets included, and the parts left out for that."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from argot.corpus.readers.archives import CheckedArchive
from argot.corpus.readers.office_package import (
    OfficePackage,
    Relationship,
    drop_dangling_relationships,
    drop_related,
    parse_part,
    repair_parts,
    replace_part,
    translate_strict,
    warn_of_missing,
)

_BLANK_PARTS = {
    "worksheet": b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData/></worksheet>',
}
_DISPENSABLE_KINDS = (
    "styles",
    "theme",
    "externalLink",
    "chartsheet",
    "custom-properties",
    "connections",
    "pivotCacheDefinition",
)
"""Kinds of parts on which openpyxl can fail and that hold no cells."""
_OPENING_STEPS: tuple[tuple[str, ...], ...] = ((), ("chartsheet",), _DISPENSABLE_KINDS)
"""The parts to leave out of a damaged workbook, step by step, until openpyxl opens it."""
_MAX_NAMED_SHEETS = 5
_VISIBLE_STATE = "visible"


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
        Exception: any error of openpyxl if its cells cannot be read even so.
    """
    data, missing = drop_dangling_relationships(translate_strict(checked.data), _BLANK_PARTS)
    warnings = [*checked.warnings, *warn_of_missing(missing, checked.warnings)]
    whole = data
    try:
        book = _load(data)
    except Exception:
        repaired, damaged = repair_parts(data)
        whole = repaired
        if damaged:
            warnings.append(f"damaged parts were read as far as they go: {', '.join(damaged[:10])}")
        book, left_out = _load_in_steps(repaired)
        if "styles" in left_out:
            warnings.append(
                "the formats of its numbers could not be read: dates and percentages stand as plain numbers"
            )
    package = OfficePackage(whole)
    if lost := _find_lost_sheets(package)[1]:
        named = (" ".join(str(sheet.get("name")).split()) for sheet in lost[:_MAX_NAMED_SHEETS])
        warnings.append(f"missing from the file: sheet {', '.join(named)}")
    return OpenedWorkbook(book, whole, package, tuple(_list_sheets(book, package)), tuple(warnings))


def _load_in_steps(data: bytes) -> tuple[Any, tuple[str, ...]]:
    """Return the workbook without the kinds of parts that openpyxl fails at, and these kinds."""
    for kinds in _OPENING_STEPS:
        smaller = drop_related(data, OfficePackage(data).find_main_part(), kinds) if kinds else data
        try:
            return _load(_drop_lost_sheets(smaller)), kinds
        except Exception:
            if kinds == _OPENING_STEPS[-1]:
                raise
    raise AssertionError("the last step returns or raises")


def _drop_lost_sheets(data: bytes) -> bytes:
    """Return the workbook without the entries of sheets that it lacks: openpyxl fails at them."""
    package = OfficePackage(data)
    root, lost = _find_lost_sheets(package)
    for sheet in lost:
        sheet.getparent().remove(sheet)
    return replace_part(data, package.find_main_part(), root) if lost else data


def _find_lost_sheets(package: OfficePackage) -> tuple[Any, list[Any]]:
    """Return the main part and, in it, the entries of the sheets that the workbook lists and does not hold."""
    main = package.find_main_part()
    root = parse_part(package.read(main)) if main else None
    related = package.read_relationships(main)
    listed = list(root.iter("{*}sheet")) if root is not None else []
    return root, [sheet for sheet in listed if _find_relation(sheet, related) is None]


def _find_relation(sheet: Any, related: Mapping[str, Relationship]) -> Relationship | None:
    ids = (value for name, value in sheet.attrib.items() if name.endswith("}id"))
    return next((related[id_] for id_ in ids if id_ in related), None)


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
        target = _find_relation(element, related)
        is_hidden = element.get("state", _VISIBLE_STATE) != _VISIBLE_STATE
        if title in cells or (target is not None and target.kind == "chartsheet"):
            yield WorkbookSheet(title, target.target if target else "", is_hidden, cells.get(title))
