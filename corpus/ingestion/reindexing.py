"""Building vectors and keyword index again from what is stored, beside the old ones, which serve until the swap."""

from __future__ import annotations

import itertools
import json
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
from argot.corpus.keyword import keyword_index
from argot.corpus.store.row_mapping import passage_words, text_words
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
            "INSERT OR REPLACE INTO generations (name, fingerprint, dimensions) VALUES (?, ?, ?)",
            (name, embedder.fingerprint, embedder.dimensions),
        )
        connection.execute("DELETE FROM vectors WHERE generation = ?", (name,))  # of an unfinished rebuild
    return VectorIndex(root, name, embedder.fingerprint)


def fill(database: CorpusDatabase, index: VectorIndex, embedder: Embedder, progress: Progress | None) -> None:
    """Embed everything that is stored into an empty generation. Killed at any point, the live one is untouched."""
    total = stored_item_count(database.connection())
    stream, done = stored_items(database.connection()), 0
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


def rebuild_words(database: CorpusDatabase) -> None:
    """Fold all texts again (the rules may have changed since), and build the keyword indexes of them."""
    with database.writing() as connection:
        # Only the numbers are held; the text of all passages may be larger than the memory.
        for (n,) in connection.execute("SELECT n FROM passages").fetchall():
            title, path, text = connection.execute(
                "SELECT d.title, p.heading_path, p.text FROM passages AS p JOIN documents AS d ON d.id = p.document "
                "WHERE p.n = ?",
                (n,),
            ).fetchone()
            connection.execute(
                "UPDATE passages SET title = :title, heading = :heading, folded = :folded, identifiers = :identifiers "
                "WHERE n = :n",
                {**passage_words(title, json.loads(path), text), "n": n},
            )
        for table in ("derived", "triples"):
            rows = connection.execute(f"SELECT n, text FROM {table}").fetchall()  # noqa: S608
            connection.executemany(
                f"UPDATE {table} SET folded = :folded, identifiers = :identifiers WHERE n = :n",  # noqa: S608
                [{**text_words(text), "n": n} for n, text in rows],
            )
        keyword_index.rebuild(connection)


def forget_other_generations(database: CorpusDatabase, root: Path, live: str) -> None:
    with database.writing() as connection:
        connection.execute("DELETE FROM vectors WHERE generation != ?", (live,))
        connection.execute("DELETE FROM generations WHERE name != ?", (live,))
    remove_generations(root, but=live)


def make_live(database: CorpusDatabase, root: Path, index: VectorIndex) -> None:
    """The swap. What comes after it is tidying, which the next start does where a kill prevented it."""
    make_current(root, index.generation)
    forget_other_generations(database, root, index.generation)
