"""Opens the live vectors of a knowledge base: checked, and with the remains of a kill cleaned up."""

from __future__ import annotations

from pathlib import Path

from argot.corpus.database import CorpusDatabase
from argot.corpus.index import outbox
from argot.corpus.index.chroma_server import ChromaServer, ServerAddress
from argot.corpus.index.embedded_index import FolderGenerations
from argot.corpus.index.embedding_windows import read_expected_counts
from argot.corpus.index.live_pointer import DatabasePointer
from argot.corpus.index.server_index import ServerGenerations
from argot.corpus.index.vector_index import Generations, VectorIndex
from argot.corpus.ingestion import reindexing
from argot.corpus.store.document_store import CorpusStore
from argot.databases import Connection
from argot.errors import DamagedStore
from argot.protocols import Embedder
from argot.remedies import reindex_command
from argot.settings import Settings

STORE_VECTORS = "store_vectors"
"""Folder of the vectors of a knowledge base on PostgreSQL without a vector server: separate from those of a local one
in the same folder."""


def open_generations(home: Path, settings: Settings, database: CorpusDatabase) -> Generations:
    """Return the store of the vectors that the settings name.

    Raises:
        InvalidSettings: 'chroma_url' is no address.
    """
    pointer = DatabasePointer(database) if database.shared else None
    root = home / (STORE_VECTORS if database.shared else "vectors")
    if not settings.storage.chroma_url:
        return FolderGenerations(root, pointer)
    server = ChromaServer(
        ServerAddress.of(settings.storage.chroma_url), settings.storage.chroma_seconds, reindex_command(home)
    )
    return ServerGenerations(server, root, pointer)


def open_vectors(
    store: CorpusStore,
    generations: Generations,
    embedder: Embedder,
    embedder_name: str,
    home: Path,
    *,
    settling: bool = True,
) -> VectorIndex:
    """Return the live generation; a first, empty one if there are no documents yet.

    Args:
        embedder_name: the embedder's name in the settings.
        settling: clean up after a kill, and count; not while another process is changing the knowledge base.

    Raises:
        DamagedStore: the vectors are damaged, or another embedder's. The message ends with the repair command.
        VectorsUnavailable: the server that stores them is unavailable, or has lost them.
    """
    generation = generations.current()
    if generation is None:
        return _make_first_vectors(store, generations, embedder)
    made_by = _read_fingerprint(store.database.connection(), generations, generation)
    if made_by != embedder.fingerprint:
        raise DamagedStore(
            f"The vectors of {home} were made by another embedding model ({made_by}) than the one of the settings "
            f"({embedder.fingerprint}, '{embedder_name}'). Put the setting 'embedder' back, or rebuild the index "
            f"with: {reindex_command(home)}"
        )
    index = generations.open(generation, embedder.fingerprint)
    try:
        if settling:
            # The remains of a kill are cleared first; only then do the counts have to agree.
            reindexing.forget_other_generations(store.database, generations, generation)
            outbox.settle(store.database, index, store.blobs)
            _check_counts(store.database.connection(), index)
        index.probe(embedder.dimensions)
    except BaseException:
        index.close()
        raise
    return index


def _make_first_vectors(store: CorpusStore, generations: Generations, embedder: Embedder) -> VectorIndex:
    # Documents but no CURRENT: with a new, empty index all searches would silently find nothing.
    if store.database.connection().execute("SELECT 1 FROM documents LIMIT 1").fetchone():
        raise generations.build_damage_error("it is missing")
    generations.remove_others(None)  # from a start that was killed
    index = reindexing.create_generation(store.database, generations, embedder)
    reindexing.make_live(store.database, generations, index)
    return index


def _read_fingerprint(connection: Connection, generations: Generations, generation: str) -> str:
    """Return the fingerprint of the embedder that made this generation."""
    row = connection.execute("SELECT fingerprint FROM generations WHERE name = ?", (generation,)).fetchone()
    if row is None:
        raise generations.build_damage_error(f"generation {generation} is unknown to corpus.db")
    return str(row[0])


def _check_counts(connection: Connection, index: VectorIndex) -> None:
    expected, there = read_expected_counts(connection, index), index.counts()
    if expected != there:
        raise index.build_damage_error(f"it holds {sum(there.values())} vectors instead of {sum(expected.values())}")
