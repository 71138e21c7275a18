"""The unit in which a question wants its answer: "how high may pallets be stacked, in inches?". English."""

from __future__ import annotations

import re

from argot.tools.text.quantities import find_quantities, find_units

_IN_UNIT = re.compile(r"\bin\s+(?P<unit>[^\W\d]+|%|°[CF])\s*[?.!]*\s*$")


def find_missing_unit(question: str, answer: str) -> str:
    """Return the unit that a question ends with, as written, if the answer has numbers in other units only."""
    found = _IN_UNIT.search(question)
    wanted = find_units(found["unit"]) - {""} if found else frozenset()
    units = {unit for _, unit in find_quantities(answer) if unit}
    return found["unit"] if found and wanted and units and not units & set(wanted) else ""
