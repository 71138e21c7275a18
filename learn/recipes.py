"""The recipe of a training: a dataclass with sane defaults, and a user's checked changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from argot.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class TuningRecipe:
    """The base of every recipe. Each field is made by `make_option`."""


R = TypeVar("R", bound=TuningRecipe)


def make_option(default: Any, says: str, *, least: float | None = None, most: float | None = None) -> Any:
    """Make a field of a recipe, with its purpose in a few words, and the bounds of a number (both may be reached)."""
    return field(default=default, metadata={"says": says, "least": least, "most": most})


def build_recipe(kind: type[R], wanted: Mapping[str, Any]) -> R:
    """Build the kind's recipe with the values that somebody changed.

    Raises:
        InvalidInput: a name is unknown, or a value is of the wrong kind or out of bounds.
    """
    known = {one.name: one for one in fields(kind)}
    types = get_type_hints(kind)
    for name, value in wanted.items():
        if name not in known:
            raise InvalidInput(f"The recipe has nothing named '{name}'. It has: {', '.join(sorted(known))}.")
        _check(name, value, types[name])
        _check_bounds(known[name], value)
    return replace(kind(), **{name: _convert_value(value, types[name]) for name, value in wanted.items()})


def _check(name: str, value: Any, wanted: Any) -> None:
    if get_origin(wanted) is Literal:
        choices = get_args(wanted)
        if value not in choices:
            raise InvalidInput(f"The recipe's '{name}' is {value!r}. It is one of: {', '.join(map(str, choices))}.")
        return
    if get_origin(wanted) is tuple:
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise InvalidInput(f"The recipe's '{name}' is {value!r}. It is a list of texts.")
        return
    type_name = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[wanted]
    # In Python true is a whole number too. NaN is unequal to itself, and within all bounds.
    is_other = isinstance(value, bool) is not (wanted is bool) or value != value  # noqa: PLR0124
    if is_other or not isinstance(value, (int, float) if wanted is float else wanted):
        raise InvalidInput(f"The recipe's '{name}' is {value!r}. It is {type_name}.")


def _check_bounds(one: Field[Any], value: Any) -> None:
    least, most = one.metadata["least"], one.metadata["most"]
    if (least is None or value >= least) and (most is None or value <= most):
        return
    if least is not None and most is not None:
        between = f"from {least:g} to {most:g}"
    else:
        between = f"at least {least:g}" if least is not None else f"at most {most:g}"
    raise InvalidInput(f"The recipe's '{one.name}' is {value}. It is {between}.")


def _convert_value(value: Any, wanted: Any) -> Any:
    if get_origin(wanted) is tuple:
        return tuple(value)
    return float(value) if wanted is float else value
