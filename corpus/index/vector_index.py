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
    """Whether a write met a full disk: it has to be opened again before the next one."""

    def search(
        self, kind: VectorKind, vector: Vectors, audiences: Iterable[Audience], limit: int
    ) -> list[tuple[str, float]]:
        """(item id, cosine similarity), best first; an item's similarity is that of its best window.

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
            only: the ids of the vectors that alone are searched, for each of the audiences; None: all.
        """
        ...

    def get(self, collection: str, ids: Sequence[str]) -> dict[str, Vectors]:
        """The stored vectors, each of shape (dimensions,). Unknown ids and collections are left out."""
        ...

    def nearest(self, collection: str, vectors: Vectors, count: int) -> list[tuple[list[str], list[float]]]:
        """Ids and distances of the vectors nearest to each of several, shape (n, dimensions)."""
        ...

    def counts(self) -> dict[str, int]:
        """Vectors by collection; empty collections do not count."""
        ...

    def probe(self, dimensions: int) -> None:
        """Find lost graphs now rather than at a question, by searching each once."""
        ...

    def ids(self, collection: str) -> list[str]: ...

    def collection_name(self, kind: VectorKind, audience: Audience) -> str: ...

    def upsert(self, collection: str, vectors: Mapping[str, Vectors]) -> None:
        """One thread at a time, as with `delete`: `Corpus` sees to it. On return they survive a crash."""
        ...

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Unknown ids and collections are left alone: a crash may have come before they were written."""
        ...

    def build_damage_error(self, reason: str) -> DamagedStore | VectorsUnavailable:
        """The error that says so; its message ends with the command that mends it."""
        ...

    def close(self) -> None: ...


class Generations(Protocol):
    """The store of the generations of one knowledge base, one of which is live."""

    def current(self) -> str | None:
        """The live generation's name; None when no index was ever made.

        Raises:
            DamagedStore: it is gone, or is kept elsewhere than the settings say.
        """
        ...

    def unused_name(self, known: Iterable[str]) -> str:
        """A name that no generation has or had.

        Args:
            known: the names that corpus.db knows.
        """
        ...

    def make(self, generation: str, fingerprint: str) -> VectorIndex:
        """A new, empty generation. It is not the live one yet."""
        ...

    def open(self, generation: str, fingerprint: str) -> VectorIndex:
        """
        Raises:
            DamagedStore: what can be seen from outside says that it must not be opened.
        """
        ...

    def check(self, generation: str) -> None:
        """Look thoroughly at whatever it is kept in.

        Raises:
            DamagedStore
        """
        ...

    def make_current(self, generation: str) -> None:
        """Make this the live generation, durably: a crash after this returns changes nothing."""
        ...

    def remove_others(self, live: str | None) -> None:
        """Delete earlier generations and what is left of unfinished ones."""
        ...

    def blank_unsaved(self, generation: str) -> None:
        """Let nothing stay in the files of what was in memory before, as far as the files are ours."""
        ...

    def build_damage_error(self, reason: str) -> DamagedStore | VectorsUnavailable: ...

    def close(self) -> None:
        """After its indexes."""
        ...


def collection_name(kind: VectorKind, fingerprint: str, audience: Audience) -> str:
    """Names tell a reader of the files nothing of the groups there are."""
    readers = blake2b(dump_audience(audience).encode(), digest_size=8).hexdigest()
    return f"{kind}-{fingerprint}-{readers}"
