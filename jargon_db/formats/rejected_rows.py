"""The file that comes back from an import in part: what was left out, with the reason for each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from argot.jargon_db.formats.column_use import ColumnUse
from argot.jargon_db.formats.csv_format import NUL, guard_formula
from argot.jargon_db.formats.glossary_file import RejectedRow
from argot.jargon_db.formats.table_format import COLUMNS, MORE_COLUMNS
from argot.jargon_db.formats.table_rows import describe_row
from argot.jargon_db.store.inputs import list_given_fields

REASON, PLACE = "reason", "place"
_OWN_COLUMNS = tuple(ColumnUse(name, name, "name") for name in (*COLUMNS, *MORE_COLUMNS) if "context_" not in name)


def write_rejected(rows: Sequence[RejectedRow], columns: Sequence[ColumnUse]) -> str:
    """Return a CSV file of the rows, to be mended and imported: with their own columns if they come from one table,
    else with those of Argot. What a row cannot hold is named with its reason.
    """
    one_table = len({one.sheet for one in columns}) <= 1
    used = columns if columns and one_table else _OWN_COLUMNS if any(one.sense for one in rows) else ()
    header = [one.header for one in used]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    width = max((len(one.cells) for one in rows), default=0)
    header += [""] * (width - len(header))
    writer.writerow([*header, PLACE, REASON])
    for one in rows:
        cells, reason = _write_cells(one, used)
        filled = [*cells, *[""] * (len(header) - len(cells)), one.place, reason]
        writer.writerow([guard_formula(cell.replace(NUL, "")) for cell in filled])
    return out.getvalue()


def _write_cells(one: RejectedRow, columns: Sequence[ColumnUse]) -> tuple[Sequence[str], str]:
    """Return the cells of a row, and its reason with what was taken out of them."""
    if one.sense is None:
        # Readers of CSV refuse a file with NUL.
        cut = [_name_column(columns, at) for at, cell in enumerate(one.cells) if NUL in cell]
        told = f"; NUL characters are taken out of {', '.join(cut)}" if cut else ""
        return one.cells, one.reason + told
    held = {column.kind for column in columns}
    lost = [name for name, value in list_given_fields(one.sense).items() if value and name not in held]
    told = f"; not in this file, for want of a column: {', '.join(lost)}" if lost else ""
    return describe_row(one.sense, columns), one.reason + told


def _name_column(columns: Sequence[ColumnUse], at: int) -> str:
    return repr(columns[at].header) if at < len(columns) else f"column {at + 1}"
