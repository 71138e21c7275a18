"""The details of senses, which most senses lack and no statement searches: one JSON text, empty if there are none."""

from __future__ import annotations

import json
from typing import Any

from argot.types import Label, Relation, Sense

TEXT_FIELDS = ("source", "example", "concept")
_encoded = json.JSONEncoder(separators=(",", ":")).encode


def list_values(one: Label | Relation) -> list[str]:
    """Return the values of the fields, which are texts: `astuple`, which copies each, took a third of an import."""
    return [getattr(one, name) for name in one.__slots__]


def record_details(sense: Sense) -> dict[str, Any]:
    """Return the details that a sense has, as plain values."""
    found: dict[str, Any] = {name: value for name in TEXT_FIELDS if (value := getattr(sense, name))}
    if sense.labels:
        found["labels"] = [list_values(one) for one in sense.labels]
    if sense.relations:
        found["relations"] = [list_values(one) for one in sense.relations]
    return found


def dump_details(sense: Sense) -> str:
    """Encode the details as JSON in pure ASCII, so that no character is lost on the way."""
    found = record_details(sense)
    return _encoded(found) if found else ""


def load_details(stored: str) -> dict[str, Any]:
    return restore_details(json.loads(stored)) if stored else {}


def restore_details(found: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a sense from plain values, of which other keys are kept as they are."""
    restored = dict(found)
    if "labels" in found:
        restored["labels"] = tuple(Label(*one) for one in found["labels"])
    if "relations" in found:
        restored["relations"] = tuple(Relation(*one) for one in found["relations"])
    return restored
