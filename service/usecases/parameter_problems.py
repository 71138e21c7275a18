"""The problems of parameters that pydantic refuses, in words of the person who gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

_UNTOLD = ("password", "data")
"""Parts of names of parameters whose value appears in no message."""


def list_problems(error: ValidationError) -> str:
    return "; ".join(describe_problem(one) for one in error.errors())


def describe_problem(one: Any) -> str:
    """Describe the problem of one parameter, with the beginning of its value."""
    name, value = ".".join(map(str, one["loc"])), one["input"]
    where = name.replace("_", " ")
    if told := describe_length(where, one):
        return told
    tells = isinstance(value, str | int | float) and not any(part in name for part in _UNTOLD)
    return f"{where}{f' ({value!r:.80})' if tells else ''}: {one['msg'].removeprefix('Value error, ')}"


def describe_length(where: str, one: Mapping[str, Any]) -> str:
    """Describe that a text or list is empty or too long; empty if its length is not the problem."""
    value = one["input"]
    if not isinstance(value, str | list):
        return ""
    if "too_short" in one["type"] and not value:
        return f"{where} is empty"
    if "too_long" in one["type"]:
        # With its length instead of its text, which may be megabytes.
        noun = "characters" if isinstance(value, str) else "entries"
        return f"{where} has {len(value):,} {noun}, and may have {one['ctx']['max_length']:,}"
    return ""
