"""A search by meaning within some documents only."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from argot.corpus.database import CorpusDatabase
from argot.corpus.index.embedding_windows import read_vector_ids
from argot.corpus.index.quantised_vectors import RankedIds, find_nearest_quantised
from argot.corpus.index.vector_index import IndexClosed, VectorIndex
from argot.corpus.vector_ids import TABLES, VectorKind
from argot.databases import Connection
from argot.protocols import Vectors
from argot.types import Audience

FEW_DOCUMENTS = 4_000
"""Up to this many all vectors are compared: for 1,000 that takes some 10 ms."""
MAX_CANDIDATES = 2_000
"""Number of items of all documents among which those of the documents are searched."""
CANDIDATE_MARGIN = 2
"""Factor by which more are examined than should be enough: documents of a scope are nearer to some questions than
others."""


def find_nearest_within(  # noqa: PLR0917
    database: CorpusDatabase,
    index: VectorIndex,
    kind: VectorKind,
    vectors: Vectors,
    audiences: Sequence[Audience],
    limit: int,
    documents: Collection[str],
) -> list[RankedIds]:
    """Search like `VectorIndex.searches`, but within these documents (ids).

    If they are many, comparing all their vectors takes longer than searching for them among the nearest of all.

    Raises:
        IndexClosed: another generation is live by now.
    """
    wanted = _choose_candidate_count(database, limit, documents)
    if wanted is not None:
        found = index.searches(kind, vectors, audiences, wanted)
        kept = _keep_within(database.connection(), kind, found, frozenset(documents))
        if all(len(some) >= limit or len(every) < wanted for some, every in zip(kept, found, strict=True)):
            return [some[:limit] for some in kept]
    with database.reading() as connection:
        compared, unknown = find_nearest_quantised(
            connection, index.generation, kind, vectors, audiences, limit, documents
        )
    if not unknown:
        return compared
    # A generation that has just been replaced has no rows left: nothing would be found.
    if not _is_known(database.connection(), index.generation):
        raise IndexClosed(index.generation)
    only = read_vector_ids(database.connection(), index.generation, kind, unknown)
    if not only:
        return compared
    named = index.searches(kind, vectors, [one for one in audiences if one in only], limit, only)
    return [
        sorted([*some, *others], key=lambda pair: (-pair[1], pair[0]))[:limit]
        for some, others in zip(compared, named, strict=True)
    ]


def _is_known(connection: Connection, generation: str) -> bool:
    return connection.execute("SELECT 1 FROM generations WHERE name = ?", (generation,)).fetchone() is not None


def _choose_candidate_count(database: CorpusDatabase, limit: int, documents: Collection[str]) -> int | None:
    """Return how many of the nearest of all should contain enough of these documents; None: comparing all theirs is
    faster.
    """
    if len(documents) <= FEW_DOCUMENTS:
        return None
    (total,) = database.connection().execute("SELECT count(*) FROM documents").fetchone()
    wanted: int = CANDIDATE_MARGIN * limit * total // len(documents)
    return wanted if wanted <= MAX_CANDIDATES else None


def _keep_within(
    connection: Connection, kind: VectorKind, found: list[RankedIds], documents: frozenset[str]
) -> list[RankedIds]:
    ids = json.dumps(list({id_ for ranked in found for id_, _ in ranked}))
    rows = connection.execute(
        f"SELECT id, document FROM {TABLES[kind]} WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608
        (ids,),
    )
    within = {id_ for id_, document in rows if document in documents}
    return [[pair for pair in ranked if pair[0] in within] for ranked in found]
