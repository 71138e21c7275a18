"""The same sense more than once in one file: its entries become one, and contradictions are reported.

A term that one context defines in two ways, without saying what it stands for, gets two senses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from argot.errors import RowProblem
from argot.jargon_db.formats.names import unite_labels
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.inputs import SenseInput, clean_aliases, join_texts, list_given_fields, normalise_context

Place = int | str
"""Position of a sense in its file: its row, or in files without rows its name."""
_MAX_SHOWN_CHARS = 60
_MAX_GLOSS_CHARS = 120
_JOINED = ("description", "notes", "source", "example")


def unite_entries(
    senses: Sequence[SenseInput], places: Sequence[Place]
) -> tuple[list[SenseInput], list[Place], list[RowProblem]]:
    """Return each sense once with its first place, and a notice for each contradiction."""
    groups = _group_entries(senses)
    if len(groups) == len(senses):
        return list(senses), list(places), []
    united: list[SenseInput] = []
    first: list[Place] = []
    notices: list[RowProblem] = []
    for group in groups:
        made = (
            senses[group[0]] if len(group) == 1 else _unite_group([(senses[at], places[at]) for at in group], notices)
        )
        united.append(made)
        first.append(places[group[0]])
    return united, first, notices


def describe_contradiction(
    name: str, here: tuple[Any, Place], there: tuple[Any, Place], what: str = "sense"
) -> RowProblem:
    """Return the notice that a field has different values in two places; it is reported at the place left out."""
    (value, place), (other, first) = here, there
    named = f"row {first}" if isinstance(first, int) else first
    message = f"the same {what} says {_show_value(value)} here and {_show_value(other)} in {named}, which is kept"
    return RowProblem(place, name, message) if isinstance(place, int) else RowProblem(0, name, message, place)


def tell_duplicate_definitions(senses: list[SenseInput], places: Sequence[Place]) -> list[RowProblem]:
    """Give senses without an expansion that are defined differently in one context the beginning of their definition
    as expansion, so that they stay apart; return a notice for each.
    """
    first: dict[tuple[str, str], int] = {}
    notices = []
    for at, one in enumerate(senses):
        if one.expansion:
            continue
        before = first.setdefault((one.term, normalise_context(one.context)), at)
        if before != at:
            senses[at] = replace(one, expansion=_shorten_definition(one.description or ""))
            place, named = places[at], places[before]
            where = f"row {named}" if isinstance(named, int) else named
            message = f"{one.term[:_MAX_SHOWN_CHARS]!r} is defined differently in {where}: both meanings are kept"
            notices.append(
                RowProblem(place, "", message) if isinstance(place, int) else RowProblem(0, "", message, place)
            )
    return notices


def _group_entries(senses: Iterable[SenseInput]) -> list[list[int]]:
    """Return the positions of the entries of each sense: equal in term, context and expansion, whose case and hyphens
    do not count; without an expansion, equal in their description.
    """
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    contexts: dict[str, str] = {}
    for at, one in enumerate(senses):
        context = contexts.get(one.context)
        if context is None:
            context = contexts[one.context] = normalise_context(one.context)
        meaning = "" if one.expansion else normalise(one.description or "")
        groups.setdefault((one.term, context, _fold_case(one.expansion), meaning), []).append(at)
    return list(groups.values())


def _fold_case(expansion: str) -> str:
    # Not `normalise`, for which "C" and "C++" are alike.
    return " ".join(expansion.casefold().replace("-", " ").split())


def _unite_group(entries: Sequence[tuple[SenseInput, Place]], notices: list[RowProblem]) -> SenseInput:
    values: dict[str, Any] = {}
    told: dict[str, tuple[Any, Place]] = {}
    for one, place in entries:
        for name, value in list_given_fields(one).items():
            if name in _JOINED:
                values[name] = join_texts((values.get(name) or "", value))
            elif name == "labels":
                values[name] = unite_labels((*values.get(name, ()), *value))
            elif name == "relations":
                values[name] = tuple(dict.fromkeys((*values.get(name, ()), *value)))
            elif name == "aliases":
                values[name] = clean_aliases((*values.get(name, ()), *value))
            else:
                # Compared with the first entry that has a value; further ones are reported against that one, too.
                before, there = told.setdefault(name, (value, place))
                values[name] = before or value
                # Two entries of another program that say the same have identifiers of their own.
                if before and value and before != value and name != "concept":
                    notices.append(describe_contradiction(name, (value, place), (before, there)))
    return replace(entries[0][0], **values)


def _shorten_definition(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _MAX_GLOSS_CHARS:
        return line
    return line[:_MAX_GLOSS_CHARS].rsplit(" ", 1)[0] + " …"


def _show_value(value: Any) -> str:
    text = ", ".join(sorted(value)) if isinstance(value, tuple | frozenset) else str(value or "")
    text = " ".join(text.split())
    return f"'{text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + '...'}'" if text else "nothing"
