"""Vectors once more, quantised, in the database: a search within some documents compares all of theirs.

A graph of all documents finds the nearest of a small part of them badly or slowly. So each vector is kept as the signs
of its numbers, one bit each, and as its numbers in 16 bits. The signs of all that are within are compared with the
question's numbers as they are, and the best few hundred again by their own numbers. Of 50,000 vectors that finds the
first ten of an exact search (docs/measurements.md); with 8 bits it was 0.99 of them.

A row belongs to one revision of a document: where an earlier Argot, which knows no such rows, has replaced it, the row
does not count.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from argot.corpus.store.row_mapping import stored_audience
from argot.corpus.store.upserts import upsert
from argot.corpus.vector_ids import KINDS, VectorKind, item_of, vector_id
from argot.databases import Connection, bytes_read
from argot.protocols import Vectors
from argot.types import Audience

COMPARED_AGAIN = 8
"""Times as many as are wanted are compared by their numbers. Of 50,000, 400 hold the first ten always and 0.98 of the
first fifty."""
LEAST_COMPARED = 200

Ranked = list[tuple[str, float]]
Codes = np.ndarray[Any, np.dtype[np.uint8]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class QuantisedVectors:
    """Those of a document, of one kind. `signs`: shape (n, dimensions / 8, rounded up); `numbers`: (n, dimensions)."""

    ids: list[str]
    signs: bytes
    numbers: bytes

    @classmethod
    def of(cls, vectors: Mapping[str, Vectors]) -> QuantisedVectors:
        if not vectors:
            return cls([], b"", b"")
        rows = np.stack(list(vectors.values()))
        return cls(list(vectors), np.packbits(rows > 0, axis=1).tobytes(), rows.astype(_NUMBER).tobytes())

    def without(self, ids: Collection[str]) -> QuantisedVectors:
        kept = [place for place, id_ in enumerate(self.ids) if id_ not in ids]
        return QuantisedVectors(
            [self.ids[place] for place in kept], self._rows(self.signs, kept), self._rows(self.numbers, kept)
        )

    def with_more(self, others: QuantisedVectors) -> QuantisedVectors:
        """Those of `others` take the place of those with the same ids."""
        left = self.without(set(others.ids))
        return QuantisedVectors([*left.ids, *others.ids], left.signs + others.signs, left.numbers + others.numbers)

    def _rows(self, data: bytes, places: Iterable[int]) -> bytes:
        size = len(data) // max(1, len(self.ids))
        return b"".join(data[place * size : (place + 1) * size] for place in places)


_NUMBER = np.dtype("<f2")
_NONE = QuantisedVectors([], b"", b"")


# -- writing, in the caller's transaction -----------------------------------------------------------------------------


def add_quantised(
    connection: Connection, generation: str, document: str, vectors: Mapping[VectorKind, Mapping[str, Vectors]]
) -> None:
    """Add vectors, by id, to those of a stored document. From then on it has a row of each kind."""
    revision = _revision(connection, document)
    known = _known(connection, generation, document, revision)
    for kind in KINDS:
        more = vectors.get(kind, {})
        if more or kind not in known:
            whole = known.get(kind, _NONE).with_more(QuantisedVectors.of(more))
            _put(connection, (generation, document, kind, revision), whole)


def forget_quantised(
    connection: Connection, generation: str, document: str, kind: VectorKind, items: Collection[str]
) -> None:
    """Take the vectors of these items out."""
    revision = _revision(connection, document)
    if (known := _known(connection, generation, document, revision).get(kind)) is not None:
        gone = {id_ for id_ in known.ids if item_of(id_) in items}
        _put(connection, (generation, document, kind, revision), known.without(gone))


def _revision(connection: Connection, document: str) -> str:
    return str(connection.execute("SELECT revision FROM documents WHERE id = ?", (document,)).fetchone()[0])


def _known(connection: Connection, generation: str, document: str, revision: str) -> dict[VectorKind, QuantisedVectors]:
    rows = connection.execute(
        "SELECT kind, vectors, signs, numbers FROM quantised_vectors"
        " WHERE document = ? AND generation = ? AND revision = ?",
        (document, generation, revision),
    )
    return {kind: QuantisedVectors(vectors.split(), signs, numbers) for kind, vectors, signs, numbers in rows}


def _put(connection: Connection, key: tuple[str, str, VectorKind, str], of_document: QuantisedVectors) -> None:
    columns = ("generation", "document", "kind", "revision", "vectors", "signs", "numbers")
    connection.execute(
        upsert("quantised_vectors", columns, ("document", "kind", "generation")),
        (*key, "\n".join(of_document.ids), of_document.signs, of_document.numbers),
    )


# -- searching --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Signs:
    """Of several documents, one behind the other. `ends`: where each ends; `codes`: shape (bytes of a vector, n)."""

    documents: list[str]
    ends: Numbers
    codes: Codes


def nearest_quantised(  # noqa: PLR0917
    connection: Connection,
    generation: str,
    kind: VectorKind,
    queries: Vectors,
    audiences: Collection[Audience],
    limit: int,
    documents: Collection[str],
) -> tuple[list[Ranked], set[str]]:
    """For each query the best `limit` items of these documents for these readers, with their cosine similarity to
    about 0.0001; and the documents of which there are no quantised vectors.

    Args:
        queries: shape (n, dimensions), each of length 1.
    """
    signs, unknown = _signs_of(connection, generation, kind, audiences, documents, -(-queries.shape[1] // 8))
    compared = max(LEAST_COMPARED, COMPARED_AGAIN * limit)
    chosen = [_places(signs, _best_by_signs(signs.codes, query, compared)) for query in queries]
    needed = {document for places in chosen for document in places}
    numbers = _numbers_of(connection, generation, kind, needed)
    found = [_best_by_numbers(numbers, query, places, limit) for query, places in zip(queries, chosen, strict=True)]
    return found, unknown


def _signs_of(  # noqa: PLR0917
    connection: Connection,
    generation: str,
    kind: VectorKind,
    audiences: Collection[Audience],
    documents: Collection[str],
    width: int,
) -> tuple[_Signs, set[str]]:
    wanted = frozenset(audiences)
    every = connection.execute("SELECT n, tokens FROM audiences").fetchall()
    readers = {n for n, tokens in every if stored_audience(tokens) in wanted}
    rows = bytes_read(
        connection,
        """SELECT q.document, d.audience, q.signs
        FROM quantised_vectors AS q JOIN documents AS d ON d.id = q.document AND d.revision = q.revision
        WHERE q.document IN (SELECT value FROM json_each(?)) AND q.kind = ? AND q.generation = ?""",
        (json.dumps(list(documents)), kind, generation),
    ).fetchall()
    kept = [(document, signs) for document, audience, signs in rows if audience in readers]
    # Byte by byte, since that is how they are compared.
    codes = np.frombuffer(b"".join(signs for _, signs in kept), np.uint8).reshape(-1, width).T
    ends = np.cumsum([len(signs) // width for _, signs in kept], dtype=np.int64)
    unknown = set(documents) - {document for document, *_ in rows}
    return _Signs([document for document, _ in kept], ends, np.ascontiguousarray(codes)), unknown


def _best_by_signs(codes: Codes, query: Vectors, count: int) -> Numbers:
    """Which vectors have the largest products of their signs with the query's numbers, at most `count`."""
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
"""What each byte stands for, shape (256, 8): 1 where a number is positive, else -1."""


