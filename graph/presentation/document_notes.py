"""What is said below an answer of the documents it rests on: where two disagree, where one replaces another."""

from __future__ import annotations

from collections.abc import Iterable

from argot.freshness import freshness
from argot.tools.answering.disagreements import Disagreement
from argot.types import Document


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
