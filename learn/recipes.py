"""Recipes: what decides a training beside its data. One frozen dataclass for each kind, checked where it is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from argot.errors import InvalidInput

R = TypeVar("R")


def option(default: Any, says: str, *, least: float | None = None, most: float | None = None) -> Any:
    """A field of a recipe, with what it is for in a few words, and the bounds of a number (both may be reached)."""
    return field(default=default, metadata={"says": says, "least": least, "most": most})


@dataclass(frozen=True, slots=True)
class RecipeOption:
    """One field of a recipe, for help and forms. `takes`: in words, such as "a whole number" or "lora or full"."""

    name: str
    default: Any
    takes: str
    says: str
    choices: tuple[str, ...] = ()


def options_of(recipe: type[Any]) -> list[RecipeOption]:
    """The fields of a recipe in their order."""
    hints = get_type_hints(recipe)
    return [
        RecipeOption(one.name, one.default, _takes(hints[one.name]), one.metadata["says"], _choices(hints[one.name]))
        for one in fields(recipe)
    ]


def recipe_from(recipe: type[R], given: Mapping[str, Any]) -> R:
    """The recipe with what is given in place of its defaults.

    Raises:
        InvalidInput: a name is unknown, or a value is of the wrong type or out of its bounds; all are told at once.
    """
    known = {one.name: one for one in fields(recipe)}  # type: ignore[arg-type]
    hints = get_type_hints(recipe)
    problems, values = [], {}
    for name, value in given.items():
        if name not in known:
            problems.append(f"'{name}' is unknown (there are: {', '.join(known)})")
        elif (found := _of_type(hints[name], value)) is None:
            problems.append(f"'{name}' must be {_takes(hints[name])}, not {value!r}")
        elif wrong := _out_of_bounds(known[name], found):
            problems.append(wrong)
        else:
            values[name] = found
    if problems:
        raise InvalidInput(f"The recipe cannot be used: {'; '.join(problems)}.")
    return recipe(**values)


def values_of_texts(recipe: type[Any], given: Mapping[str, str]) -> dict[str, Any]:
    """What a command line or a form gives as text, in the types of the recipe; `recipe_from` judges the rest.

    A text that is none of its type stays a text, and is refused there with the name of its field.
    """
    hints = get_type_hints(recipe)
    return {name: _of_text(hints.get(name, str), text.strip()) for name, text in given.items()}


def _of_text(hint: Any, text: str) -> Any:
    if hint is bool:
        return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}.get(
            text.casefold(), text
        )
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            return text
    if get_origin(hint) is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _of_type(hint: Any, value: Any) -> Any:
    """The value as the hint has it; None where it is of another type."""
    if get_origin(hint) is Literal:
        return value if isinstance(value, str) and value in get_args(hint) else None
    if get_origin(hint) is tuple:
        is_list = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        return tuple(value) if is_list else None
    if hint is float and type(value) is int:
        return float(value)
    # By `type`: True is an integer in Python. NaN is unequal to itself, and within no bounds.
    return value if type(value) is hint and value == value else None  # noqa: PLR0124


def _out_of_bounds(one: Field[Any], value: Any) -> str:
    least, most = one.metadata["least"], one.metadata["most"]
    if least is not None and value < least:
        return f"'{one.name}' must be at least {least:g}, not {value!r}"
    if most is not None and value > most:
        return f"'{one.name}' must be at most {most:g}, not {value!r}"
    return ""


def _choices(hint: Any) -> tuple[str, ...]:
    return get_args(hint) if get_origin(hint) is Literal else ()


def _takes(hint: Any) -> str:
    if choices := _choices(hint):
        return " or ".join(choices)
    if get_origin(hint) is tuple:
        return "a list of words"
    return {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[hint]
