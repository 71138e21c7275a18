"""Notes about the documents behind an answer: which of them disagree, and which replace others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import permutations

from argot.languages.catalogues import quote_name, translate
from argot.tools.answering.disagreements import Disagreement
from argot.tools.answering.freshness import freshness
from argot.tools.answering.succession import find_successors
from argot.tools.text.document_subject import list_unlike_fields, strip_revision
from argot.types import Document

_MAX_VALUE_CHARS = 80
"""Number of characters quoted from a document's description of itself."""


def describe_places(documents: Iterable[Document]) -> dict[str, str]:
    """Return, by document id, the place that a document is for ("region: EU") if another of its title is for another
    place.
    """
    told: dict[str, str] = {}
    held = {document.id: document for document in documents}
    for one, other in permutations(held.values(), 2):
        if strip_revision(one.title) == strip_revision(other.title):
            names = list_unlike_fields(one, other)
            said = ", ".join(f"{name}: {', '.join(one.values(name))[:_MAX_VALUE_CHARS]}" for name in names)
            told[one.id] = told.get(one.id) or said
    return told


def write_disagreement_note(found: Disagreement) -> str:
    """Return both sentences side by side, each with its document and that document's date."""
    said, other = _quote_sentence(found.said, found.held[1]), _quote_sentence(found.other, found.other_held[1])
    return translate("Two documents disagree: %(said)s; %(other)s.", said=said, other=other)


def _quote_sentence(sentence: str, document: Document) -> str:
    fresh = freshness(document)
    return f"{quote_name(sentence)} ({document.name}{f', {fresh}' if fresh else ''})"


def write_succession_notes(documents: Iterable[Document], cited: Collection[str]) -> list[str]:
    """Return a note for each cited document whose successor was also found.

    Args:
        documents: those of the passages that were found.
        cited: ids of those that the answer cites.
    """
    held = list({document.id: document for document in documents}.values())
    return [
        translate("%(old)s says that it is superseded by %(new)s, which counts first.", old=old.name, new=new.name)
        for old, new in find_successors(held)
        if old.id in cited
    ]
