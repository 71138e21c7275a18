"""Opens the live vectors of a knowledge base: checked, and with what a kill left behind finished."""

from __future__ import annotations

from pathlib import Path

from argot.corpus.index import outbox
from argot.corpus.index.embedding_windows import expected_counts
from argot.corpus.index.generations import check_pages, current_generation, damaged_vectors, remove_generations
from argot.corpus.index.vector_graphs import check_graphs, saved_elements
from argot.corpus.index.vectors import VectorIndex
from argot.corpus.ingestion import reindexing
from argot.corpus.store.document_store import CorpusStore
from argot.databases import Connection
from argot.errors import DamagedStore
from argot.protocols import Embedder
from argot.remedies import reindex_command


def opened_vectors(store: CorpusStore, root: Path, embedder: Embedder, embedder_name: str) -> VectorIndex:
    """The live generation; a first, empty one where there are no documents yet.

    Args:
        root: the folder of all generations, in the knowledge base's own.
        embedder_name: as the settings name the embedder.

    Raises:
        DamagedStore: the vectors are damaged, or another embedder's. The message ends with the command that mends it.
    """
    generation = current_generation(root)
    if generation is None:
        return _first_vectors(store, root, embedder)
    _check_fingerprint(store.database.connection(), root, generation, embedder, embedder_name)
    # Files are checked before Chroma opens them: on damaged ones it ends the whole process instead of raising.
    check_pages(root, generation)
    check_graphs(root, generation)
    index = VectorIndex(root, generation, embedder.fingerprint)
    try:
        # What a kill left behind is cleared first; only then do the counts have to agree.
        reindexing.forget_other_generations(store.database, root, generation)
        outbox.settle(store.database, index, store.blobs)
        _check_counts(store.database.connection(), index)
        index.probe(embedder.dimensions)
        # Chroma keeps deleted elements in its graphs and does not say how many.
        index.gone = max(0, saved_elements(root, generation) - sum(index.counts().values()))
    except BaseException:
        index.close()
        raise
    return index


def _first_vectors(store: CorpusStore, root: Path, embedder: Embedder) -> VectorIndex:
    # Documents but no CURRENT: with a new, empty index all searches would silently find nothing.
    if store.database.connection().execute("SELECT 1 FROM documents LIMIT 1").fetchone():
        raise damaged_vectors(root, "it is missing")
    remove_generations(root, but=None)  # of a start that was killed
    index = reindexing.new_generation(store.database, root, embedder)
    reindexing.make_live(store.database, root, index)
    return index


def _check_fingerprint(
    connection: Connection, root: Path, generation: str, embedder: Embedder, embedder_name: str
) -> None:
    row = connection.execute("SELECT fingerprint FROM generations WHERE name = ?", (generation,)).fetchone()
    if row is None:
        raise damaged_vectors(root, f"generation {generation} is unknown to corpus.db")
    if row[0] != embedder.fingerprint:
        raise DamagedStore(
            f"The vectors in {root} were made by another embedding model ({row[0]}) than the one of the settings "
            f"({embedder.fingerprint}, '{embedder_name}'). Put the setting 'embedder' back, or rebuild the index "
            f"with: {reindex_command(root.parent)}"
        )


def _check_counts(connection: Connection, index: VectorIndex) -> None:
    expected, there = expected_counts(connection, index), index.counts()
    if expected != there:
        raise damaged_vectors(index.root, f"it holds {sum(there.values())} vectors instead of {sum(expected.values())}")