def _places(signs: _Signs, chosen: Numbers) -> dict[str, list[int]]:
    """The places of vectors within their documents, by document."""
    found: dict[str, list[int]] = {}
    owners = np.searchsorted(signs.ends, chosen, side="right")
    starts = np.concatenate([[0], signs.ends])[owners]
    for owner, place in zip(owners.tolist(), (chosen - starts).tolist(), strict=True):
        found.setdefault(signs.documents[owner], []).append(place)
    return found


def _numbers_of(
    connection: Connection, generation: str, kind: VectorKind, documents: Collection[str]
) -> dict[str, tuple[list[str], bytes]]:
    """The ids and numbers of the vectors of these documents."""
    rows = bytes_read(
        connection,
        """SELECT document, vectors, numbers FROM quantised_vectors
        WHERE document IN (SELECT value FROM json_each(?)) AND kind = ? AND generation = ?""",
        (json.dumps(list(documents)), kind, generation),
    )
    return {document: (vectors.split(), numbers) for document, vectors, numbers in rows}


def _best_by_numbers(
    numbers: Mapping[str, tuple[list[str], bytes]], query: Vectors, places: Mapping[str, list[int]], limit: int
) -> Ranked:
    ids, rows = [], []
    for document, of_document in places.items():
        # One that was changed since its signs were read may have fewer by now, or have gone.
        vectors, data = numbers.get(document, ([], b""))
        there = [place for place in of_document if place < len(vectors)]
        ids += [vectors[place] for place in there]
        rows.append(np.frombuffer(data, _NUMBER).reshape(-1, len(query))[there])
    if not ids:
        return []
    compared = np.concatenate(rows).astype(np.float32)
    lengths = np.linalg.norm(compared, axis=1)
    similarities = compared @ query / np.where(lengths > 0, lengths, 1)
    best: dict[str, float] = {}
    for id_, similarity in zip(ids, similarities.tolist(), strict=True):
        item = item_of(id_)
        best[item] = max(similarity, best.get(item, -1.0))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


# -- checking and mending ---------------------------------------------------------------------------------------------


def documents_without(connection: Connection, generation: str, after: str, count: int) -> list[str]:
    """The next documents, by id, that have passages and no quantised vectors of their live revision."""
    rows = connection.execute(
        """SELECT d.id FROM documents AS d
        WHERE d.id > ? AND d.passages > 0 AND NOT EXISTS (
            SELECT 1 FROM quantised_vectors AS q
            WHERE q.document = d.id AND q.kind = 'passage' AND q.generation = ? AND q.revision = d.revision
        ) ORDER BY d.id LIMIT ?""",
        (after, generation, count),
    )
    return [document for (document,) in rows]


def quantised_faults(connection: Connection, generation: str) -> Iterator[str]:
    """One sentence, if there are documents whose quantised vectors are not those that they have. Reads all ids."""
    wrong = 0
    documents = connection.execute("SELECT id, revision FROM documents").fetchall()
    for document, revision in documents:
        rows = connection.execute(
            "SELECT item, windows FROM vectors WHERE document = ? AND generation || '' = ?", (document, generation)
        )
        expected = {vector_id(item, window) for item, windows in rows for window in range(windows)}
        known = _known(connection, generation, document, revision).values()
        # None at all: an earlier Argot's, which the service makes by and by.
        wrong += bool(known) and {id_ for one in known for id_ in one.ids} != expected
    if wrong:
        yield f"the quantised vectors of {wrong} documents are not those of their texts"
