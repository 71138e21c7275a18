"""The row with the greatest or least value of a column, for a question like "Which product has the longest lead time?".

Decided strictly or not at all: one superlative, one column that it can mean, a plain number of one unit in each cell of
it, and nothing in the question that restricts the rows. The table has to be whole. English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal

from argot.tools.answering.value_ranges import has_bounds
from argot.tools.text.quantities import CURRENCY_CODES, find_quantities, find_units
from argot.tools.text.words import NUMBER_WORDS, content_stems, fold_words

Direction = Literal["greatest", "least"]

_GREATEST = "longest|highest|largest|biggest|greatest|maximum|heaviest|tallest|widest|hottest|dearest|priciest"
_LEAST = "shortest|lowest|smallest|least|fewest|minimum|lightest|narrowest|coldest|cheapest"
_ADJECTIVES = "expensive|costly|money|days|weeks|months|hours|time|people|units|pieces"
_SUPERLATIVE = re.compile(
    rf"\b(?<!at )(?:(?P<greatest>{_GREATEST}|most (?={_ADJECTIVES})(?:expensive|costly)?)"
    rf"|(?P<least>least (?:expensive|costly)|{_LEAST}))\b",
    re.IGNORECASE,
)
_ORDINALS = frozenset(("second", "third", "fourth", "fifth", "next"))
"""Words before a superlative from which another row than the first is asked for."""
_NUMBER_WORDS = frozenset(NUMBER_WORDS) - {"one"}
_RESTRICTIONS = re.compile(r"\b(?:not|no|never|without|except|excluding|unless|only|among|other than)\b", re.IGNORECASE)
_SUBJECT = re.compile(r"\b(?:which|what|whose)\s+(?:of (?:the|our|these|all)\s+)?(?P<noun>[\w-]+)", re.IGNORECASE)
_MONEY = frozenset(content_stems("price cost fee rate charge amount")) | CURRENCY_CODES
_MEANT = {
    "cheapest": _MONEY, "dearest": _MONEY, "priciest": _MONEY, "expensive": _MONEY, "costly": _MONEY,
    "heaviest": frozenset(content_stems("weight mass")), "lightest": frozenset(content_stems("weight mass")),
    "tallest": frozenset(content_stems("height")),
    "hottest": frozenset(content_stems("temperature")), "coldest": frozenset(content_stems("temperature")),
}  # fmt: skip
"""Stems of columns that a superlative means by itself."""
_FREE = frozenset(content_stems("have has need take last get give offer company one item thing list table currently"))
"""Stems that restrict no rows."""


def asks_for_extreme(question: str) -> bool:
    """Return whether a question asks for the greatest or least of several things."""
    return _find_direction(question) is not None


def find_extreme_rows(question: str, header: Sequence[str], rows: Sequence[Sequence[str]], about: str) -> list[int]:
    """Return the indexes of the rows with the extreme value that is asked for, several if they share it; none in doubt.

    Args:
        header: the names of the columns.
        rows: their cells.
        about: the headings above the table, whose words restrict nothing.
    """
    direction = _find_direction(question)
    if direction is None or len(rows) < 2 or any(len(row) != len(header) for row in rows):
        return []
    columns = {place: values for place in range(len(header)) if (values := _read_column(header, rows, place))}
    column = _choose_column(question, header, columns)
    if column is None or _is_restricted(question, header, rows, about, column):
        return []
    values = columns[column]
    extreme = max(values) if direction == "greatest" else min(values)
    found = [place for place, value in enumerate(values) if value == extreme]
    return found if len(found) < len(rows) else []


def _find_direction(question: str) -> Direction | None:
    found = list(_SUPERLATIVE.finditer(question))
    if len(found) != 1 or _RESTRICTIONS.search(question) or any(map(str.isdigit, question)):
        return None
    before = fold_words(question[: found[0].start()])[-1:]
    if _ORDINALS.intersection(before) or _NUMBER_WORDS.intersection(fold_words(question)):
        return None
    return "greatest" if found[0]["greatest"] else "least"


def _read_column(header: Sequence[str], rows: Sequence[Sequence[str]], place: int) -> list[Decimal]:
    """Return the numbers of a column; none unless each cell is one number, all of one unit."""
    values: list[Decimal] = []
    units: set[str] = set()
    for row in rows:
        found = find_quantities(row[place])
        if len(found) != 1 or has_bounds([row[place]]):
            return []
        number, unit = next(iter(found))
        try:
            values.append(Decimal(number))
        except InvalidOperation:
            return []
        units.add(unit)
    return values if len(units) == 1 else []


def _choose_column(question: str, header: Sequence[str], columns: dict[int, list[Decimal]]) -> int | None:
    """Return the one column of numbers that a question can mean: by its name, or by what the superlative measures."""
    asked = frozenset(content_stems(question))
    named = {place: _list_name_stems(header[place]) & asked for place in columns}
    most = max(map(len, named.values()), default=0)
    if most:
        best = [place for place, held in named.items() if len(held) == most]
        return best[0] if len(best) == 1 else None
    word = next(iter(_SUPERLATIVE.finditer(question)))[0].casefold().split()[-1]
    meant = _MEANT.get(word, frozenset[str]())
    fitting = [place for place in columns if meant & (_list_name_stems(header[place]) | find_units(header[place]))]
    return fitting[0] if len(fitting) == 1 else None


def _list_name_stems(name: str) -> frozenset[str]:
    return frozenset(content_stems(re.sub(r"\([^()]*\)", "", name)))


def _is_restricted(
    question: str, header: Sequence[str], rows: Sequence[Sequence[str]], about: str, column: int
) -> bool:
    """Return whether a question says something of the things it asks for that neither the column nor the headings say.

    The noun behind "which" names the things in words of its own, unless a cell has it.
    """
    plain = _SUPERLATIVE.sub(" ", question)
    subject = _SUBJECT.search(plain)
    noun = frozenset(content_stems(subject["noun"])) if subject else frozenset()
    noun -= frozenset(content_stems(" ".join(cell for row in rows for cell in row)))
    said = frozenset(content_stems(plain)) - _list_name_stems(header[column]) - _FREE - noun
    labels = frozenset(content_stems(header[0])) | frozenset(content_stems(about))
    return bool(said - labels)
