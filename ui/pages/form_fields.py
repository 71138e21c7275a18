"""The fields of senses and contexts in forms, and what to do when two managers saved the same one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from argot.ui.rendering.page_filters import as_text

FIELDS = ("term", "context", "expansion", "description", "aliases", "notes", "owner", "audience", "review_by")
OF_CONTEXT = ("description", "contact", "audience")
EMPTY: dict[str, str] = dict.fromkeys((*FIELDS, "why"), "")


def typed(form: Mapping[str, str]) -> dict[str, str]:
    """The fields as they were typed. A context that is typed wins over one that is chosen."""
    given = {name: form.get(name, "") for name in EMPTY}
    return {**given, "context": form.get("new_context", "").strip() or given["context"]}


class Written(TypedDict):
    """What a form says of a sense, as use cases take it."""

    term: str
    context: str
    expansion: str
    description: str
    aliases: list[str]
    notes: str
    owner: str
    audience: list[str] | None
    review_by: str | None


def written(given: Mapping[str, str]) -> Written:
    """The fields as use cases take them. No audience: what there is stays, a new sense is for everyone."""
    return {
        "term": given["term"],
        "context": given["context"],
        "expansion": given["expansion"],
        "description": given["description"],
        # One a line, because an alias may hold a comma.
        "aliases": [line.strip() for line in given["aliases"].splitlines() if line.strip()],
        "notes": given["notes"],
        "owner": given["owner"],
        "audience": between_commas(given["audience"]) or None,
        "review_by": given["review_by"].strip() or None,
    }


def between_commas(text: str) -> list[str]:
    """Names of groups or people as they are typed into one field."""
    return [part.strip() for part in text.split(",") if part.strip()]


def values_of(stored: Mapping[str, Any], fields: Sequence[str] = FIELDS) -> dict[str, str]:
    """A stored sense or context as the form shows it."""
    shown = {name: as_text(stored[name]) for name in fields}
    return {**shown, "audience": ", ".join(stored["audience"]), "why": ""}


def differing_fields(
    since: Mapping[str, Any], given: Mapping[str, str], fields: Sequence[str] = FIELDS
) -> list[dict[str, str]]:
    """The fields in which what was typed and what is stored differ: `field`, `theirs`, `yours`, and `kept`, which of
    the two the form goes on with. Who left a field alone takes what the other wrote.
    """
    theirs = values_of(since["current"], fields)
    kept = merged(since, given, fields)
    return [
        {
            "field": name,
            "theirs": theirs[name],
            "yours": given[name],
            "kept": "theirs" if kept[name] == theirs[name] else "yours",
        }
        for name in fields
        if _plain(name, theirs[name]) != _plain(name, given[name])
    ]


def merged(since: Mapping[str, Any], given: Mapping[str, str], fields: Sequence[str] = FIELDS) -> dict[str, str]:
    """What was typed; but theirs, where nothing was changed since the version that was seen."""
    theirs = values_of(since["current"], fields)
    base = values_of(since["base"], fields) if since["base"] else None
    untouched = {name for name in fields if base is not None and _plain(name, given[name]) == _plain(name, base[name])}
    # A three-way merge: a field that only the other person changed is no conflict.
    return {**given, **{name: theirs[name] for name in untouched}}


def _plain(name: str, text: str) -> str:
    # Space around a text and the order of readers make no difference.
    return ", ".join(sorted(set(between_commas(text)))) if name == "audience" else text.strip()
