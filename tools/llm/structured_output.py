"""A reply in JSON: found in the text, and checked against its schema before use."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

JSON_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
BOUND_CHECKS: dict[str, Callable[[Any, Any], bool]] = {
    "minLength": lambda value, bound: len(value) >= bound,
    "maxLength": lambda value, bound: len(value) <= bound,
    "minItems": lambda value, bound: len(value) >= bound,
    "maxItems": lambda value, bound: len(value) <= bound,
    "minimum": lambda value, bound: value >= bound,
    "maximum": lambda value, bound: value <= bound,
    "enum": lambda value, bound: value in bound,
    "const": lambda value, bound: value == bound,
}
# Keywords with their own checking functions, and those that do not constrain the value.
UNCHECKED_KEYWORDS = {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "title",
    "description",
    "$schema",
}


# Tab and line feed stay.
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U000e0000-\U000e0fff]"
)
_LINE_ENDS = re.compile("[\u0085\u2028\u2029]")


class InvalidReply(Exception):
    """The reply is no JSON, or does not match the schema. `reason` is one clause without any text of the reply.

    `cut_off`: it began as JSON and broke off, which also happens to servers that enforce schemas.
    """

    def __init__(self, reason: str, *, cut_off: bool = False) -> None:
        self.reason = reason
        self.cut_off = cut_off
        super().__init__(reason)


def strip_unprintable(text: str) -> str:
    """Return the text without control characters (including a terminal's), marks that change the direction of writing,
    half characters, and invisible ones, which can hide a whole sentence. Joiners are kept: Persian, Hindi and emoji
    need them.

    A half character (lone surrogate) can be neither stored nor sent, and a NUL cannot be searched for.
    """
    return _UNREADABLE.sub("", _LINE_ENDS.sub("\n", text))


def parse_object(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first JSON object in the text, which may be in a code fence or between other words.

    Raises:
        InvalidReply: there is none, or it does not fit the schema.
    """
    value: dict[str, Any] = _clean_value(_find_first_object(text))
    check_schema(value, schema)
    return value


def is_whole(text: str) -> bool:
    """Return whether the text contains a complete JSON object."""
    try:
        _find_first_object(text)
    except InvalidReply:
        return False
    return True


def _clean_value(value: Any) -> Any:
    # An escape such as "\u202e" becomes a character only here, after the filter of the stream.
    if isinstance(value, dict):
        return {strip_unprintable(name): _clean_value(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_clean_value(one) for one in value]
    return strip_unprintable(value) if isinstance(value, str) else value


def _find_first_object(text: str) -> dict[str, Any]:
    start = text.find("{")
    if start < 0:
        raise InvalidReply("no JSON")
    try:
        # Python accepts NaN and Infinity, which are no JSON; text after the object is ignored.
        return dict(json.JSONDecoder(parse_constant=_refuse_number).raw_decode(text, start)[0])
    except (ValueError, RecursionError):
        raise InvalidReply("broken JSON", cut_off=True) from None


def _refuse_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def check_schema(value: Any, schema: Mapping[str, Any], place: str = "it") -> None:
    """Check a value against the part of JSON Schema that the prompts use.

    Raises:
        InvalidReply: it does not fit.
        ValueError: the schema uses an unsupported keyword, which must not pass unchecked.
    """
    unknown = schema.keys() - BOUND_CHECKS.keys() - UNCHECKED_KEYWORDS
    if unknown:
        raise ValueError(f"a prompt's schema uses {sorted(unknown)}, which structured_output.py does not check yet")
    wanted = schema.get("type")
    if wanted and not _is_of_type(value, [wanted] if isinstance(wanted, str) else wanted):
        raise InvalidReply(f"{place} is not of type {wanted}")
    for keyword, holds in BOUND_CHECKS.items():
        if keyword in schema and not holds(value, schema[keyword]):
            raise InvalidReply(f"{place} breaks {keyword}")
    if isinstance(value, dict):
        _check_members(value, schema, place)
    elif isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            check_schema(item, schema["items"], f"{place}[{number}]")


def _is_of_type(value: Any, names: list[str]) -> bool:
    """Return whether a value is of one of these types; a whole float is an integer, as in JSON Schema."""
    # Before the numbers: in Python a bool is an int.
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True
    return any(isinstance(value, JSON_TYPES[name]) for name in names)


def _check_members(value: dict[str, Any], schema: Mapping[str, Any], place: str) -> None:
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", []) if name not in value]
    if missing:
        raise InvalidReply(f"{place} lacks {', '.join(missing)}")
    if schema.get("additionalProperties") is False and value.keys() - properties.keys():
        raise InvalidReply(f"{place} has members that nobody asked for")
    for name, part in properties.items():
        if name in value:
            check_schema(value[name], part, name)
