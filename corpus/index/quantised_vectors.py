"""A quantised copy of the vectors in the database: a search within some documents compares all of theirs.

A graph of all documents finds the nearest of a small part of them badly or slowly. Each vector is therefore stored as
the signs of its numbers, one bit each, and as its numbers in 16 bits. The signs of all vectors within are compared with
the question's exact numbers, and the best few hundred again by their own numbers. Among 50,000 vectors that finds the
first ten of an exact search (bench/laboratory/scale.md); with 8 bits it was 0.99 of them.

A row belongs to one revision of a document: if an earlier Argot, which does not know such rows, has replaced it, the
row does not count.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from argot.corpus.index.soundness import sketch_vectors
from argot.corpus.store.row_mapping import load_audience
from argot.corpus.store.upserts import upsert
from argot.corpus.vector_ids import KINDS, VectorKind, build_vector_id, parse_item
from argot.databases import Connection, read_binary
from argot.protocols import Vectors
from argot.types import Audience

COMPARED_FACTOR = 8
"""Factor by which more vectors than wanted are compared by their numbers. Among 50,000, 400 always contain the first
ten and 0.98 of the first fifty."""
MIN_COMPARED_VECTORS = 200
SKETCH_TOLERANCE = 0.02
"""The numbers are rounded to 16 bits, and a sketch sums some hundred of them."""

RankedIds = list[tuple[str, float]]
Codes = np.ndarray[Any, np.dtype[np.uint8]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class QuantisedVectors:
    """Vectors of a document, of one kind.

    Attributes:
        signs: shape (n, dimensions / 8, rounded up), a bit each.
        numbers: shape (n, dimensions), as `_NUMBER`.
    """

    ids: list[str]
    signs: bytes
    numbers: bytes

    @classmethod
    def of(cls, vectors: Mapping[str, Vectors]) -> QuantisedVectors:
        if not vectors:
            return cls([], b"", b"")
        rows = np.stack(list(vectors.values())).astype(_NUMBER)
        return cls(list(vectors), np.packbits(rows > 0, axis=1).tobytes(), rows.tobytes())

    def without(self, ids: Collection[str]) -> QuantisedVectors:
        kept = [place for place, id_ in enumerate(self.ids) if id_ not in ids]
        return QuantisedVectors(
            [self.ids[place] for place in kept], self._rows(self.signs, kept), self._rows(self.numbers, kept)
        )

    def _rows(self, data: bytes, places: Iterable[int]) -> bytes:
        size = len(data) // max(1, len(self.ids))
        return b"".join(data[place * size : (place + 1) * size] for place in places)


_NUMBER = np.dtype("<f2")


# -- writing, in the caller's transaction -----------------------------------------------------------------------------


def add_quantised(
    connection: Connection, generation: str, document: str, vectors: Mapping[VectorKind, Mapping[str, Vectors]]
) -> None:
    """Add vectors, by id, to those of a stored document, which are recorded already.

    After that it has a part of each kind, even an empty one; but not of a kind of which an earlier Argot wrote some, as
    long as those are not quantised.
    """
    revision = _read_revision(connection, document)
    connection.execute(
        "DELETE FROM quantised_vectors WHERE document = ? AND generation = ? AND revision <> ?",
        (document, generation, revision),
    )
    parts = connection.execute(
        "SELECT kind, max(part) FROM quantised_vectors WHERE document = ? AND generation = ? GROUP BY kind",
        (document, generation),
    )
    last: dict[VectorKind, int] = dict(map(tuple, parts))
    whole = KINDS if len(last) == len(KINDS) else _find_whole_kinds(connection, generation, document, vectors)
    for kind in KINDS:
        # A separate part: texts derived passage by passage would otherwise be rewritten again and again.
        if vectors.get(kind) if kind in last else kind in whole:
            key = (document, kind, generation, last.get(kind, -1) + 1)
            _put(connection, key, revision, QuantisedVectors.of(vectors.get(kind, {})))


def _find_whole_kinds(
    connection: Connection, generation: str, document: str, vectors: Mapping[VectorKind, Mapping[str, Vectors]]
) -> list[VectorKind]:
    """Return the kinds of which the document has no others: a first part would hide those that an earlier Argot
    wrote.
    """
    stored = connection.execute(
        "SELECT kind, item FROM vectors WHERE document = ? AND generation || '' = ?", (document, generation)
    )
    items = {kind: {parse_item(id_) for id_ in vectors.get(kind, ())} for kind in KINDS}
    others = {kind for kind, item in stored if item not in items[kind]}
    return [kind for kind in KINDS if kind not in others]


def forget_quantised(
    connection: Connection, generation: str, document: str, kind: VectorKind, items: Collection[str]
) -> None:
    """Remove the vectors of these items."""
    rows = connection.execute(
        "SELECT part, revision, vectors FROM quantised_vectors WHERE document = ? AND kind = ? AND generation = ?",
        (document, kind, generation),
    ).fetchall()
    for part, revision, listed in rows:
        ids = listed.split()
        if gone := {id_ for id_ in ids if parse_item(id_) in items}:
            key = (document, kind, generation, part)
            signs, numbers = connection.execute(
                "SELECT signs, numbers FROM quantised_vectors"
                " WHERE document = ? AND kind = ? AND generation = ? AND part = ?",
                key,
            ).fetchone()
            _put(connection, key, revision, QuantisedVectors(ids, signs, numbers).without(gone))


def _read_revision(connection: Connection, document: str) -> str:
    return str(connection.execute("SELECT revision FROM documents WHERE id = ?", (document,)).fetchone()[0])


def _put(connection: Connection, key: tuple[str, str, str, int], revision: str, part: QuantisedVectors) -> None:
    columns = ("document", "kind", "generation", "part", "revision", "vectors", "signs", "numbers")
    connection.execute(
        upsert("quantised_vectors", columns, columns[:4]),
        (*key, revision, "\n".join(part.ids), part.signs, part.numbers),
    )


# -- searching --------------------------------------------------------------------------------------------------------

_Part = tuple[str, int]
"""A document, and which of its parts."""


@dataclass(frozen=True, slots=True)
class _Signs:
    """The signs of several parts, concatenated. `ends`: the end of each; `codes`: shape (bytes of a vector, n)."""

    parts: list[_Part]
    ends: Numbers
    codes: Codes


def find_nearest_quantised(  # noqa: PLR0917
    connection: Connection,
    generation: str,
    kind: VectorKind,
    queries: Vectors,
    audiences: Collection[Audience],
    limit: int,
    documents: Collection[str],
) -> tuple[list[RankedIds], set[str]]:
    """Return for each query the best `limit` items of these documents for these readers, with their cosine similarity
    to about 0.0001; and the documents whose quantised vectors are missing or damaged.

    Args:
        queries: shape (n, dimensions), each of length 1.
    """
    signs, unknown = _read_signs(connection, generation, kind, audiences, documents, queries.shape[1])
    compared = max(MIN_COMPARED_VECTORS, COMPARED_FACTOR * limit)
    chosen = [_group_places(signs, _rank_by_signs(signs.codes, query, compared)) for query in queries]
    needed = {part for places in chosen for part in places}
    numbers = _read_numbers(connection, generation, kind, needed)
    found = [_rank_by_numbers(numbers, query, places, limit) for query, places in zip(queries, chosen, strict=True)]
    return found, unknown


def _read_signs(  # noqa: PLR0917
    connection: Connection,
    generation: str,
    kind: VectorKind,
    audiences: Collection[Audience],
    documents: Collection[str],
    dimensions: int,
) -> tuple[_Signs, set[str]]:
    wanted, width = frozenset(audiences), -(-dimensions // 8)
    every = connection.execute("SELECT n, tokens FROM audiences").fetchall()
    readers = {n for n, tokens in every if load_audience(tokens) in wanted}
    rows = read_binary(
        connection,
        """SELECT q.document, q.part, d.audience, q.signs, length(q.numbers)
        FROM quantised_vectors AS q JOIN documents AS d ON d.id = q.document AND d.revision = q.revision
        WHERE q.document IN (SELECT value FROM json_each(?)) AND q.kind = ? AND q.generation = ?""",
        (json.dumps(list(documents)), kind, generation),
    ).fetchall()
    damaged = {row[0] for row in rows if not _is_consistent(row[3], row[4], width, dimensions)}
    kept = [row for row in rows if row[2] in readers and row[0] not in damaged]
    # Byte by byte, the order in which they are compared.
    codes = np.frombuffer(b"".join(row[3] for row in kept), np.uint8).reshape(-1, width).T
    ends = np.cumsum([len(row[3]) // width for row in kept], dtype=np.int64)
    unknown = set(documents) - {row[0] for row in rows} | damaged
    return _Signs([(row[0], row[1]) for row in kept], ends, np.ascontiguousarray(codes)), unknown


def _is_consistent(signs: object, length: int, width: int, dimensions: int) -> bool:
    """Return whether there are as many signs as numbers, whose length in bytes is given."""
    if not isinstance(signs, bytes) or len(signs) % width:
        return False
    return length == len(signs) // width * dimensions * _NUMBER.itemsize


def _rank_by_signs(codes: Codes, query: Vectors, count: int) -> Numbers:
    """Return the places of at most `count` vectors whose signs have the largest product with the query's numbers."""
    width, n = codes.shape
    if n <= count:
        return np.arange(n)
    padded = np.zeros(width * 8, np.float32)
    padded[: len(query)] = query
    sums = padded.reshape(width, 8) @ _SIGNS.T
    scores = np.zeros(n, np.float32)
    for of_byte, column in zip(sums, codes, strict=True):
        scores += of_byte[column]
    return np.argpartition(-scores, count)[:count]


