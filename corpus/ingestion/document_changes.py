"""Storing, relabelling and removing documents over SQLite, Chroma and the originals, so that a kill leaves no partial
states.

All of it is called by one thread at a time (`Corpus.changing`). The order of steps is explained in `ingest_job`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argot.corpus.index import outbox
from argot.corpus.index.embedding_windows import EmbeddedItem, group_by_collection, record_windows
from argot.corpus.index.vector_index import VectorIndex
from argot.corpus.store import dustbin, row_writes
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.picture_rows import queue_pictures, replace_pictures
from argot.corpus.store.row_writes import NewRevision
from argot.protocols import Embedder, Vectors
from argot.types import Audience, Document


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a corpus that a change writes to."""

    store: CorpusStore
    vectors: VectorIndex
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class EmbeddedRevision:
    """A document ready to be written; `data` is the original."""

    new: NewRevision
    data: bytes
    embedded: list[EmbeddedItem]

    @property
    def originals(self) -> dict[str, bytes]:
        """The file and its pictures, by the hashes of their content."""
        return {self.new.document.content_hash: self.data, **self.new.picture_data}

    @property
    def vector_ids(self) -> dict[str, list[str]]:
        return {collection: list(vectors) for collection, vectors in group_by_collection(self.embedded).items()}


def store_revisions(parts: Parts, revisions: Sequence[EmbeddedRevision]) -> None:
    """Make these the live revisions of their documents, all together."""
    if not revisions:
        return
    generation, database, index = parts.vectors.generation, parts.store.database, parts.vectors
    before = {
        one.new.document.id: outbox.read_vector_ids(database.connection(), index, one.new.document.id)
        for one in revisions
    }
    with database.writing() as connection:
        for one in revisions:
            document = one.new.document
            # Vectors that are live already are not queued: after a kill everything in the queue is deleted.
            writes = outbox.subtract_ids(one.vector_ids, before[document.id])
            outbox.begin(connection, document.id, generation, writes, one.originals)
    for one in revisions:
        for content_hash, data in one.originals.items():
            parts.store.blobs.put(content_hash, data)
    for collection, vectors in group_by_collection([item for one in revisions for item in one.embedded]).items():
        index.upsert(collection, vectors)
    with database.writing() as connection:
        for one in revisions:
            document = one.new.document
            row_writes.put_revision(connection, one.new)
            record_windows(connection, generation, one.embedded)
            replaced = outbox.subtract_ids(before[document.id], one.vector_ids)
            outbox.finish(connection, document.id, generation, replaced, one.originals)
            # After `finish`: it queues the pictures that are replaced.
            replace_pictures(connection, document.id, one.new.pictures, one.new.passages)


def relabel(parts: Parts, document: Document, audience: Audience, tags: Sequence[str]) -> None:
    """Change the readers of a document, and its tags. Its vectors move to the collections of the new readers."""
    database, index = parts.store.database, parts.vectors
    before = outbox.read_vector_ids(database.connection(), index, document.id)
    # If only tags change, every collection stays the same and nothing moves.
    moves = {name: index.collection_name(outbox.parse_kind(name), audience) for name in before}
    vectors = {moves[name]: _fetch(index, name, ids) for name, ids in before.items() if moves[name] != name}
    with database.writing() as connection:
        outbox.begin(connection, document.id, index.generation, {name: list(of) for name, of in vectors.items()})
    for name, of_collection in vectors.items():
        index.upsert(name, of_collection)
    with database.writing() as connection:
        row_writes.relabel_rows(connection, document.id, audience, tags)
        replaced = {name: ids for name, ids in before.items() if moves[name] != name}
        outbox.finish(connection, document.id, index.generation, replaced)


def remove_document(parts: Parts, document: Document, *, keep: bool = False, erasing: bool = False) -> None:
    """Delete a document and everything derived from it; with `keep` its revisions go to the dustbin, with `erasing`
    only until other stores have erased their traces of it.
    """
    with parts.store.database.writing() as connection:
        # All in one transaction: a kill leaves the document whole, or gone with its vectors queued.
        vectors = outbox.read_vector_ids(connection, parts.vectors, document.id)
        outbox.discard(connection, document.id, parts.vectors.generation, vectors)
        queue_pictures(connection, document.id)
        dustbin.erase_removed(connection, [document.id])  # of an earlier removal
        if keep or erasing:
            dustbin.keep_removed(connection, document.id, erasing=erasing)
        row_writes.remove_rows(connection, document.id)


def _fetch(index: VectorIndex, collection: str, ids: Sequence[str]) -> dict[str, Vectors]:
    found = index.get(collection, ids)
    if missing := set(ids) - found.keys():
        raise index.build_damage_error(f"{len(missing)} vectors are missing, among them {min(missing)}")
    return found
