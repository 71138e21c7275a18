"""The recipe of a training: a dataclass with sane defaults, and what somebody wants otherwise, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

from argot.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Recipe:
    """What every recipe is. `BOUNDS`: the least and the most of its numbers."""

    BOUNDS: ClassVar[Mapping[str, tuple[float, float]]] = {}


R = TypeVar("R", bound=Recipe)


def recipe_of(kind: type[R], wanted: Mapping[str, Any]) -> R:
    """The kind's recipe with what is wanted otherwise.

    Raises:
        InvalidInput: a name is unknown, or a value is of the wrong kind or out of bounds.
    """
    known = {one.name for one in fields(kind)}
    types = get_type_hints(kind)
    for name, value in wanted.items():
        if name not in known:
            raise InvalidInput(f"The recipe has nothing named '{name}'. It has: {', '.join(sorted(known))}.")
        _check(name, value, types[name], kind.BOUNDS.get(name))
    return replace(kind(), **{name: _as(value, types[name]) for name, value in wanted.items()})


def _check(name: str, value: Any, wanted: Any, bounds: tuple[float, float] | None) -> None:
    choices = get_args(wanted) if get_origin(wanted) is not None else ()
    if choices:
        if value not in choices:
            raise InvalidInput(f"The recipe's '{name}' is {value!r}. It is one of: {', '.join(map(str, choices))}.")
        return
    said = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[wanted]
    # In Python true is a whole number too.
    if isinstance(value, bool) is not (wanted is bool) or not isinstance(
        value, (int, float) if wanted is float else wanted
    ):
        raise InvalidInput(f"The recipe's '{name}' is {value!r}. It is {said}.")
    if bounds is not None and not bounds[0] <= value <= bounds[1]:
        raise InvalidInput(f"The recipe's '{name}' is {value}. It is from {bounds[0]:g} to {bounds[1]:g}.")


def _as(value: Any, wanted: Any) -> Any:
    return float(value) if wanted is float else value
