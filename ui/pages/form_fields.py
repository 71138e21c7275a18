"""The fields of senses and contexts in forms, and the comparison when two managers saved the same one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypedDict

from argot.errors import InvalidInput
from argot.service.usecases.glossary.history import Saved, SavedSince
from argot.types import Context, Label, Relation, Sense
from argot.ui.rendering.label_lines import parse_label_lines, parse_relation_lines
from argot.ui.rendering.page_filters import format_value, list_fields

FIELDS = (
    "term", "context", "expansion", "description", "aliases", "labels", "relations", "example", "source", "notes",
    "owner", "audience", "review_by",
)  # fmt: skip
CONTEXT_FIELDS = ("description", "contact", "audience")
EMPTY_FORM: dict[str, str] = dict.fromkeys((*FIELDS, "why"), "")
Stored: TypeAlias = Sense | Context | Mapping[str, Any]
"""A sense or context as it is stored, or its former fields by name."""


def read_typed(form: Mapping[str, str]) -> dict[str, str]:
    """Return the fields as they were typed. A typed context takes precedence over a chosen one."""
    typed = {name: form.get(name, "") for name in EMPTY_FORM}
    return {**typed, "context": form.get("new_context", "").strip() or typed["context"]}


class SenseInput(TypedDict):
    """The fields of a sense in a form, as use cases take them."""

    term: str
    context: str
    expansion: str
    description: str
    aliases: list[str]
    notes: str
    owner: str
    audience: list[str] | None
    review_by: str | None
    labels: list[Label]
    relations: list[Relation]
    source: str
    example: str


def make_sense_input(typed: Mapping[str, str]) -> SenseInput:
    """Convert typed fields to those that use cases take. Without an audience, a stored sense keeps its own and a new
    one is for everyone.

    Raises:
        InvalidInput: a line of the names or of the related terms cannot be read.
    """
    return {
        "term": typed["term"],
        "context": typed["context"],
        "expansion": typed["expansion"],
        "description": typed["description"],
        "aliases": split_lines(typed["aliases"]),
        "notes": typed["notes"],
        "owner": typed["owner"],
        "audience": split_commas(typed["audience"]) or None,
        "review_by": typed["review_by"].strip() or None,
        "labels": parse_label_lines(typed["labels"]),
        "relations": parse_relation_lines(typed["relations"]),
        "source": typed["source"].strip(),
        "example": typed["example"],
    }


def split_lines(text: str) -> list[str]:
    """Split names typed one a line, because a name may contain a comma."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def split_commas(text: str) -> list[str]:
    """Split names of groups or people typed into one field."""
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_field_lines(text: str) -> dict[str, list[str]]:
    """Parse lines of "name: value" typed into one field; a name may occur several times.

    Raises:
        InvalidInput: a line has no name or no value.
    """
    found: dict[str, list[str]] = {}
    for line in filter(str.strip, text.splitlines()):
        name, _, value = (part.strip() for part in line.partition(":"))
        if not name or not value:
            raise InvalidInput(f"'{line.strip():.80}' is not a field with a value. Write one a line: region: EU")
        found.setdefault(name.lower(), []).append(value)
    return found


def read_values(stored: Stored, fields: Sequence[str] = FIELDS) -> dict[str, str]:
    """Return the fields of a stored sense or context as the form shows them."""
    values = list_fields(stored)
    shown = {name: format_value(values.get(name)) for name in fields}
    return {**shown, "audience": ", ".join(values["audience"]), "why": ""}


@dataclass(frozen=True, slots=True)
class DifferingField:
    """A field whose stored value (`theirs`) differs from the typed one (`yours`), and which of the two is kept."""

    field: str
    theirs: str
    yours: str
    kept: Literal["theirs", "yours"]


@dataclass(frozen=True, slots=True)
class EditComparison(Generic[Saved]):
    """The version that somebody else has saved meanwhile, compared with the fields that this person typed."""

    since: SavedSince[Saved]
    compared: list[DifferingField]


def compare_fields(
    since: SavedSince[Saved], typed: Mapping[str, str], fields: Sequence[str] = FIELDS
) -> list[DifferingField]:
    """List the fields that differ. A field that this person left alone takes the other's value."""
    theirs = read_values(since.current, fields)
    kept = merge_fields(since, typed, fields)
    return [
        DifferingField(name, theirs[name], typed[name], "theirs" if kept[name] == theirs[name] else "yours")
        for name in fields
        if _normalize(name, theirs[name]) != _normalize(name, typed[name])
    ]


def merge_fields(since: SavedSince[Saved], typed: Mapping[str, str], fields: Sequence[str] = FIELDS) -> dict[str, str]:
    """Merge both edits: the typed value, or the stored one where this person changed nothing since the version they
    saw.
    """
    theirs = read_values(since.current, fields)
    base = read_values(since.base, fields) if since.base else None
    untouched = {
        name for name in fields if base is not None and _normalize(name, typed[name]) == _normalize(name, base[name])
    }
    # A three-way merge: a field that only the other person changed is no conflict.
    return {**typed, **{name: theirs[name] for name in untouched}}


def _normalize(name: str, text: str) -> str:
    # Surrounding space and the order of readers make no difference.
    return ", ".join(sorted(set(split_commas(text)))) if name == "audience" else text.strip()
