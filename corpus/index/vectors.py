"""The vector index: Chroma, embedded, below `vectors/`. Always rebuildable from corpus.db.

`vectors/<generation>/` is one Chroma folder and `vectors/CURRENT` names the live one. Inside, a collection holds what
one embedder made of one kind of text for one set of readers: a search opens only collections that its principal may
read, so that others' texts can neither be found nor crowd out results, and no filter makes it linear.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from argot.corpus.index.generations import damaged_vectors, errors_named
from argot.corpus.store.row_mapping import audience_text
from argot.corpus.vector_ids import VectorKind, item_of
from argot.errors import ArgotError
from argot.protocols import Vectors
from argot.types import Audience

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection


PROBED = 50
BATCH = 5000  # Chroma refuses more than 5,461
WRITTEN_TOGETHER = 64
FEW_IDS = 1_000
MOST_WIDENED = 2_000
"""Vectors looked through for those of a scope of many; where too few of them are in it, it is a small part of all."""
"""While Chroma writes vectors, no other thread of the process runs: some 30 ms for these, and seconds for thousands."""
_DELETED_MEANWHILE = "Error finding id"
_ATTEMPTS = 10
_PAUSE_SECONDS = 0.005
# hnswlib's construction and search breadth: well above Chroma's 100, so that a list of 50 is nearly exact.
_CONFIGURATION = {"hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 200}}

log = logging.getLogger(__name__)


class IndexClosed(RuntimeError):
    """The generation was replaced by a rebuilt one between two steps of a read. Read again from the new one."""


class VectorIndex:
    """One generation. Safe to read from several threads while one writes; `close` waits for running reads."""

    def __init__(self, root: Path, generation: str, fingerprint: str) -> None:
        """Opens Chroma, which takes about a second the first time in a process.

        Raises:
            DamagedStore: the folder cannot be opened.
        """
        self.root = root
        self.generation = generation
        self.fingerprint = fingerprint
        self.copy: VectorIndex | None = None
        """The generation that is to replace this one, while it is being filled. All that is written goes there too."""
        self.gone = 0
        """Vectors that were deleted and whose room is still taken."""
        self.spared = 0
        """As long as no more than this many are gone, it is known that more are left (`compaction.is_due`)."""
        self._changed = threading.Condition()
        self._readers = 0
        self._closed = False
        with errors_named(root):
            self._client = _client(root / generation)
            self._collections = {found.name: found for found in self._client.list_collections()}

    # -- reading ----------------------------------------------------------------------------------------------------

    def search(
        self, kind: VectorKind, vector: Vectors, audiences: Iterable[Audience], limit: int
    ) -> list[tuple[str, float]]:
        """(item id, cosine similarity), best first; an item's similarity is that of its best window.

        Args:
            vector: shape (dimensions,), of length 1.
            audiences: those the principal may read; others' collections are never opened.
        """
        return self.searches(kind, vector[np.newaxis], audiences, limit)[0]

    def searches(
        self,
        kind: VectorKind,
        vectors: Vectors,
        audiences: Iterable[Audience],
        limit: int,
        only: Mapping[Audience, Sequence[str]] | None = None,
    ) -> list[list[tuple[str, float]]]:
        """What `search` finds for each of several vectors, shape (n, dimensions): cheaper than one after the other.

        Args:
            only: the ids of the vectors that alone are searched, for each of the audiences; None: all.
        """
        best: list[dict[str, float]] = [{} for _ in vectors]
        with self._reading():
            for audience in set(audiences):
                collection = self._collections.get(self.collection_name(kind, audience))
                if collection is not None:
                    # While a document's readers are being changed, its vectors are in two collections for a moment.
                    some = None if only is None else only[audience]
                    for known, items in zip(best, _search_items(collection, vectors, limit, some), strict=True):
                        for item, similarity in items:
                            known[item] = max(similarity, known.get(item, -1.0))
        # Ids break ties, so that the same question gives the same order every time.
        return [sorted(known.items(), key=lambda pair: (-pair[1], pair[0]))[:limit] for known in best]

    def get(self, collection: str, ids: Sequence[str]) -> dict[str, Vectors]:
        """The stored vectors, each of shape (dimensions,)."""
        found: dict[str, Vectors] = {}
        with self._reading():
            if collection in self._collections:
                for batch in _batches(ids):
                    answer = self._collections[collection].get(ids=list(batch), include=["embeddings"])
                    embeddings = cast(Any, answer["embeddings"])
                    found |= {
                        id_: np.asarray(row, np.float32) for id_, row in zip(answer["ids"], embeddings, strict=True)
                    }
        return found

    def nearest(self, collection: str, vectors: Vectors, count: int) -> list[tuple[list[str], list[float]]]:
        """Ids and distances of the vectors nearest to each of several, shape (n, dimensions)."""
        with self._reading():
            return _nearest(self._collections[collection], vectors, count)

    def counts(self) -> dict[str, int]:
        """Vectors by collection; empty collections do not count.

        Raises:
            DamagedStore: an index file is truncated or gone.
        """
        with self._reading():
            counted = {name: collection.count() for name, collection in self._collections.items()}
        return {name: count for name, count in counted.items() if count}

    def probe(self, dimensions: int) -> None:
        """Find lost graphs now rather than at a question, by searching each once.

        Raises:
            DamagedStore: a graph finds fewer vectors than are stored.
        """
        # Any vector of length 1 will do: only the number of results matters.
        vector = np.full(dimensions, dimensions**-0.5, np.float32)
        for name, count in self.counts().items():
            wanted = min(count, PROBED)
            with self._reading():
                answer = self._collections[name].query(query_embeddings=cast(Any, [vector]), n_results=wanted)
            if len(answer["ids"][0]) < wanted:
                raise damaged_vectors(self.root, f"the graph of {name} is lost")

    def ids(self, collection: str) -> list[str]:
        with self._reading():
            known = self._collections.get(collection)
            return sorted(known.get(include=[])["ids"]) if known else []

    def collection_name(self, kind: VectorKind, audience: Audience) -> str:
        """Names tell a folder's reader nothing of the groups there are."""
        readers = blake2b(audience_text(audience).encode(), digest_size=8).hexdigest()
        return f"{kind}-{self.fingerprint}-{readers}"

    # -- writing (one thread at a time: `Corpus` sees to it) --------------------------------------------------------

    def upsert(self, collection: str, vectors: Mapping[str, Vectors]) -> None:
        if not vectors:
            return
        with errors_named(self.root):
            target = self._collections.get(collection)
            if target is None:
                # No embedding function: Chroma's default would download a model.
                target = self._client.get_or_create_collection(
                    collection, embedding_function=None, configuration=cast(Any, _CONFIGURATION)
                )
                # A new dictionary, because readers may be iterating over the old one.
                self._collections = {**self._collections, collection: target}
            for batch in _batches(list(vectors), WRITTEN_TOGETHER):
                target.upsert(ids=list(batch), embeddings=np.stack([vectors[id_] for id_ in batch]))
        if self.copy is not None:
            self.copy.upsert(collection, vectors)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Unknown ids and collections are left alone: a crash may have come before they were written."""
        target = self._collections.get(collection)
        if target is not None:
            with errors_named(self.root):
                for batch in _batches(ids):
                    target.delete(ids=list(batch))
            # Unknown ids are counted too, which at worst brings compaction forward.
            self.gone += len(ids)
        if self.copy is not None:
            self.copy.delete(collection, ids)

    def close(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._readers == 0)
            if not self._closed:
                self._closed = True
                self._collections = {}
                try:
                    with errors_named(self.root):
                        cast(Any, self._client).close()
                except (ArgotError, OSError):  # of a damaged one; nothing of it is used any more
                    log.warning("the vector index %s was not closed well", self.generation, exc_info=True)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        with self._changed:
            if self._closed:
                raise IndexClosed(self.generation)
            self._readers += 1
        # Readers are counted under the lock but read outside it, so that searches run in parallel.
        try:
            with errors_named(self.root):
                yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()


# -- parts ----------------------------------------------------------------------------------------------------------


def _client(folder: Path) -> ClientAPI:
    import chromadb
    from chromadb.config import Settings

    folder.mkdir(parents=True, exist_ok=True)
    # By default Chroma sends usage statistics to its makers.
    return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))


def _search_items(
    collection: Collection, vectors: Vectors, limit: int, only: Sequence[str] | None = None
) -> list[list[tuple[str, float]]]:
    """For each vector the best `limit` items. Windows of one item may fill a list, which then is widened.

    Chroma is not asked how many vectors there are: it counts them one by one. A short list says that it was all.
    """
    found: dict[int, list[tuple[str, float]]] = {}
    # Among many ids Chroma's graph is left early, and misses some of the nearest (a third of them, among 12,000).
    inside = frozenset(only) if only is not None and len(only) > FEW_IDS else None
    # Most items have a single window, so twice as many vectors nearly always hold enough items.
    wanted = max(1, 2 * limit)
    while left := [number for number in range(len(vectors)) if number not in found]:
        if inside is not None and wanted > MOST_WIDENED:
            inside, wanted = None, max(1, 2 * limit)
        among = only if inside is None else None
        for number, (ids, distances) in zip(left, _nearest(collection, vectors[left], wanted, among), strict=True):
            items: dict[str, float] = {}
            for id_, distance in zip(ids, distances, strict=True):
                if inside is None or id_ in inside:
                    items.setdefault(item_of(id_), 1.0 - float(distance))  # nearest first: the first window is the best
            if len(items) >= limit or len(ids) < wanted:
                found[number] = list(items.items())[:limit]
        wanted *= 2
    return [found[number] for number in range(len(vectors))]


def _nearest(
    collection: Collection, vectors: Vectors, count: int, only: Sequence[str] | None = None
) -> list[tuple[list[str], list[float]]]:
    """Ids and distances of the vectors nearest to each, among those with the ids in `only`, or all.

    Chroma fails when a vector is deleted between its steps of finding it and naming it: then it is asked again.
    """
    ids = None if only is None else list(only)
    for attempt in range(_ATTEMPTS):
        # It takes no empty list, and fails at an id that is not there: deleted meanwhile, or not yet written.
        if ids is not None and attempt:
            ids = [id_ for batch in _batches(ids) for id_ in collection.get(ids=list(batch), include=[])["ids"]]
        if ids == []:
            return [([], [])] * len(vectors)
        try:
            answer = collection.query(
                query_embeddings=cast(Any, vectors), ids=ids, n_results=count, include=["distances"]
            )
        except Exception as error:
            if _DELETED_MEANWHILE not in str(error) or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(attempt * _PAUSE_SECONDS)
        else:
            return list(zip(answer["ids"], cast(Any, answer["distances"]), strict=True))
    raise AssertionError("the last attempt returns or raises")


def _batches(ids: Sequence[str], size: int = BATCH) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
