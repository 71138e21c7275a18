"""How fresh a source is, as it says itself: shown at every citation of it and wherever it is listed."""

from __future__ import annotations

from argot.document_status import is_notable
from argot.tools.answering.succession import successors_named
from argot.types import Document

_LONGEST = 80
"""Characters of what a document says of itself: it is quoted beside other things."""


def freshness(document: Document) -> str:
    """As in "rev. 2025-03-01, draft, owner: Ann"; empty where the document says nothing of the kind.

    That it is in force is not said: whatever is cited is expected to be.
    """
    said = [f"rev. {document.date}"] if document.date else []
    said += validity(document)
    said += [f"owner: {value[:_LONGEST]}" for value in document.values("owner")[:1]]
    return ", ".join(said)


def validity(document: Document) -> list[str]:
    """Why it is not simply in force, as in ["draft"] or ["superseded by Travel policy 2025"]; empty where it is."""
    said = [value[:1].lower() + value[1:_LONGEST] for value in document.values("status") if is_notable(value)]
    return said + [f"superseded by {value[:_LONGEST]}" for value in successors_named(document)]
