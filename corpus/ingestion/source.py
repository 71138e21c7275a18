"""Sources of documents: anything that has a URI and bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from argot.corpus.store.source_metadata import SourceMetadata
from argot.document_names import plain_text

__all__ = ["Source", "SourceMetadata"]


@dataclass(frozen=True, slots=True)
class Source:
    """One document to add. `load` is called at its turn; `size` is in bytes, -1 if unknown.

    `skip` is the reason if it must not be added, so that nothing is skipped silently. Without `metadata` the stored
    metadata stay.
    """

    uri: str
    name: str
    load: Callable[[], bytes]
    size: int = -1
    skip: str = ""
    metadata: SourceMetadata | None = None

    def __post_init__(self) -> None:
        # Checked here, where all pass: file names are untrusted.
        object.__setattr__(self, "name", plain_text(self.name))
