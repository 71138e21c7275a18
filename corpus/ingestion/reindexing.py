"""Rebuilding the vectors from the store, beside the old ones, which are used until the swap."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from argot.corpus.database import CorpusDatabase
from argot.corpus.index.embedding_windows import (
    count_items,
    embed_items,
    group_by_collection,
    read_items,
    record_windows,
)
from argot.corpus.index.vector_index import Generations, VectorIndex
from argot.corpus.store.upserts import upsert
from argot.corpus.vector_ids import VECTOR_TABLES
from argot.protocols import Embedder

BATCH_ITEMS = 256

Progress = Callable[[int, int], None]
"""Called with (texts done, texts in all)."""


def create_generation(database: CorpusDatabase, generations: Generations, embedder: Embedder) -> VectorIndex:
    """Create an empty generation, recorded in the database. It is not the live one yet."""
    known = database.connection().execute("SELECT name FROM generations").fetchall()
    name = generations.unused_name(name for (name,) in known)
    with database.writing() as connection:
        connection.execute(
            upsert("generations", ("name", "fingerprint", "dimensions"), ("name",)),
            (name, embedder.fingerprint, embedder.dimensions),
        )
        for table in VECTOR_TABLES:  # from an unfinished rebuild
            connection.execute(f"DELETE FROM {table} WHERE generation = ?", (name,))  # noqa: S608
    return generations.make(name, embedder.fingerprint)


def fill(database: CorpusDatabase, index: VectorIndex, embedder: Embedder, progress: Progress | None) -> None:
    """Embed all stored texts into an empty generation. After a kill at any point, the live one is unchanged."""
    # By a separate connection: one with a read in progress may not write after another has written meanwhile.
    with database.reader_apart() as reader:
        total, stream, done = count_items(reader), read_items(reader), 0
        if progress:
            progress(done, total)
        while batch := list(itertools.islice(stream, BATCH_ITEMS)):
            embedded = embed_items(embedder, index, batch)
            for collection, vectors in group_by_collection(embedded).items():
                # Vectors before their rows: a row implies that its vectors exist.
                index.upsert(collection, vectors)
            with database.writing() as connection:
                record_windows(connection, index.generation, embedded)
            done += len(batch)
            if progress:
                progress(done, total)


def forget_other_generations(database: CorpusDatabase, generations: Generations, live: str) -> None:
    with database.writing() as connection:
        for table, column in (*((table, "generation") for table in VECTOR_TABLES), ("generations", "name")):
            connection.execute(f"DELETE FROM {table} WHERE {column} != ?", (live,))  # noqa: S608
    generations.remove_others(live)


def make_live(database: CorpusDatabase, generations: Generations, index: VectorIndex) -> None:
    """Swap the generations. The cleanup after it is repeated by the next start if a kill prevented it."""
    generations.make_current(index.generation)
    forget_other_generations(database, generations, index.generation)
