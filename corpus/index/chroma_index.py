"""A generation of vectors in Chroma: the common part of the embedded and the server index."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from argot.corpus.index.vector_index import IndexClosed, VectorIndex, collection_name
from argot.corpus.vector_ids import VectorKind, parse_item
from argot.errors import ArgotError, DamagedStore, VectorsUnavailable
from argot.protocols import Vectors
from argot.types import Audience

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection


MAX_PROBED_VECTORS = 50
BATCH_VECTORS = 5000  # Chroma refuses more than 5,461
MAX_FILTERED_IDS = 1_000
"""Up to this many vectors are read and compared one by one, at 45 us each: Chroma's graph takes up to a second to find
so few among half a million, and misses some."""
MAX_WIDENED_WINDOWS = 2_000
"""Number of vectors examined to find those of a large scope; if too few of them are in it, it is a small part of
all."""
_DELETED_MEANWHILE = "Error finding id"
_MAX_ATTEMPTS = 10
_PAUSE_SECONDS = 0.005
# hnswlib's construction and search breadth: well above Chroma's 100, so that a list of 50 is nearly exact.
CONFIGURATION = {"hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 200}}
MIN_BREADTH, MAX_BREADTH = 200, 3_200
VECTORS_OF_BREADTH = 75
"""Number of vectors for each step of breadth. 500,000 are searched with 3,200, which takes 8 ms and finds the nearest
ten; with the 200 of a new collection 0.83 of them (bench/laboratory/scale.md)."""

log = logging.getLogger(__name__)


def choose_breadth(vectors: int) -> int:
    """Return `ef_search` for a collection of this size: in powers of two, so that it seldom changes."""
    breadth = MIN_BREADTH
    while breadth < MAX_BREADTH and breadth * VECTORS_OF_BREADTH < vectors:
        breadth *= 2
    return breadth


class ChromaIndex(ABC):
    """A `VectorIndex` (which documents the methods) over Chroma's collections."""

    written_together: int
    read_together: int
    threads: ClassVar[ThreadPoolExecutor]
    """Search the collections of several sets of readers in parallel: Chroma releases the GIL meanwhile."""

    def __init__(self, generation: str, fingerprint: str) -> None:
        self.generation = generation
        self.fingerprint = fingerprint
        self.copy: VectorIndex | None = None
        self.gone = 0
        self.spared = 0
        self.is_starved = False
        self._changed = threading.Condition()
        self._readers = 0
        self._closed = False
        self._collections: dict[str, Collection] = {}

    # -- how Chroma is reached --------------------------------------------------------------------------------------

    @abstractmethod
    def build_damage_error(self, reason: str) -> DamagedStore | VectorsUnavailable: ...

    @abstractmethod
    def _errors_named(self) -> AbstractContextManager[None]:
        """Turn Chroma's errors within the block into Argot's."""

    @abstractmethod
    def _made_collection(self, name: str) -> Collection:
        """Return the collection, created if missing."""

    @abstractmethod
    def _close(self) -> None: ...

    def _collection(self, name: str) -> Collection | None:
        """Return a collection to be searched; None if there is none."""
        return self._collections.get(name)

    def _patient(self, collection: Collection) -> Collection:
        """Return the same for work that nobody waits for, and that may take longer than a search."""
        return collection

    # -- reading ----------------------------------------------------------------------------------------------------

    def search(
        self, kind: VectorKind, vector: Vectors, audiences: Iterable[Audience], limit: int
    ) -> list[tuple[str, float]]:
        return self.searches(kind, vector[np.newaxis], audiences, limit)[0]

    def searches(
        self,
        kind: VectorKind,
        vectors: Vectors,
        audiences: Iterable[Audience],
        limit: int,
        only: Mapping[Audience, Sequence[str]] | None = None,
    ) -> list[list[tuple[str, float]]]:
        best: list[dict[str, float]] = [{} for _ in vectors]
        with self._reading():
            named = {audience: self._collection(self.collection_name(kind, audience)) for audience in set(audiences)}
            searched = [
                (collection, vectors, limit, None if only is None else only[audience])
                for audience, collection in named.items()
                if collection is not None
            ]
            for of_collection in self._search_in_parallel(searched):
                # While a document's readers are being changed, its vectors are briefly in two collections.
                for known, items in zip(best, of_collection, strict=True):
                    for item, similarity in items:
                        known[item] = max(similarity, known.get(item, -1.0))
        # Ids break ties, so that the same question gives the same order every time.
        return [sorted(known.items(), key=lambda pair: (-pair[1], pair[0]))[:limit] for known in best]

    def _search_in_parallel(
        self, searched: Sequence[tuple[Collection, Vectors, int, Sequence[str] | None]]
    ) -> Iterable[list[list[tuple[str, float]]]]:
        if len(searched) < 2:
            return [_search_items(*one) for one in searched]
        under_way = [self.threads.submit(_search_items, *one) for one in searched]
        try:
            return [one.result() for one in under_way]
        finally:
            for one in under_way:
                one.cancel()
            # No read may be in progress when a caller that waits for readers closes the index.
            wait(under_way)

    def get(self, collection: str, ids: Sequence[str]) -> dict[str, Vectors]:
        found: dict[str, Vectors] = {}
        with self._reading():
            if known := self._collection(collection):
                for batch in _split_batches(ids, self.read_together):
                    answer = self._patient(known).get(ids=list(batch), include=["embeddings"])
                    embeddings = cast(Any, answer["embeddings"])
                    found |= {
                        id_: np.asarray(row, np.float32) for id_, row in zip(answer["ids"], embeddings, strict=True)
                    }
        return found

    def nearest(self, collection: str, vectors: Vectors, count: int) -> list[tuple[list[str], list[float]]]:
        with self._reading():
            return _find_nearest(self._patient(self._collections[collection]), vectors, count)

    def counts(self) -> dict[str, int]:
        with self._reading():
            counted = {name: self._patient(found).count() for name, found in self._collections.items()}
        return {name: count for name, count in counted.items() if count}

    def probe(self, dimensions: int) -> None:
        # Any vector of length 1 will do: only the number of results matters.
        vector = np.full(dimensions, dimensions**-0.5, np.float32)
        for name, count in self.counts().items():
            wanted = min(count, MAX_PROBED_VECTORS)
            with self._reading():
                found = self._patient(self._collections[name])
                answer = found.query(query_embeddings=cast(Any, [vector]), n_results=wanted)
            if len(answer["ids"][0]) < wanted:
                raise self.build_damage_error(f"the graph of {name} is lost")

    def ids(self, collection: str) -> list[str]:
        with self._reading():
            known = self._collection(collection)
            return sorted(self._patient(known).get(include=[])["ids"]) if known else []

    def collection_name(self, kind: VectorKind, audience: Audience) -> str:
        return collection_name(kind, self.fingerprint, audience)

    # -- writing (one thread at a time: `Corpus` sees to it) --------------------------------------------------------

    def upsert(self, collection: str, vectors: Mapping[str, Vectors]) -> None:
        if not vectors:
            return
        with self._errors_named():
            target = self._collections.get(collection)
            if target is None:
                target = self._made_collection(collection)
                # A new dictionary, because readers may be iterating over the old one.
                self._collections = {**self._collections, collection: target}
            for batch in _split_batches(list(vectors), self.written_together):
                rows = np.stack([vectors[id_] for id_ in batch])
                self._patient(target).upsert(ids=list(batch), embeddings=rows)
        if self.copy is not None:
            self.copy.upsert(collection, vectors)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        target = self._collection(collection)
        if target is not None:
            with self._errors_named():
                for batch in _split_batches(ids):
                    self._patient(target).delete(ids=list(batch))
            # Unknown ids are counted too, which at worst makes compaction earlier.
            self.gone += len(ids)
        if self.copy is not None:
            self.copy.delete(collection, ids)

    def fit_breadth(self, counts: Mapping[str, int]) -> bool:
        """Increase the search breadth of collections that have grown; return whether any has.

        Chroma applies it once it has reopened them.
        """
        changed = False
        for name, count in counts.items():
            found, wanted = self._collections[name], choose_breadth(count)
            hnsw = found.configuration_json.get("hnsw") or {}
            if hnsw.get("ef_search") != wanted:
                with self._errors_named():
                    self._patient(found).modify(configuration=cast(Any, {"hnsw": {"ef_search": wanted}}))
                changed = True
        return changed

    def close(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._readers == 0)
            if not self._closed:
                self._closed = True
                self._collections = {}
                try:
                    with self._errors_named():
                        self._close()
                except (ArgotError, OSError):  # of a damaged one, of which nothing is used any more
                    log.warning("the vector index %s was not closed well", self.generation, exc_info=True)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        with self._changed:
            if self._closed:
                raise IndexClosed(self.generation)
            self._readers += 1
        # Readers are counted under the lock but read outside it, so that searches run in parallel.
        try:
            with self._errors_named():
                yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()


