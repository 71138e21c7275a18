"""The file that comes back from an import in part: what was left out, with the reason for each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from argot.jargon_db.formats.column_guess import name_column
from argot.jargon_db.formats.column_names import UNUSED, find_field
from argot.jargon_db.formats.column_use import ColumnUse
from argot.jargon_db.formats.csv_format import NUL, guard_formula
from argot.jargon_db.formats.glossary_file import RejectedRow
from argot.jargon_db.formats.reason_columns import PLACE, REASON
from argot.jargon_db.formats.table_format import COLUMNS, MORE_COLUMNS, choose_sheet_context
from argot.jargon_db.formats.table_rows import describe_row
from argot.jargon_db.store.inputs import list_given_fields

_OWN_COLUMNS = tuple(ColumnUse(name, name, "name") for name in (*COLUMNS, *MORE_COLUMNS) if "context_" not in name)
_CONTEXT = ColumnUse("context", "context", "name")


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet's columns, the place of each in the file of the rest, and the context of rows that name none."""

    columns: tuple[ColumnUse, ...]
    places: tuple[int, ...]
    context: str = ""


def write_rejected(rows: Sequence[RejectedRow], columns: Sequence[ColumnUse], context: str = "") -> str:
    """Return a CSV file of the rows, to be mended and imported: with the columns of their table, or those of all their
    sheets, each field once; else with those of Argot. What a row cannot hold is named with its reason. `context` is
    the one that the person gave for rows that name none.
    """
    sheets, used = _lay_out_columns(rows, columns, context)
    written = [(one, *_write_cells(one, sheets.get(_find_sheet(one, sheets)), used)) for one in rows]
    width = max([len(used), *(len(cells) for _, cells, _ in written)])
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [*(_name_header(one, at) for at, one in enumerate(used)), *[""] * (width - len(used)), PLACE, REASON]
    )
    for one, cells, reason in written:
        filled = [*cells, *[""] * (width - len(cells)), one.place, reason]
        writer.writerow([guard_formula(cell.replace(NUL, "")) for cell in filled])
    return out.getvalue()


def _lay_out_columns(
    rows: Sequence[RejectedRow], columns: Sequence[ColumnUse], context: str
) -> tuple[dict[str, _Sheet], list[ColumnUse]]:
    """Return the sheets that the rows come from, by name, and the columns of the file of the rest."""
    if not columns:
        return {}, list(_OWN_COLUMNS) if any(one.sense for one in rows) else []
    of_sheets: dict[str, list[ColumnUse]] = {}
    for one in columns:
        of_sheets.setdefault(one.sheet, []).append(one)
    if len(of_sheets) == 1 and "" in of_sheets:
        return {"": _Sheet(tuple(columns), tuple(range(len(columns))))}, list(columns)
    named = sum(any(one.kind in ("term", "abbreviation") for one in own) for own in of_sheets.values()) > 1
    wanted = {_find_sheet(one, of_sheets) for one in rows}
    places: dict[tuple[str, int], int] = {}
    used: list[ColumnUse] = []
    sheets = {}
    for name, own in of_sheets.items():
        if name not in wanted:
            continue
        at = tuple(_place_columns(own, places, used))
        sheets[name] = _Sheet(tuple(own), at, context or choose_sheet_context(name, named=named))
    if any(one.context for one in sheets.values()) and not any(one.kind == "context" for one in used):
        used.append(_CONTEXT)
    return sheets, used


def _place_columns(own: Iterable[ColumnUse], places: dict[tuple[str, int], int], used: list[ColumnUse]) -> list[int]:
    """Return the places of a sheet's columns: those of the same field in other sheets, or new ones at the end."""
    seen: dict[str, int] = {}
    found = []
    for one in own:
        name = one.field if one.kind != UNUSED else f"- {one.header}"
        key = (name, seen.setdefault(name, 0))
        seen[name] += 1
        if key not in places:
            places[key] = len(used)
            used.append(replace(one, sheet=""))
        found.append(places[key])
    return found


def _find_sheet(one: RejectedRow, sheets: Iterable[str]) -> str:
    name = one.place.rpartition(", row ")[0]
    return name if name in sheets else ""


def _name_header(one: ColumnUse, at: int) -> str:
    """Return the name of a column; one without a name gets that of its field, by which it is recognised again."""
    is_nameless = one.header == name_column(at) and one.kind != UNUSED and not find_field(one.header)
    return one.field if is_nameless else one.header


def _write_cells(one: RejectedRow, sheet: _Sheet | None, used: Sequence[ColumnUse]) -> tuple[list[str], str]:
    """Return the cells of a row, and the reason of its rejection with the characters removed from them."""
    if one.sense is None:
        columns = sheet.columns if sheet else used
        # Readers of CSV refuse a file with NUL.
        cut = [_name_column(columns, at) for at, cell in enumerate(one.cells) if NUL in cell]
        remark = f"; NUL characters are taken out of {', '.join(cut)}" if cut else ""
        return _move_cells(one.cells, sheet, used), one.reason + remark
    held = {column.kind for column in used}
    lost = [name for name, value in list_given_fields(one.sense).items() if value and name not in held]
    remark = f"; not in this file, for want of a column: {', '.join(lost)}" if lost else ""
    return describe_row(one.sense, used), one.reason + remark


def _move_cells(cells: Sequence[str], sheet: _Sheet | None, used: Sequence[ColumnUse]) -> list[str]:
    """Return the cells of a row in the columns of the file; values beyond the row's own columns come after them."""
    known = len(sheet.places) if sheet else 0
    extra = list(cells[known:])
    # Workbooks give each row the width of the sheet.
    while extra and not extra[-1].strip():
        extra.pop()
    if sheet is None:
        return extra
    moved = [""] * len(used)
    for place, cell in zip(sheet.places, cells, strict=False):
        moved[place] = cell
    at = next((at for at, one in enumerate(used) if one.kind == "context"), None)
    if at is not None and any(map(str.strip, cells)) and not moved[at].strip():
        moved[at] = sheet.context
    return [*moved, *extra]


def _name_column(columns: Sequence[ColumnUse], at: int) -> str:
    return repr(columns[at].header) if at < len(columns) else f"column {at + 1}"
