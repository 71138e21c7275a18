"""The few words of a passage that show at a glance whether it helps, for a question without an answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest

from argot.corpus.readers.metadata_lines import is_metadata_line
from argot.languages.detection import identify_listed_language
from argot.tools.answering.numbered_quotes import find_nearest_numbered_text
from argot.tools.answering.quoting import (
    Unit,
    find_header,
    find_ordering_units,
    is_header,
    is_heading,
    is_title,
    read_units,
    split_cells,
)
from argot.tools.answering.support import find_statement_stems
from argot.tools.text.rarity import compute_floored_idf

MAX_CHARS = 200
_MIN_WORDS = 3
"""Fewer words ("Yes.", "See below.") do not help to choose."""

_BULLET = re.compile(r"^\s*[-*+•‣]\s+")
_FENCE = re.compile(r"^\s*(?:```|~~~).*$", re.MULTILINE)


@lru_cache(maxsize=1_000)
def choose_excerpt(question: str, passage: str) -> str:
    """Return the sentence, row or item of a passage that is nearest to the question by words; empty if there is none.

    Plain text on one line, at most `MAX_CHARS` and an ellipsis. Orders to the answerer are never shown: the asker may
    be a program that obeys them.

    Args:
        passage: its text, in Markdown.
    """
    units = read_units(passage)
    if numbered := find_nearest_numbered_text(question, passage):
        return _cut(numbered)
    found = list(_find_candidates(units, find_ordering_units(passage)))
    candidates = [unit for unit in found if len(_format_unit(unit, units).split()) >= _MIN_WORDS] or found
    if not candidates:
        return ""
    asked = find_statement_stems(question)
    # By the question's language, too: a heading or a row may be too short to show its own.
    language = identify_listed_language(question)
    held = [
        asked & (find_statement_stems(unit.plain) | find_statement_stems(unit.plain, language)) for unit in candidates
    ]
    rarity = {stem: compute_floored_idf(sum(stem in one for one in held), len(held)) for stem in sorted(asked)}
    # Summed in a fixed order, so that ties are exact: the earlier unit wins.
    weights = [sum(weight for stem, weight in rarity.items() if stem in one) for one in held]
    if not any(weights):
        return _format_unit(next((unit for unit in candidates if unit.kind == "prose"), candidates[0]), units)
    return _format_unit(candidates[weights.index(max(weights))], units)


def _find_candidates(units: Sequence[Unit], forbidden: Collection[int]) -> Iterator[Unit]:
    """Yield the units that make sense by themselves and give the answerer no orders."""
    for unit in units:
        titled = is_heading(unit, units) or is_title(unit, units)
        introduces = titled or is_header(unit, units) or unit.text.endswith(":") or is_metadata_line(unit.text)
        header = find_header(unit, units)
        ordered = unit.number in forbidden or (header is not None and header.number in forbidden)
        if not introduces and not ordered and _format_unit(unit, units):
            yield unit


def _format_unit(unit: Unit, units: Sequence[Unit]) -> str:
    return _cut(" ".join(_render_plain(unit, find_header(unit, units)).split()))


def _render_plain(unit: Unit, header: Unit | None) -> str:
    match unit.kind:
        case "code":
            return _FENCE.sub("", unit.text)
        case "row" if header is not None:
            return _format_cells(split_cells(unit.text), split_cells(header.text))
        case "row":
            return " | ".join(filter(None, split_cells(unit.text)))
        case _:
            return _BULLET.sub("", unit.plain)


def _format_cells(cells: Sequence[str], columns: Sequence[str]) -> str:
    """Return the cells that are not empty, each after its column's name: "Leave: Parental; Days: 90"."""
    pairs = zip_longest((column.rstrip(": ") for column in columns[: len(cells)]), cells, fillvalue="")
    return "; ".join(f"{column}: {cell}" if column else cell for column, cell in pairs if cell)


def _cut(text: str) -> str:
    if len(text) <= MAX_CHARS:
        return text
    # A word longer than the limit is cut too, since there may be no blank to stop at.
    whole = text[: MAX_CHARS + 1].rpartition(" ")[0] or text[:MAX_CHARS]
    return f"{whole.rstrip(' ,;:|')} …"