_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).astype(np.float32) * 2 - 1
"""The signs in each byte, shape (256, 8): 1 for a positive number, else -1."""


def _group_places(signs: _Signs, chosen: Numbers) -> dict[_Part, list[int]]:
    """Return the positions of vectors within their parts, by part."""
    found: dict[_Part, list[int]] = {}
    owners = np.searchsorted(signs.ends, chosen, side="right")
    starts = np.concatenate([[0], signs.ends])[owners]
    for owner, place in zip(owners.tolist(), (chosen - starts).tolist(), strict=True):
        found.setdefault(signs.parts[owner], []).append(place)
    return found


def _read_numbers(
    connection: Connection, generation: str, kind: VectorKind, parts: Collection[_Part]
) -> dict[_Part, tuple[list[str], bytes]]:
    """Return the ids and numbers of the vectors of these parts."""
    rows = read_binary(
        connection,
        """SELECT document, part, vectors, numbers FROM quantised_vectors
        WHERE document IN (SELECT value FROM json_each(?)) AND kind = ? AND generation = ?""",
        (json.dumps(list({document for document, _ in parts})), kind, generation),
    )
    return {(document, part): (vectors.split(), numbers) for document, part, vectors, numbers in rows}


def _rank_by_numbers(
    numbers: Mapping[_Part, tuple[list[str], bytes]], query: Vectors, places: Mapping[_Part, list[int]], limit: int
) -> RankedIds:
    ids, rows = [], []
    for part, of_part in places.items():
        # A part that changed since its signs were read may have fewer by now, or be deleted.
        vectors, data = numbers.get(part, ([], b""))
        there = [place for place in of_part if place < len(vectors)]
        whole = isinstance(data, bytes) and len(data) == len(vectors) * len(query) * _NUMBER.itemsize
        if there and whole:
            ids += [vectors[place] for place in there]
            rows.append(np.frombuffer(data, _NUMBER).reshape(-1, len(query))[there])
    if not ids:
        return []
    compared = np.concatenate(rows).astype(np.float32)
    lengths = np.linalg.norm(compared, axis=1)
    similarities = compared @ query / np.where(lengths > 0, lengths, 1)
    best: dict[str, float] = {}
    for id_, similarity in zip(ids, similarities.tolist(), strict=True):
        item = parse_item(id_)
        best[item] = max(similarity, best.get(item, -1.0))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