# -- parts ----------------------------------------------------------------------------------------------------------


def _search_items(
    collection: Collection, vectors: Vectors, limit: int, only: Sequence[str] | None = None
) -> list[list[tuple[str, float]]]:
    """Return for each vector the best `limit` items. Windows of one item may fill a list, which is then extended.

    Chroma is not asked for the number of vectors: it counts them one by one. A short list shows that it was complete.
    """
    if only is not None and len(only) <= MAX_FILTERED_IDS:
        return _compare_all(collection, vectors, limit, only)
    found: dict[int, list[tuple[str, float]]] = {}
    # With a filter of many ids the search in Chroma's graph ends early, and misses some of the nearest (a third of
    # them, among 12,000).
    inside = frozenset(only) if only is not None else None
    # Most items have a single window, so that twice as many vectors nearly always contain enough items.
    wanted = max(1, 2 * limit)
    while left := [number for number in range(len(vectors)) if number not in found]:
        if inside is not None and wanted > MAX_WIDENED_WINDOWS:
            inside, wanted = None, max(1, 2 * limit)
        among = only if inside is None else None
        for number, (ids, distances) in zip(left, _find_nearest(collection, vectors[left], wanted, among), strict=True):
            items: dict[str, float] = {}
            for id_, distance in zip(ids, distances, strict=True):
                if inside is None or id_ in inside:
                    items.setdefault(
                        parse_item(id_), 1.0 - float(distance)
                    )  # nearest first: the first window is the best
            if len(items) >= limit or len(ids) < wanted:
                found[number] = list(items.items())[:limit]
        wanted *= 2
    return [found[number] for number in range(len(vectors))]


