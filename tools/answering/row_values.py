"""Finds a number that a sentence takes from the wrong row of a table: the price of the dog for the cat.

All words and numbers of such a sentence are in the passage, so that only the label of the row, its first cell, shows
the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, groupby
from typing import NamedTuple

from argot.tools.answering.quoting import split_cells
from argot.tools.answering.statement_parts import split_statement
from argot.tools.answering.support import find_statement_stems, list_units
from argot.tools.text.quantities import find_quantities


class _Row(NamedTuple):
    """A row of a table: the stems of its first cell, of all its cells, and the numbers behind the first cell."""

    label: frozenset[str]
    stems: frozenset[str]
    numbers: frozenset[str]


def find_other_row(said: str, passage: str) -> str:
    """Return a number of a sentence that the passage has only in rows of a table whose labels the sentence lacks, while
    it has the whole label of another row of that table, which lacks its numbers; empty if there is none.

    Each statement that a sentence joins is compared by itself as well.
    """
    tables, elsewhere = _list_tables(passage)
    if not tables:
        return ""
    parts = split_statement(said)
    statements = [said, *parts] if len(parts) > 1 else [said]
    return next(filter(None, (_find_in_statement(one, tables, elsewhere) for one in statements)), "")


def _find_in_statement(said: str, tables: Sequence[Sequence[_Row]], elsewhere: frozenset[str]) -> str:
    stems = find_statement_stems(said)
    numbers = _find_numbers(said)
    for number in sorted(numbers - elsewhere):
        having = [row for row in chain.from_iterable(tables) if number in row.numbers]
        if not having or any(row.label <= stems for row in having):
            continue
        for row in chain.from_iterable(table for table in tables if any(one in table for one in having)):
            # The label has to say something that the rows with the number do not: "Dog" is also an old dog.
            is_apart = all(row.label - one.stems for one in having)
            if is_apart and row.label <= stems and not row.numbers & (numbers - row.label):
                return number
    return ""


@lru_cache(maxsize=1_000)
def _list_tables(passage: str) -> tuple[tuple[tuple[_Row, ...], ...], frozenset[str]]:
    """Return the tables of a passage with their rows, and the numbers outside the rows. A table whose rows share labels
    is left out: there the label alone does not name a row.
    """
    tables: list[tuple[_Row, ...]] = []
    elsewhere: set[str] = set()
    for is_table, units in groupby((unit for unit, _ in list_units(passage)), key=lambda unit: unit.startswith("|")):
        texts = list(units)
        rows = tuple(map(_read_row, texts)) if is_table else ()
        labels = [row.label for row in rows]
        if len(set(labels)) == len(labels) > 1 and all(labels):
            tables.append(rows)
            elsewhere.update(*(_find_numbers(next(iter(split_cells(text)), "")) for text in texts))
        else:
            elsewhere.update(*map(_find_numbers, texts))
    return tuple(tables), frozenset(elsewhere)


def _read_row(text: str) -> _Row:
    label, *cells = split_cells(text)
    return _Row(find_statement_stems(label), find_statement_stems(text), _find_numbers(" | ".join(cells)))


def _find_numbers(text: str) -> frozenset[str]:
    return frozenset(number for number, _ in find_quantities(text))
