"""Values as JSON: dataclasses as objects, sets sorted, nothing that JSON cannot carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from argot.types import Audience, Document, Passage

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def convert_to_json(value: Any) -> Any:
    """Return the value as plain dicts, lists, strings, numbers and None."""
    if is_dataclass(value):
        plain = {field.name: convert_to_json(getattr(value, field.name)) for field in fields(value)}
        return {"name": value.name, **plain} if isinstance(value, Document) else plain
    if isinstance(value, Mapping):
        return {str(key): convert_to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | Set):
        items = [convert_to_json(item) for item in value]
        return sorted(items) if isinstance(value, Set) else items
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return str(value) if isinstance(value, Path) else value


def read_dataclass_fields(value: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a dataclass unchanged, for building one with more of them."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def read_audience(groups: Iterable[str] | None) -> Audience | None:
    """Read an audience from a request: None leaves it unchanged, an empty one means everyone."""
    return None if groups is None else frozenset(groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageShown(Passage):
    """A passage with its context for a reader. `document` is the document's name.

    `before` and `after`: a little of the text around it. `freshness`: the document's own statement of its age.
    """

    heading: str = field()  # of a passage it is put together
    document: str
    title: str
    uri: str
    before: str
    after: str
    freshness: str = ""


def show_passage(found: Passage, of: Document, markdown: str) -> PassageShown:
    """Build it; `markdown`: the whole text of its revision."""
    from argot.corpus.chunking.surroundings import cut_text_after, cut_text_before
    from argot.tools.answering.freshness import freshness

    return PassageShown(
        **read_dataclass_fields(found),
        heading=found.heading,
        document=of.name,
        title=of.title,
        uri=of.uri,
        before=cut_text_before(markdown, found.start),
        after=cut_text_after(markdown, found.end),
        freshness=freshness(of),
    )
