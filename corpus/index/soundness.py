"""Checks that the index returns the vectors that were written, and that its graphs lead to them.

Bits on a disk may change, and a changed vector still answers. corpus.db therefore stores a sketch of each: two sums of
its numbers, with signs chosen once for all. A number that changes by more than the tolerance changes both sums by as
much; smaller changes affect no ranking. Chroma rescales vectors to length 1 in their last bits, so that a hash would
reject all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from argot.corpus.index.chroma_index import BATCH_VECTORS
from argot.corpus.index.vector_index import VectorIndex
from argot.corpus.store.row_mapping import load_audience
from argot.corpus.vector_ids import build_vector_id
from argot.databases import Connection
from argot.protocols import Vectors

SKETCH_SUMS = 2
TOLERANCE = 1e-4
MAX_SEARCHED_VECTORS = 1_000
"""Vectors of a collection that are searched with themselves as queries."""
SEARCHED_BATCH = 100
NEIGHBOURS = 10
CROWDED_DISTANCE = 0.01
"""Cosine distance below which a ranking cannot distinguish vectors."""
CROWDED_SHARE = 0.2
"""The share of misses allowed among nearly identical texts: among many thousands an intact graph misses a tenth."""
LOST_SHARE = 0.02
"""The share of misses allowed in an intact graph: its search is not exact."""

Sketch = bytes
"""`SUMS` float32 numbers, little-endian."""


def sketch_vectors(vectors: Vectors) -> bytes:
    """Return the sketches of several vectors, shape (n, dimensions), concatenated."""
    sums: bytes = np.asarray(vectors @ _build_signs(vectors.shape[1]), "<f4").tobytes()
    return sums


def find_vector_faults(connection: Connection, index: VectorIndex, *, searched: bool = True) -> Iterator[str]:
    """Yield the faults of the vectors, one sentence each. It reads all of them.

    Args:
        searched: also check whether its graphs lead to them.

    Raises:
        DamagedStore: Chroma cannot return them.
    """
    expected = read_expected_vectors(connection, index)
    for name in sorted(expected.keys() | index.counts().keys()):
        wanted, there = expected.get(name, {}), set(index.ids(name))
        # Each check is more expensive than the previous one, and pointless once that has failed.
        if there != wanted.keys():
            missing, surplus = len(wanted.keys() - there), len(there - wanted.keys())
            yield f"{name}: {missing} vectors are missing, {surplus} are too many"
        elif altered := _count_altered(index, name, wanted):
            yield f"{name}: {altered} vectors are not as they were written"
        elif searched and (lost := _count_lost(index, name, sorted(wanted))):
            yield f"{name}: searches do not find {lost} of {min(len(wanted), MAX_SEARCHED_VECTORS)} vectors"


def read_expected_vectors(connection: Connection, index: VectorIndex) -> dict[str, dict[str, Sketch | None]]:
    """Return the vectors that each collection must hold; None for those written before there were sketches."""
    rows = connection.execute(
        """SELECT v.item, v.kind, v.windows, v.sketch, a.tokens
        FROM vectors AS v JOIN documents AS d ON d.id = v.document JOIN audiences AS a ON a.n = d.audience
        WHERE v.generation = ?""",
        (index.generation,),
    )
    found: dict[str, dict[str, Sketch | None]] = {}
    for item, kind, windows, sketch, tokens in rows:
        of_collection = found.setdefault(index.collection_name(kind, load_audience(tokens)), {})
        for window in range(windows):
            of_collection[build_vector_id(item, window)] = None if sketch is None else _cut_sketch(sketch, window)
    return found


def _count_altered(index: VectorIndex, collection: str, wanted: Mapping[str, Sketch | None]) -> int:
    altered, ids = 0, list(wanted)
    for start in range(0, len(ids), BATCH_VECTORS):
        batch = ids[start : start + BATCH_VECTORS]
        found = index.get(collection, batch)
        kept = [id_ for id_ in batch if id_ in found]
        altered += len(batch) - len(kept)
        sums = (
            np.frombuffer(sketch_vectors(np.stack([found[id_] for id_ in kept])), "<f4").reshape(-1, SKETCH_SUMS)
            if kept
            else ()
        )
        for id_, now in zip(kept, sums, strict=True):
            before = wanted[id_]
            if before is not None and not _is_alike(now, np.frombuffer(before, "<f4")):
                altered += 1
    return altered


def _is_alike(now: np.ndarray[Any, Any], before: np.ndarray[Any, Any]) -> bool:
    return bool((np.abs(now - before) <= TOLERANCE).all())  # not for NaN


def _count_lost(index: VectorIndex, collection: str, ids: Sequence[str]) -> int:
    """Return how many vectors of a sample a search fails to find; 0 if no more than an intact graph misses."""
    sample = (
        [ids[n * len(ids) // MAX_SEARCHED_VECTORS] for n in range(MAX_SEARCHED_VECTORS)]
        if len(ids) > MAX_SEARCHED_VECTORS
        else ids
    )
    lost = crowded = 0
    for start in range(0, len(sample), SEARCHED_BATCH):
        vectors = index.get(collection, sample[start : start + SEARCHED_BATCH])
        answers = index.nearest(collection, np.stack(list(vectors.values())), NEIGHBOURS)
        for id_, (found, distances) in zip(vectors, answers, strict=True):
            # The same text may be stored twice: finding a vector at distance 0 under another id suffices.
            missed = id_ not in found and not all(distance <= TOLERANCE for distance in distances[:1])
            alike = len(distances) == NEIGHBOURS and distances[-1] <= CROWDED_DISTANCE
            lost += missed and not alike
            crowded += missed and alike
    return lost + crowded if lost > LOST_SHARE * len(sample) or crowded > CROWDED_SHARE * len(sample) else 0


@cache
def _build_signs(dimensions: int) -> Vectors:
    """Return 1 or -1, shape (dimensions, SUMS); the same for ever, on every machine."""
    # Taken from a hash: numpy's random numbers may differ between its versions.
    bits = hashlib.shake_128(b"argot").digest(dimensions * SKETCH_SUMS)
    return np.where(np.frombuffer(bits, np.uint8) & 1, 1, -1).astype(np.float32).reshape(dimensions, SKETCH_SUMS)


def _cut_sketch(sketch: bytes, window: int) -> Sketch:
    size = 4 * SKETCH_SUMS
    return sketch[window * size : (window + 1) * size]
