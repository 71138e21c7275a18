"""The recipes of trainings as forms and command lines have them: fields with defaults, and texts made into values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from argot.errors import InvalidInput
from argot.learn.embedder.embedder_recipe import EmbedderRecipe
from argot.learn.generator.generator_recipe import GeneratorRecipe
from argot.learn.recipes import TuningRecipe, build_recipe
from argot.learn.reranker.reranker_recipe import RerankerRecipe
from argot.learn.run_folder import RunKind

RECIPES: Mapping[RunKind, type[TuningRecipe]] = {
    "embedder": EmbedderRecipe,
    "reranker": RerankerRecipe,
    "generator": GeneratorRecipe,
}
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True, slots=True)
class RecipeField:
    """One setting of a recipe. `choices`: the only values it takes; empty: any of its type."""

    name: str
    default: str
    takes: str
    says: str
    choices: tuple[str, ...]


def list_recipe_fields(kind: RunKind) -> list[RecipeField]:
    """List the fields of a recipe in their order."""
    recipe = RECIPES[kind]
    hints = get_type_hints(recipe)
    return [
        RecipeField(
            one.name,
            _format_default(one.default),
            _describe_type(hints[one.name]),
            one.metadata["says"],
            _list_choices(hints[one.name]),
        )
        for one in fields(recipe)
    ]


def parse_recipe(kind: RunKind, given: Mapping[str, str]) -> dict[str, Any]:
    """Parse the changed values of a recipe, each in its type, without those that equal the default.

    Raises:
        InvalidInput: a name is unknown, or a value is of the wrong type or out of bounds.
    """
    recipe = RECIPES[kind]
    hints = get_type_hints(recipe)
    # A name that is unknown stays as it was typed: it is refused below.
    values = {
        name: _parse_value(name, text.strip(), hints[name]) if name in hints else text for name, text in given.items()
    }
    wanted = build_recipe(recipe, values)
    return {name: value for name, value in values.items() if getattr(wanted, name) != getattr(recipe(), name)}


def _parse_value(name: str, text: str, wanted: Any) -> Any:
    """
    Raises:
        InvalidInput: it is none of its type.
    """
    try:
        if choices := _list_choices(wanted):
            return choices[choices.index(text)]
        if get_origin(wanted) is tuple:
            return tuple(part.strip() for part in text.split(",") if part.strip())
        if wanted is bool:
            return {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}[text.lower()]
        return wanted(text)
    except (ValueError, KeyError, OverflowError):
        raise InvalidInput(f"The recipe's '{name}' is {text!r}. It is {_describe_type(wanted)}.") from None


def _list_choices(wanted: Any) -> tuple[str, ...]:
    return get_args(wanted) if get_origin(wanted) is Literal else ()


def _describe_type(wanted: Any) -> str:
    if choices := _list_choices(wanted):
        return " or ".join(choices)
    if get_origin(wanted) is tuple:
        return "words between commas"
    return {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}[wanted]


def _format_default(default: Any) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    return ", ".join(default) if isinstance(default, tuple) else str(default)
