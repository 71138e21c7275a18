"""The cells of a row of a Markdown table."""

from __future__ import annotations

import re

# A bar after a backslash is text of a cell.
_BAR = re.compile(r"(?<!\\)\|")


def cut_cells(row: str) -> list[str]:
    """Return the cells of a row as they are written, without the blanks around them."""
    return [cell.strip() for cell in _BAR.split(row.strip().removeprefix("|").removesuffix("|"))]


def count_bars(text: str) -> int:
    """Return the number of bars that bound cells in a text."""
    return len(_BAR.findall(text))
