"""The snapshots of senses and contexts in history: all their fields that people edit, as a plain dict."""

from __future__ import annotations

import json
from typing import Any

from argot.jargon_db.store.details import record_details, restore_details
from argot.types import Context, Sense

Snapshot = dict[str, Any]
# Made once: `json.dumps` with separators makes an encoder for each call, and an import makes 100,000.
_encoded = json.JSONEncoder(separators=(",", ":")).encode


def record_sense(sense: Sense) -> Snapshot:
    return {
        "term": sense.term,
        "context": sense.context,
        "expansion": sense.expansion,
        "description": sense.description,
        "notes": sense.notes,
        "aliases": list(sense.aliases),
        "owner": sense.owner,
        "status": sense.status,
        "audience": sorted(sense.audience),
        "review_by": sense.review_by,
        **record_details(sense),
    }


def record_context(context: Context) -> Snapshot:
    return {
        "context": context.name,
        "description": context.description,
        "contact": context.contact,
        "audience": sorted(context.audience),
    }


def sense_of_snapshot(number: int, snapshot: Snapshot, version: int = 1) -> Sense:
    return Sense(
        id=number,
        version=version,
        **{
            **restore_details(snapshot),
            "aliases": tuple(snapshot["aliases"]),
            "audience": frozenset(snapshot["audience"]),
        },
    )


def dump_snapshot(snapshot: Snapshot | None) -> str | None:
    """Encode a snapshot as JSON in pure ASCII, so that no character is lost on the way."""
    return None if snapshot is None else _encoded(snapshot)


def load_snapshot(text: str | None) -> Snapshot | None:
    found: Snapshot | None = None if text is None else json.loads(text)
    return found