# -- checking and repairing -------------------------------------------------------------------------------------------


def list_documents_without(connection: Connection, generation: str, after: str, count: int) -> list[str]:
    """Return the next documents, by id, that have passages and no quantised vectors of their live revision."""
    rows = connection.execute(
        """SELECT d.id FROM documents AS d
        WHERE d.id > ? AND d.passages > 0 AND NOT EXISTS (
            SELECT 1 FROM quantised_vectors AS q
            WHERE q.document = d.id AND q.kind = 'passage' AND q.generation = ? AND q.revision = d.revision
        ) ORDER BY d.id LIMIT ?""",
        (after, generation, count),
    )
    return [document for (document,) in rows]


def find_quantised_faults(connection: Connection, generation: str) -> Iterator[str]:
    """Return one sentence if some documents' quantised vectors differ from their vectors. It reads everything."""
    row = connection.execute("SELECT dimensions FROM generations WHERE name = ?", (generation,)).fetchone()
    wrong = sum(
        _is_wrong(connection, generation, document, revision, row[0])
        for document, revision in connection.execute("SELECT id, revision FROM documents").fetchall()
    )
    if wrong:
        yield f"the quantised vectors of {wrong} documents are not those of their texts"


def _is_wrong(connection: Connection, generation: str, document: str, revision: str, dimensions: int) -> bool:
    parts = connection.execute(
        "SELECT kind, vectors, signs, numbers FROM quantised_vectors"
        " WHERE document = ? AND generation = ? AND revision = ?",
        (document, generation, revision),
    ).fetchall()
    stored = connection.execute(
        "SELECT kind, item, windows, sketch FROM vectors WHERE document = ? AND generation || '' = ?",
        (document, generation),
    )
    # The service gradually adds the kinds without a part: an earlier Argot wrote those.
    kinds = {kind for kind, *_ in parts}
    rows = [row for kind, *row in stored if kind in kinds]
    known: dict[str, Vectors] = {}
    for _, listed, signs, numbers in parts:
        ids = listed.split()
        if not isinstance(numbers, bytes) or len(numbers) != len(ids) * dimensions * _NUMBER.itemsize:
            return True
        vectors = np.frombuffer(numbers, _NUMBER).reshape(-1, dimensions).astype(np.float32)
        if np.packbits(vectors > 0, axis=1).tobytes() != signs:
            return True
        known |= dict(zip(ids, vectors, strict=True))
    return known.keys() != {
        build_vector_id(item, window) for item, windows, _ in rows for window in range(windows)
    } or any(_is_different(known, item, windows, sketch) for item, windows, sketch in rows if sketch)


def _is_different(known: Mapping[str, Vectors], item: str, windows: int, sketch: bytes) -> bool:
    """Return whether the vectors of an item do not match its sketch."""
    sums = np.frombuffer(
        sketch_vectors(np.stack([known[build_vector_id(item, window)] for window in range(windows)])), "<f4"
    )
    return bool((np.abs(sums - np.frombuffer(sketch, "<f4")) > SKETCH_TOLERANCE).any())
