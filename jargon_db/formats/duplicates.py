"""The same sense more than once in one file: its entries are combined, and contradictions are problems.

Using the last entry would silently lose the others' content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from argot.errors import RowProblem
from argot.jargon_db.store.inputs import SenseInput, clean_aliases, join_texts, list_given_fields, normalise_context

Place = int | str
"""Position of a sense in its file: its row, or in files without rows its name."""
_MAX_SHOWN_CHARS = 60


def find_contradictions(senses: Sequence[SenseInput], places: Sequence[Place]) -> Iterator[RowProblem]:
    """Return a problem for each field in which two entries of one sense differ; it names both positions."""
    for group in _group_senses(senses):
        told: dict[str, tuple[Any, Place]] = {}
        for at in group:
            for name, value in list_given_fields(senses[at]).items():
                # Compared with the first entry that has a value; further ones are reported against that one, too.
                before, there = told.setdefault(name, (value, places[at]))
                if _make_comparable(before) != _make_comparable(value):
                    yield describe_contradiction(name, (value, places[at]), (before, there))


def unite_senses(senses: Sequence[SenseInput]) -> list[SenseInput]:
    """Return these senses, where each entry of the same sense gets the descriptions, notes and aliases of all of them.

    For files whose entries have their own identity, such as concepts: two may well describe the same sense.
    """
    made = list(senses)
    for group in _group_senses(senses):
        alike = [senses[at] for at in group]
        description = join_texts(one.description or "" for one in alike) or None
        notes = join_texts(one.notes or "" for one in alike) or None
        aliases = clean_aliases([alias for one in alike for alias in one.aliases or ()]) or None
        for at in group:
            made[at] = replace(senses[at], description=description, notes=notes, aliases=aliases)
    return made


def describe_contradiction(
    name: str, here: tuple[Any, Place], there: tuple[Any, Place], what: str = "sense"
) -> RowProblem:
    """Return the problem that a field has different values in two places; it is reported at the first."""
    (value, place), (other, first) = here, there
    named = f"row {first}" if isinstance(first, int) else first
    message = f"the same {what} says {_show_value(value)} here and {_show_value(other)} in {named}; keep one of the two"
    return RowProblem(place, name, message) if isinstance(place, int) else RowProblem(0, name, message, place)


def _group_senses(senses: Iterable[SenseInput]) -> list[list[int]]:
    """Return the positions of each sense that occurs more than once in the list."""
    first: dict[tuple[str, str, str], int] = {}
    groups: dict[int, list[int]] = {}
    for at, one in enumerate(senses):
        begun = first.setdefault((one.term, normalise_context(one.context), one.expansion), at)
        if begun != at:
            groups.setdefault(begun, [begun]).append(at)
    return list(groups.values())


def _make_comparable(value: Any) -> Any:
    # Aliases in another order are the same aliases.
    return frozenset(value) if isinstance(value, tuple) else value


def _show_value(value: Any) -> str:
    text = ", ".join(sorted(value)) if isinstance(value, tuple | frozenset) else str(value or "")
    text = " ".join(text.split())
    return f"'{text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + '...'}'" if text else "nothing"
