"""Choice of the table rows that answer, if the words of a question identify one of them.

The row that shares most words with a question is often the wrong one: "a cabin with a window" has more in common with
"Pet cabin" than with "Sea view". A row answers alone only if it is named, or if its range contains the number asked
for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from argot.tools.answering.quoting import MAX_STEPS, Unit, split_cells
from argot.tools.answering.value_ranges import find_asked_range, find_places_in_range, has_bounds, has_number

MAX_CHARS = 1_500
"""Rows of a table that is quoted whole."""


class Question(Protocol):
    @property
    def text(self) -> str: ...

    def held_by(self, text: str) -> frozenset[str]:
        """Return the stems of the question that a text contains."""

    def names(self, text: str) -> bool:
        """Return whether the question contains every word of a text."""


def select_rows(question: Question, row: Unit, table: Sequence[Unit], header: Unit | None) -> list[Unit]:
    """Return the rows to quote for the one that fits a question best, in order; in doubt, all rows of a short table.

    Args:
        table: its rows without the header.
    """
    if len(table) < 2:
        return [row]
    columns = _list_columns(table)
    if has_number(question.text) and any(map(has_bounds, columns)):
        return _find_in_range(question.text, columns, table, header) or _select_all_or_alike(question, row, table)
    named = _select_fullest(question, [one for one in table if _is_named(question, one)])
    sure = row in named and not any(question.held_by(row.plain) < question.held_by(one.plain) for one in table)
    return named if sure else _select_all_or_alike(question, row, table)


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
    return any(question.names(cell) for cell in split_cells(row.text) if any(map(str.isalpha, cell)))


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
