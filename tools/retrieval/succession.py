"""Documents that say by which other one they are superseded: the successor's passages come first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from argot.tools.text.words import bare
from argot.types import Document, Hit


def successors(documents: Sequence[Document]) -> list[tuple[Document, Document]]:
    """The pairs of a document and the one among these that it names as its successor."""
    return [
        (old, new)
        for old in documents
        for said in old.values("superseded_by")
        for new in documents
        if new.id != old.id and _names(said, new)
    ]


def successors_first(hits: Sequence[Hit]) -> list[Hit]:
    """The hits in their order, but those of a superseded document behind the last of its successor."""
    ordered = list(hits)
    for old, new in successors(list({hit.document.id: hit.document for hit in hits}.values())):
        after = max(place for place, hit in enumerate(ordered) if hit.document.id == new.id)
        moved = [hit for hit in ordered[:after] if hit.document.id == old.id]
        kept = [hit for hit in ordered[: after + 1] if hit.document.id != old.id]
        ordered = [*kept, *moved, *ordered[after + 1 :]]
    return ordered


def _names(said: str, document: Document) -> bool:
    wanted = bare(said)
    return wanted in {
        bare(document.title),
        bare(document.name),
        bare(PurePosixPath(document.name).stem),
        bare(document.uri),
    }
