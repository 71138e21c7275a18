"""The file that comes back from an import in part: what was left out, with the reason for each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from argot.jargon_db.formats.column_use import ColumnUse
from argot.jargon_db.formats.csv_format import NUL, guard_formula
from argot.jargon_db.formats.glossary_file import RejectedRow

REASON, PLACE = "reason", "place"


def write_rejected(rows: Sequence[RejectedRow], columns: Sequence[ColumnUse]) -> str:
    """Return a CSV file of the rows, to be mended and imported, with their columns if they come from one table."""
    one_table = len({one.sheet for one in columns}) <= 1
    header = [one.header for one in columns] if one_table else []
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    width = max((len(one.cells) for one in rows), default=0)
    header += [""] * (width - len(header))
    writer.writerow([*header, PLACE, REASON])
    for one in rows:
        cells = [*one.cells, *[""] * (len(header) - len(one.cells)), one.place, one.reason]
        writer.writerow([guard_formula(cell.replace(NUL, "")) for cell in cells])
    return out.getvalue()
