"""Work queued outside corpus.db: vectors to delete, unused originals.

A row is queued before anything outside the database is touched, in its own transaction, and removed in the transaction
that makes the work count. After `kill -9` the queue therefore contains exactly the data to delete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from argot.corpus.database import CorpusDatabase
from argot.corpus.index.vector_index import VectorIndex
from argot.corpus.store.blobs import Blobs
from argot.corpus.store.row_mapping import load_audience
from argot.corpus.store.upserts import upsert
from argot.corpus.vector_ids import VectorKind, build_vector_id
from argot.databases import Connection

VectorIds = Mapping[str, Sequence[str]]
"""Vector ids by collection."""


def begin(
    connection: Connection, document: str, generation: str, new: VectorIds, originals: Iterable[str] = ()
) -> None:
    """Queue these vectors and originals (hashes), which are about to be written, to be undone after a kill."""
    _queue(connection, document, generation, new, under_way=True)
    connection.executemany(
        "INSERT INTO ledger (document, content_hash) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(document, content_hash) for content_hash in originals],
    )


def finish(
    connection: Connection, document: str, generation: str, replaced: VectorIds, originals: Iterable[str] = ()
) -> None:
    """Make the vectors and originals written for the document count, and queue the vectors they replace for
    deletion.
    """
    # In one transaction with the rows that count from now on: a kill before this leaves the queue, and `settle` undoes
    # the write.
    connection.execute("DELETE FROM vector_deletions WHERE document = ? AND under_way = 1", (document,))
    connection.executemany(
        "DELETE FROM ledger WHERE document = ? AND content_hash = ?",
        [(document, content_hash) for content_hash in originals],
    )
    _queue(connection, document, generation, replaced, under_way=False)


def discard(connection: Connection, document: str, generation: str, vectors: VectorIds) -> None:
    """Queue all vectors and originals of a document that is about to be removed."""
    _queue(connection, document, generation, vectors, under_way=False)
    connection.execute(
        "INSERT INTO ledger (document, content_hash) SELECT document, content_hash FROM revisions "
        "WHERE document = ? ON CONFLICT DO NOTHING",
        (document,),
    )


def settle(database: CorpusDatabase, index: VectorIndex, blobs: Blobs) -> None:
    """Do the queued work. Interrupted at any point, it can be repeated."""
    connection = database.connection()
    vectors = connection.execute(
        "SELECT collection, vector FROM vector_deletions WHERE generation = ? ORDER BY collection, vector",
        (index.generation,),
    ).fetchall()
    hashes = [row[0] for row in connection.execute("SELECT DISTINCT content_hash FROM ledger")]
    # Rows of a deleted generation have nothing left to delete, but must leave the queue all the same.
    if not vectors and not hashes and connection.execute("SELECT 1 FROM vector_deletions").fetchone() is None:
        return
    for collection, ids in _group_by_collection(vectors).items():
        index.delete(collection, ids)
    for content_hash in hashes:
        # Another document, an older revision kept for its citations, or one in the dustbin may have the same bytes.
        used = connection.execute(
            "SELECT 1 FROM revisions WHERE content_hash = :hash "
            "UNION ALL SELECT 1 FROM removed_revisions WHERE content_hash = :hash "
            "UNION ALL SELECT 1 FROM pictures WHERE content_hash = :hash",
            {"hash": content_hash},
        ).fetchone()
        if used is None:
            blobs.remove(content_hash)
    # Drafts of originals are only written between `begin` and `finish`, so with a row in the ledger.
    if hashes:
        blobs.remove_drafts()
    # Last: a kill before this line repeats the same deletions, which does no harm.
    with database.writing() as writer:
        writer.execute("DELETE FROM vector_deletions")
        writer.execute("DELETE FROM ledger")


def read_vector_ids(connection: Connection, index: VectorIndex, document: str) -> dict[str, list[str]]:
    """Return the ids of all vectors that a stored document has in this generation, by collection."""
    rows = connection.execute(
        """SELECT v.kind, v.item, v.windows, a.tokens
        FROM vectors AS v JOIN documents AS d ON d.id = v.document JOIN audiences AS a ON a.n = d.audience
        WHERE v.document = ? AND v.generation = ?""",
        (document, index.generation),
    )
    found: dict[str, list[str]] = {}
    for kind, item, windows, tokens in rows:
        ids = found.setdefault(index.collection_name(kind, load_audience(tokens)), [])
        ids += [build_vector_id(item, window) for window in range(windows)]
    return found


def parse_kind(collection: str) -> VectorKind:
    kind: VectorKind = collection.partition("-")[0]  # type: ignore[assignment]
    return kind


def subtract_ids(ids: VectorIds, others: VectorIds) -> dict[str, list[str]]:
    """Return the vectors of `ids` that are not among `others`."""
    return {name: sorted(set(found) - set(others.get(name, ()))) for name, found in ids.items()}


def _queue(connection: Connection, document: str, generation: str, vectors: VectorIds, *, under_way: bool) -> None:
    connection.executemany(
        upsert(
            "vector_deletions",
            ("generation", "collection", "vector", "document", "under_way"),
            ("generation", "collection", "vector"),
        ),
        [(generation, name, vector, document, under_way) for name, ids in vectors.items() for vector in ids],
    )


def _group_by_collection(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for collection, vector in rows:
        found.setdefault(collection, []).append(vector)
    return found
