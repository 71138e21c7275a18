"""The fields of a sense in a form, and what to do when two managers saved the same one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argot.ui.pages.looks import as_text

FIELDS = ("term", "context", "expansion", "description", "aliases", "notes", "owner", "audience", "review_by")
EMPTY: dict[str, str] = dict.fromkeys((*FIELDS, "why"), "")


def typed(form: Mapping[str, str]) -> dict[str, str]:
    """The fields as they were typed. A context that is typed wins over one that is chosen."""
    given = {name: form.get(name, "") for name in EMPTY}
    return {**given, "context": form.get("new_context", "").strip() or given["context"]}


def parameters(given: Mapping[str, str]) -> dict[str, Any]:
    """The fields as use cases take them. No audience: what there is stays, a new sense is for everyone."""
    return {
        **given,
        "aliases": [line.strip() for line in given["aliases"].splitlines() if line.strip()],
        "audience": [part.strip() for part in given["audience"].split(",") if part.strip()] or None,
        "review_by": given["review_by"].strip() or None,
    }


def values_of(sense: Mapping[str, Any]) -> dict[str, str]:
    """A stored sense as the form shows it."""
    shown = {name: as_text(sense[name]) for name in FIELDS}
    return {**shown, "audience": ", ".join(sense["audience"]), "why": ""}


def compared(since: Mapping[str, Any], given: Mapping[str, str]) -> list[dict[str, str]]:
    """The fields in which what was typed and what is stored differ: `field`, `theirs`, `yours`, and `kept`, which of
    the two the form goes on with. Who left a field alone takes what the other wrote.
    """
    theirs = values_of(since["current"])
    kept = merged(since, given)
    return [
        {
            "field": name,
            "theirs": theirs[name],
            "yours": given[name],
            "kept": "theirs" if kept[name] == theirs[name] else "yours",
        }
        for name in FIELDS
        if _plain(theirs[name]) != _plain(given[name])
    ]


def merged(since: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    """What was typed; but theirs, where nothing was changed since the version that was seen."""
    theirs = values_of(since["current"])
    base = values_of(since["base"]) if since["base"] else None
    untouched = {name for name in FIELDS if base is not None and _plain(given[name]) == _plain(base[name])}
    return {**given, **{name: theirs[name] for name in untouched}}


def _plain(text: str) -> str:
    return text.strip()
