"""How fresh a source is, as it says itself: shown at every citation of it, on every surface."""

from __future__ import annotations

import re
from collections.abc import Iterable

from argot.tools.answering.disagreements import Disagreement
from argot.types import Document

SUPERSEDED_BY = "superseded_by"
_TELLING = re.compile(
    r"(?:draft|superseded|obsolete|deprecated|withdrawn|archived|retired|expired|in review|for (?:review|comment))\b.*",
    re.IGNORECASE,
)
_LONGEST = 80
"""Characters of what a document says of itself: it is quoted beside other things."""


def freshness(document: Document) -> str:
    """As in "rev. 2025-03-01, draft, owner: Ann"; empty where the document says nothing of the kind.

    That it is in force is not said: whatever is cited is expected to be.
    """
    said = [f"rev. {document.date}"] if document.date else []
    said += [value[:1].lower() + value[1:_LONGEST] for value in document.values("status") if _TELLING.fullmatch(value)]
    said += [f"superseded by {value[:_LONGEST]}" for value in document.values(SUPERSEDED_BY)]
    said += [f"owner: {value[:_LONGEST]}" for value in document.values("owner")[:1]]
    return ", ".join(said)


def disagreement_note(found: Disagreement) -> str:
    """Both sentences side by side, each with its document and how fresh that is."""
    return f"Two documents disagree: {_said(found.said, found.held[1])}; {_said(found.other, found.other_held[1])}."


def _said(sentence: str, document: Document) -> str:
    fresh = freshness(document)
    return f"“{sentence}” ({document.name}{f', {fresh}' if fresh else ''})"


def succession_notes(documents: Iterable[Document]) -> list[str]:
    """What is said where a document and the one that supersedes it both bear on the question."""
    from argot.tools.retrieval.succession import successors

    held = list({document.id: document for document in documents}.values())
    return [
        f"{old.name} says that it is superseded by {new.name}, which counts first." for old, new in successors(held)
    ]
