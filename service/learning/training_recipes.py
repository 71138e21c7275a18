"""The recipes of trainings as forms and command lines have them: fields with defaults, and texts made into values."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from argot.errors import InvalidInput
from argot.learn.run_folder import RunKind

RECIPES: Mapping[RunKind, tuple[str, str]] = {
    "embedder": ("argot.learn.embedder.embedder_training", "EmbedderRecipe"),
    "reranker": ("argot.learn.reranker.reranker_recipe", "RerankerRecipe"),
    "generator": ("argot.learn.generator.generator_recipe", "GeneratorRecipe"),
}
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True, slots=True)
class RecipeField:
    """One thing that a recipe decides. `choices`: the only values it takes; empty: any of its type."""

    name: str
    default: str
    takes: str
    says: str
    choices: tuple[str, ...]


_SAYS: Mapping[str, str] = {
    "epochs": "how often each pair is seen",
    "batch": "pairs read at once; fewer need less memory",
    "rate": "the highest learning rate",
    "warm_up": "the share of all steps in which the rate rises; then it falls to 0",
    "question_tokens": "tokens of a question that are read",
    "passage_tokens": "tokens of a passage that are read",
    "negatives": "passages beside the right one that each question learns to leave",
    "negatives_from": "of how many of the first found they are drawn",
    "margin": "how much less like the question than the right passage a negative has to be",
    "scale": "how strongly likeness counts in the loss",
    "frozen_words": "leave the words' own vectors as they are, which few pairs only spoil",
    "kept": "the share of the starting weights mixed into the trained ones",
    "precision": "of the products while learning; auto: 16 bits where the processor has instructions for them",
    "form": "reader: the one that Argot comes with, which reads a passage once for all questions; cross_encoder: one "
    "that reads question and passage together",
    "embedder": "what finds the passages that are put in order; empty: the model that is started from",
    "reading_rate": "the learning rate of what is not the encoder",
    "ts_tcl": "of a cross-encoder: token selection and term control (Trustworthy Answers 3.2.3)",
    "token_selection": "one of the two",
    "term_control": "the other one",
    "alpha": "the weight of token selection's loss",
    "beta": "the weight of term control's loss",
    "every": "steps between checkpoints",
    "threads": "processor threads; 0: as many as PyTorch takes",
}


def recipe_fields(kind: RunKind) -> list[RecipeField]:
    """In their order."""
    recipe = _recipe(kind)
    hints = get_type_hints(recipe)
    return [
        RecipeField(
            one.name,
            _as_text(one.default),
            _takes(hints[one.name]),
            str(one.metadata.get("says", _SAYS.get(one.name, one.name.replace("_", " ")))),
            _choices(hints[one.name]),
        )
        for one in fields(recipe)
    ]


def recipe_given(kind: RunKind, given: Mapping[str, str]) -> dict[str, Any]:
    """What somebody wants otherwise, each value in its type; what is as by default is left out.

    Raises:
        InvalidInput: a name is unknown, or a value is of the wrong type or out of bounds.
    """
    recipe = _recipe(kind)
    hints, known = get_type_hints(recipe), {one.name: one for one in fields(recipe)}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in known:
            raise InvalidInput(f"The recipe of the {kind} has nothing named '{name}'. It has: {', '.join(known)}.")
        value = _value(name, text.strip(), hints[name])
        least, most = _bounds(recipe, known[name])
        if (least is not None and value < least) or (most is not None and value > most):
            raise InvalidInput(f"The recipe's '{name}' is {text!r}. It is {_between(least, most)}.")
        if value != known[name].default:
            values[name] = value
    return values


def _recipe(kind: RunKind) -> type[Any]:
    module, name = RECIPES[kind]
    recipe: type[Any] = getattr(importlib.import_module(module), name)
    return recipe


def _bounds(recipe: type[Any], one: Field[Any]) -> tuple[float | None, float | None]:
    least, most = getattr(recipe, "BOUNDS", {}).get(one.name, (None, None))
    return one.metadata.get("least", least), one.metadata.get("most", most)


def _between(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"from {least:g} to {most:g}"
    return f"at least {least:g}" if least is not None else f"at most {most:g}"


def _value(name: str, text: str, wanted: Any) -> Any:
    """
    Raises:
        InvalidInput: it is none of its type.
    """
    try:
        if choices := _choices(wanted):
            return choices[choices.index(text)]
        if get_origin(wanted) is tuple:
            return tuple(part.strip() for part in text.split(",") if part.strip())
        if wanted is bool:
            return {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}[text.lower()]
        value = wanted(text)
        # NaN, which `float` reads, is within all bounds.
        if value != value:  # noqa: PLR0124
            raise ValueError
    except (ValueError, KeyError, OverflowError):
        raise InvalidInput(f"The recipe's '{name}' is {text!r}. It is {_takes(wanted)}.") from None
    return value


def _choices(wanted: Any) -> tuple[str, ...]:
    return get_args(wanted) if get_origin(wanted) is Literal else ()


def _takes(wanted: Any) -> str:
    if choices := _choices(wanted):
        return " or ".join(choices)
    if get_origin(wanted) is tuple:
        return "words between commas"
    return {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}[wanted]


def _as_text(default: Any) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    return ", ".join(default) if isinstance(default, tuple) else str(default)
