"""Choice of the table rows that answer, if the words of a question identify one of them.

The row that shares most words with a question is often the wrong one: "a cabin with a window" has more in common with
"Pet cabin" than with "Sea view". A row answers alone only if it is named, if its first cell has words of the question
that no column is called by, if its range contains the number asked for, or if it has the day or the extreme value asked
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from argot.days import find_days
from argot.tools.answering.extreme_rows import find_extreme_rows
from argot.tools.answering.numbered_names import find_numbered_names, read_numbered_name
from argot.tools.answering.quoting import MAX_STEPS, Unit, split_cells
from argot.tools.answering.value_ranges import find_asked_range, find_places_in_range, has_bounds, has_number
from argot.tools.text.words import content_stems

_SEPARATOR = re.compile(r"\s*(?:[,;/()]|\s[-–—]\s|\band\b|\bor\b)\s*")
_MAX_PART_WORDS = 3
"""Words of one of several names in a cell: "New York, Chicago"."""
MAX_CHARS = 1_500
"""Rows of a table that is quoted whole."""


class Question(Protocol):
    @property
    def text(self) -> str: ...

    def held_by(self, text: str) -> frozenset[str]:
        """Return the stems of the question that a text contains."""

    def names(self, text: str) -> bool:
        """Return whether the question contains every word of a text."""


def select_rows(
    question: Question, row: Unit, table: Sequence[Unit], header: Unit | None, headings: str | None = None
) -> list[Unit]:
    """Return the rows to quote for the one that fits a question best, in order; in doubt, all rows of a short table.

    Args: as of `choose_rows`.
    """
    return choose_rows(question, row, table, header, headings) or _select_all_or_alike(question, row, table)


def choose_rows(
    question: Question, row: Unit, table: Sequence[Unit], header: Unit | None, headings: str | None = None
) -> list[Unit]:
    """Return the rows that the words of a question identify; empty if they identify none for sure.

    Args:
        row: the one that fits the question best.
        table: its rows without the header.
        headings: those above the table, if it is whole; None: rows may be missing.
    """
    if len(table) < 2:
        return [row]
    columns = _list_columns(table)
    if rows := (
        _find_numbered(question.text, table, header)
        or _find_dated(question.text, table)
        or _find_extreme(question.text, table, header, headings)
    ):
        return rows
    if has_number(question.text) and any(map(has_bounds, columns)):
        return _find_in_range(question.text, columns, table, header)
    named = _select_fullest(question, [one for one in table if _is_named(question, one)])
    sure = row in named and not any(question.held_by(row.plain) < question.held_by(one.plain) for one in table)
    if sure:
        return named
    labelled = _find_by_label(question, table, header)
    return labelled if row in labelled else []


def _find_numbered(question: str, table: Sequence[Unit], header: Unit | None) -> list[Unit]:
    """Return the row whose first cell is a numbered name in the question, such as "Q3" for "third quarter"."""
    asked, name = find_numbered_names(question), split_cells(header.text)[:1] if header else []
    firsts = [read_numbered_name(next(iter(split_cells(one.text)), ""), "".join(name)) for one in table]
    found = [one for one, first in zip(table, firsts, strict=True) if first in asked]
    return found if len(found) == 1 else []


def _find_dated(question: str, table: Sequence[Unit]) -> list[Unit]:
    """Return the rows of the one day that a question names, however it writes it: "2025-05-17" for "17 May"."""
    asked = find_days(question)
    if len(asked) != 1:
        return []
    (day,) = asked
    return [one for one in table if any(day.is_same(other) for other in find_days(one.plain))]


def _find_extreme(question: str, table: Sequence[Unit], header: Unit | None, headings: str | None) -> list[Unit]:
    if header is None or headings is None:
        return []
    rows = [split_cells(one.text) for one in table]
    return [table[place] for place in find_extreme_rows(question, split_cells(header.text), rows, headings)]


def _find_by_label(question: Question, table: Sequence[Unit], header: Unit | None) -> list[Unit]:
    """Return the rows whose first cells have most words of the question, without the words that name the columns; none
    if all rows have the same.
    """
    columns = question.held_by(header.plain) if header else frozenset()
    held = [len(question.held_by(next(iter(split_cells(one.text)), "")) - columns) for one in table]
    most = max(held)
    found = [one for one, count in zip(table, held, strict=True) if count == most]
    return found if most and len(found) < len(table) else []


def _list_columns(table: Sequence[Unit]) -> list[list[str]]:
    rows = [split_cells(one.text) for one in table]
    return [list(column) for column in zip(*rows, strict=False)]


def _find_in_range(
    question: str, columns: Sequence[Sequence[str]], table: Sequence[Unit], header: Unit | None
) -> list[Unit]:
    """Return the rows whose range contains the number asked for; none unless exactly one column is known to decide
    it.
    """
    asked = find_asked_range(question)
    bounding = [number for number, cells in enumerate(columns) if has_bounds(cells)]
    if asked is None or len(bounding) != 1:
        return []
    names = split_cells(header.text) if header else []
    name = names[bounding[0]] if bounding[0] < len(names) else ""
    return [table[place] for place in find_places_in_range(asked, name, columns[bounding[0]]) or ()]


def _is_named(question: Question, row: Unit) -> bool:
    # A number alone may belong to anything.
    names = (name for cell in split_cells(row.text) for name in _list_names(cell))
    return any(question.names(name) for name in names if any(map(str.isalpha, name)))


def _list_names(cell: str) -> Iterator[str]:
    """Yield a cell, and the short names that it lists: "USA (New York, Chicago)". Of a remark only names of several
    words count: "Easter Sunday - first cabin at 05:40 with the early machinist".
    """
    yield cell
    parts = list(filter(None, _SEPARATOR.split(cell)))
    short = [part for part in parts if len(part.split()) <= _MAX_PART_WORDS]
    if len(parts) > 1:
        yield from short if len(short) == len(parts) else (part for part in short if len(content_stems(part)) > 1)


def _select_fullest(question: Question, rows: Sequence[Unit]) -> list[Unit]:
    """Return the rows without those whose question words another row contains, with more besides."""
    held = [question.held_by(one.plain) for one in rows]
    return [one for one, its in zip(rows, held, strict=True) if not any(its < other for other in held)]


def _select_all_or_alike(question: Question, row: Unit, table: Sequence[Unit]) -> list[Unit]:
    if len(table) <= MAX_STEPS and sum(len(one.text) for one in table) <= MAX_CHARS:
        return list(table)
    return find_rows_alike(question, row, table)


def find_rows_alike(question: Question, row: Unit, table: Sequence[Unit]) -> list[Unit]:
    """Return the rows that contain all the question words that this one contains."""
    its = question.held_by(row.plain)
    return [one for one in table if its <= question.held_by(one.plain)][:MAX_STEPS] if its else [row]
