"""The text that surrounds a quoted answer in its passage: shown beside the answer, and no part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argot.tools.answering.quoting import find_block_around, find_header, read_units, render_with_places

MAX_CHARS = 300
"""Characters of the passage that are shown around the first quoted unit."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A part of a passage as Markdown. `spans`: [start, end) of the quoted units in it."""

    text: str
    spans: Sequence[tuple[int, int]]


def find_surroundings(text: str, quoted: Sequence[tuple[int, int]], most_chars: int = MAX_CHARS) -> Surroundings | None:
    """Return the sentences, list or table around the quoted places of a passage; None if all of it is quoted.

    Args:
        quoted: [start, end) in the text.
    """
    units = read_units(text)
    quoted_units = [unit for unit in units if any(start < unit.end and unit.start < end for start, end in quoted)]
    if not quoted_units:
        return None
    heads = {head.number for unit in quoted_units if (head := find_header(unit, units))}
    marked = {unit.number for unit in quoted_units} - heads
    around = {*find_block_around(quoted_units[0], text, most_chars), *marked, *heads}
    if around == marked | heads:
        return None
    return Surroundings(*render_with_places(sorted(around), marked, units))
