"""How things look as JSON: dataclasses as objects, sets sorted, nothing that JSON cannot carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from argot.types import Audience, Document, Passage


def jsonable(value: Any) -> Any:
    """The value as plain dicts, lists, strings, numbers and None."""
    if is_dataclass(value):
        plain = {field.name: jsonable(getattr(value, field.name)) for field in fields(value)}
        return {"name": value.name, **plain} if isinstance(value, Document) else plain
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | Set):
        items = [jsonable(item) for item in value]
        return sorted(items) if isinstance(value, Set) else items
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return str(value) if isinstance(value, Path) else value


def audience_of(groups: Iterable[str] | None) -> Audience | None:
    """An audience as it is given: None says nothing of it, an empty one is everyone."""
    return None if groups is None else frozenset(groups)


def passage(found: Passage, of: Document) -> dict[str, Any]:
    """A passage with what a reader needs around it."""
    plain: dict[str, Any] = jsonable(found)
    return {**plain, "heading": found.heading, "document": of.name, "title": of.title, "uri": of.uri}