def _compare_all(
    collection: Collection, vectors: Vectors, limit: int, only: Sequence[str]
) -> list[list[tuple[str, float]]]:
    """Do the work of `_search_items` for a few items, which are all compared. Missing ones are left out: Chroma returns
    those it has.
    """
    if not only or not len(vectors):  # Chroma treats an empty list of ids as no filter at all
        return [[] for _ in vectors]
    answer = collection.get(ids=list(only), include=["embeddings"])
    ids = answer["ids"]
    if not ids:
        return [[] for _ in vectors]
    similarities = _normalize_rows(vectors) @ _normalize_rows(np.asarray(cast(Any, answer["embeddings"]), np.float32)).T
    found: list[list[tuple[str, float]]] = []
    for row in similarities:
        items: dict[str, float] = {}
        for place in np.argsort(-row, kind="stable"):
            items.setdefault(parse_item(ids[place]), float(row[place]))
            if len(items) == limit:
                break
        found.append(list(items.items()))
    return found


def _normalize_rows(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def _find_nearest(
    collection: Collection, vectors: Vectors, count: int, only: Sequence[str] | None = None
) -> list[tuple[list[str], list[float]]]:
    """Return ids and distances of the vectors nearest to each, among those with the ids in `only`, or all.

    Chroma fails if a vector is deleted between the search and the look-up of its id: then the query is repeated.
    """
    ids = None if only is None else list(only)
    for attempt in range(_MAX_ATTEMPTS):
        # It accepts no empty list, and fails at a missing id: deleted meanwhile, or not yet written.
        if ids is not None and attempt:
            ids = [id_ for batch in _split_batches(ids) for id_ in collection.get(ids=list(batch), include=[])["ids"]]
        if ids == []:
            return [([], [])] * len(vectors)
        try:
            answer = collection.query(
                query_embeddings=cast(Any, vectors), ids=ids, n_results=count, include=["distances"]
            )
        except Exception as error:
            if _DELETED_MEANWHILE not in str(error) or attempt == _MAX_ATTEMPTS - 1:
                raise
            time.sleep(attempt * _PAUSE_SECONDS)
        else:
            return list(zip(answer["ids"], cast(Any, answer["distances"]), strict=True))
    raise AssertionError("the last attempt returns or raises")


def _split_batches(ids: Sequence[str], size: int = BATCH_VECTORS) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
