"""Sources of documents: anything that has a URI and bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from argot.corpus.store.source_metadata import SourceMetadata
from argot.document_names import plain_text

__all__ = ["Source", "SourceMetadata"]


@dataclass(frozen=True, slots=True)
class Source:
    """One document to add. `load` is called when its turn comes; `size` is in bytes, -1 when not known before.

    `skip` holds a reason where it is not to be added at all, so that nothing is passed over in silence. Without
    `metadata` what was stored of the document before stays.
    """

    uri: str
    name: str
    load: Callable[[], bytes]
    size: int = -1
    skip: str = ""
    metadata: SourceMetadata | None = None

    def __post_init__(self) -> None:
        # Here, where all come by: names are what strangers call their files.
        object.__setattr__(self, "name", plain_text(self.name))
