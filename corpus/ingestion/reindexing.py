"""Building the vectors again from what is stored, beside the old ones, which serve until the swap."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from argot.corpus.database import CorpusDatabase
from argot.corpus.index.embedding_windows import (
    by_collection,
    embed_items,
    record_windows,
    stored_item_count,
    stored_items,
)
from argot.corpus.index.generations import make_current, next_generation, remove_generations
from argot.corpus.index.vectors import VectorIndex
from argot.corpus.store.upserts import upsert
from argot.protocols import Embedder

BATCH_ITEMS = 256

Progress = Callable[[int, int], None]
"""Called with (texts done, texts in all)."""


def new_generation(database: CorpusDatabase, root: Path, embedder: Embedder) -> VectorIndex:
    """An empty generation, known to the database. It is not the live one yet."""
    root.mkdir(parents=True, exist_ok=True)
    name = next_generation(root)
    with database.writing() as connection:
        connection.execute(
            upsert("generations", ("name", "fingerprint", "dimensions"), ("name",)),
            (name, embedder.fingerprint, embedder.dimensions),
        )
        connection.execute("DELETE FROM vectors WHERE generation = ?", (name,))  # of an unfinished rebuild
    return VectorIndex(root, name, embedder.fingerprint)


def fill(database: CorpusDatabase, index: VectorIndex, embedder: Embedder, progress: Progress | None) -> None:
    """Embed everything that is stored into an empty generation. Killed at any point, the live one is untouched."""
    # By a connection of its own: one that is in the middle of reading may not write where another wrote meanwhile.
    with database.reader_apart() as reader:
        total, stream, done = stored_item_count(reader), stored_items(reader), 0
        if progress:
            progress(done, total)
        while batch := list(itertools.islice(stream, BATCH_ITEMS)):
            embedded = embed_items(embedder, index, batch)
            for collection, vectors in by_collection(embedded).items():
                # Vectors before their rows: a row says that its vectors are there.
                index.upsert(collection, vectors)
            with database.writing() as connection:
                record_windows(connection, index.generation, embedded)
            done += len(batch)
            if progress:
                progress(done, total)


def forget_other_generations(database: CorpusDatabase, root: Path, live: str) -> None:
    with database.writing() as connection:
        connection.execute("DELETE FROM vectors WHERE generation != ?", (live,))
        connection.execute("DELETE FROM generations WHERE name != ?", (live,))
    remove_generations(root, but=live)


def make_live(database: CorpusDatabase, root: Path, index: VectorIndex) -> None:
    """The swap. What comes after it is tidying, which the next start does where a kill prevented it."""
    make_current(root, index.generation)
    forget_other_generations(database, root, index.generation)
