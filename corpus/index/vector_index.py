"""The interface of an index of vectors, wherever it is stored: in the knowledge base's folder, or on a Chroma server.

A `VectorIndex` is one generation: one embedder's vectors of all texts. `Generations` manages them, and names the live
one. Always rebuildable from corpus.db.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Protocol

from argot.corpus.store.row_mapping import dump_audience
from argot.corpus.vector_ids import VectorKind
from argot.errors import DamagedStore, VectorsUnavailable
from argot.protocols import Vectors
from argot.types import Audience


class IndexClosed(RuntimeError):
    """The generation was replaced by a rebuilt one between two steps of a read. Repeat the read on the new one."""


class VectorIndex(Protocol):
    """One generation. Safe to read from several threads while one writes; `close` waits for running reads.

    A collection contains one embedder's vectors of one kind of text for one set of readers: a search opens only
    collections that its principal may read, so that others' texts can neither be found nor crowd out results.

    Every method raises `DamagedStore` if vectors are lost or altered, `StoreUnavailable` if they are temporarily
    unavailable, and `IndexClosed` once it is closed.
    """

    generation: str
    fingerprint: str
    copy: VectorIndex | None
    """The generation that will replace this one, while it is being filled. Everything is written there too."""
    gone: int
    """Number of deleted vectors that still take space."""
    spared: int
    """As long as no more than this many are gone, it is known that more are left (`compaction.is_due`)."""
    is_starved: bool
    """Whether a write met a full disk: it has to be reopened before the next one."""

    def search(
        self, kind: VectorKind, vector: Vectors, audiences: Iterable[Audience], limit: int
    ) -> list[tuple[str, float]]:
        """Return (item id, cosine similarity), best first; an item's similarity is that of its best window.

        Args:
            vector: shape (dimensions,), of length 1.
            audiences: those the principal may read; others' collections are never opened.
        """
        ...

    def searches(
        self,
        kind: VectorKind,
        vectors: Vectors,
        audiences: Iterable[Audience],
        limit: int,
        only: Mapping[Audience, Sequence[str]] | None = None,
    ) -> list[list[tuple[str, float]]]:
        """Search for each of several vectors, shape (n, dimensions): cheaper than one after the other.

        Args:
            only: the ids of the only vectors searched, for each of the audiences; None: all.
        """
        ...

    def get(self, collection: str, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the stored vectors, each of shape (dimensions,). Unknown ids and collections are left out."""
        ...

    def nearest(self, collection: str, vectors: Vectors, count: int) -> list[tuple[list[str], list[float]]]:
        """Return ids and distances of the vectors nearest to each of several, shape (n, dimensions)."""
        ...

    def counts(self) -> dict[str, int]:
        """Return the number of vectors by collection; empty collections are left out."""
        ...

    def probe(self, dimensions: int) -> None:
        """Find lost graphs now rather than at a question, by searching each once."""
        ...

    def ids(self, collection: str) -> list[str]: ...

    def collection_name(self, kind: VectorKind, audience: Audience) -> str: ...

    def upsert(self, collection: str, vectors: Mapping[str, Vectors]) -> None:
        """Write vectors, which survive a crash once this returns. One thread at a time, as with `delete`: `Corpus`
        ensures it.
        """
        ...

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Delete vectors; unknown ids and collections are ignored, since a crash may have prevented their writing."""
        ...

    def build_damage_error(self, reason: str) -> DamagedStore | VectorsUnavailable:
        """Return the error for damaged vectors; its message ends with the repair command."""
        ...

    def close(self) -> None: ...


class Generations(Protocol):
    """The store of the generations of one knowledge base, one of which is live."""

    def current(self) -> str | None:
        """Return the live generation's name; None if no index was ever made.

        Raises:
            DamagedStore: it is missing, or stored elsewhere than the settings say.
        """
        ...

    def unused_name(self, known: Iterable[str]) -> str:
        """Return a name that no generation has or had.

        Args:
            known: the names in corpus.db.
        """
        ...

    def make(self, generation: str, fingerprint: str) -> VectorIndex:
        """Create a new, empty generation. It is not the live one yet."""
        ...

    def open(self, generation: str, fingerprint: str) -> VectorIndex:
        """Open the index of a generation.

        Raises:
            DamagedStore: checks from outside show that it must not be opened.
        """
        ...

    def check(self, generation: str) -> None:
        """Check its storage thoroughly.

        Raises:
            DamagedStore
        """
        ...

    def make_current(self, generation: str) -> None:
        """Make this the live generation, durably: a crash after this returns changes nothing."""
        ...

    def remove_others(self, live: str | None) -> None:
        """Delete earlier generations and the remains of unfinished ones."""
        ...

    def blank_unsaved(self, generation: str) -> None:
        """Remove earlier contents of memory from the files, as far as Argot owns them."""
        ...

    def build_damage_error(self, reason: str) -> DamagedStore | VectorsUnavailable: ...

    def close(self) -> None:
        """Close it, after its indexes."""
        ...


def collection_name(kind: VectorKind, fingerprint: str, audience: Audience) -> str:
    """Return a name that reveals nothing of the existing groups."""
    readers = blake2b(dump_audience(audience).encode(), digest_size=8).hexdigest()
    return f"{kind}-{fingerprint}-{readers}"
