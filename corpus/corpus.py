"""A knowledge base's documents as a whole: store, vectors, embedder and originals, and what changes them together."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from argot.corpus.embedding.embedder import load_embedder
from argot.corpus.embedding.embedding_process import BackgroundEmbedder, LaneEmbedder
from argot.corpus.index import outbox
from argot.corpus.index.document_search import find_nearest_within
from argot.corpus.index.quantised_vectors import find_quantised_faults
from argot.corpus.index.soundness import find_vector_faults
from argot.corpus.index.vector_index import IndexClosed, VectorIndex
from argot.corpus.ingestion import document_changes, reindexing
from argot.corpus.ingestion.compaction import Compactor
from argot.corpus.ingestion.document_changes import Parts
from argot.corpus.ingestion.language_detection import detect_missing_languages
from argot.corpus.ingestion.live_vectors import LiveVectors
from argot.corpus.ingestion.opened_vectors import open_generations, open_vectors
from argot.corpus.ingestion.quantising import Quantiser
from argot.corpus.ingestion.source import Source
from argot.corpus.keyword.keyword_index import choose_keyword_index
from argot.corpus.read_limits import Lane, ReadLimits
from argot.corpus.store import document_fields, dustbin
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.row_writes import rebuild_words
from argot.corpus.vector_ids import VectorKind
from argot.disk_space import require_room
from argot.errors import DamagedStore, VectorsUnavailable
from argot.protocols import Deriver, Embedder, Vectors
from argot.remedies import reindex_command, restore_command
from argot.settings import Settings
from argot.types import Audience, Document, DocumentField, Principal, distinct_tags

if TYPE_CHECKING:
    from argot.corpus.ingestion.ingest_job import IngestEvent, Turn

__all__ = ["Corpus", "Problem", "Source"]


class VectorSearch(Protocol):
    """Searches the vectors that these audiences may read: in this process, or in the one that owns them."""

    def __call__(
        self,
        kind: VectorKind,
        vectors: Vectors,
        audiences: Sequence[Audience],
        limit: int,
        documents: Collection[str] | None,
        /,
    ) -> list[list[tuple[str, float]]]: ...


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that `Corpus.check` found, and the repair command."""

    subject: str
    message: str
    remedy: str


class Corpus:
    """One process may own a knowledge base at a time; within it, any thread may read while one writes.

    `add`, `remove` and `reindex` block for long: in an event loop, call them in a worker thread.
    """

    def __init__(
        self,
        home: Path,
        settings: Settings,
        store: CorpusStore,
        embedder: Embedder,
        search: VectorSearch | None = None,
    ) -> None:
        self.home = home
        self.settings = settings
        self.store = store
        self.embedder = embedder
        self._changing = store.database.changes
        self._for_passages: Embedder = embedder
        self._beside = search
        self._found_by_words = False
        self.generations = open_generations(home, settings, store.database)
        shared = store.database.shared and bool(settings.storage.chroma_url)
        self._live = LiveVectors(self._open_vectors, self._changing, self.generations.current if shared else None)
        self.compacting = Compactor(self, self._changing, self._make_live)
        self.quantising = Quantiser(self, self._changing)

    @classmethod
    def open(
        cls,
        home: Path,
        settings: Settings,
        *,
        embedder: Embedder | None = None,
        for_repair: bool = False,
        store: CorpusStore | None = None,
    ) -> Corpus:
        """Open the knowledge base in this folder, creating it if missing, and finish work that a kill interrupted.

        Args:
            embedder: instead of the one the settings name.
            store: instead of corpus.db of the folder; it is closed with the knowledge base.
            for_repair: open it even if the vectors are damaged or another embedder's, in order to `reindex`.

        Raises:
            DamagedStore: the database or the vectors are damaged, or the vectors are another embedder's. The message
                ends with the repair command.
        """
        store = store or CorpusStore.open(home / "corpus.db")
        try:
            corpus = cls(home, settings, store, embedder or load_embedder(settings))
            detect_missing_languages(store.database)
            corpus._live.open(for_repair=for_repair)
            corpus._finish_removals()
            if corpus._live.index is not None:
                corpus.quantising.start_if_due(corpus._live.index)
        except BaseException:
            store.close()
            raise
        return corpus

    @classmethod
    def beside(cls, home: Path, settings: Settings, search: VectorSearch, store: CorpusStore | None = None) -> Corpus:
        """Open the knowledge base for reading while another process owns it, which searches the vectors and makes all
        changes.

        Args:
            store: instead of corpus.db of the folder; it is closed with the knowledge base.

        Raises:
            NotFound, DamagedStore
        """
        store = store or CorpusStore.open(home / "corpus.db", read_only=True)
        try:
            return cls(home, settings, store, load_embedder(settings), search)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        # Before taking the lock, which these threads need in order to end.
        self.compacting.close()
        self.quantising.close()
        with self._changing.threads:
            if isinstance(self._for_passages, BackgroundEmbedder):
                self._for_passages.close()
            if (index := self._live.index) is not None:
                index.close()
                # Chroma allocates space for graphs from memory that may have contained a removed text.
                self.generations.blank_unsaved(index.generation)
            self.generations.close()
            self.store.close()

    def embed_in_background(self) -> None:
        """Embed passages in a low-priority process from now on, for a service that answers meanwhile."""
        if not isinstance(self._for_passages, BackgroundEmbedder):
            self._for_passages = BackgroundEmbedder(self.embedder, self.settings)

    def limits_of(self, lane: Lane) -> ReadLimits:
        return (
            ReadLimits.of_attachments(self.settings)
            if lane == "attachments"
            else ReadLimits.from_settings(self.settings)
        )

    def embedder_of(self, lane: Lane) -> Embedder:
        beside = self._for_passages
        return LaneEmbedder(beside, lane) if isinstance(beside, BackgroundEmbedder) else beside

    @property
    def vectors(self) -> VectorIndex:
        """The live generation; `reindex` replaces it.

        Raises:
            DamagedStore: opened for repair, and not yet repaired.
            VectorsUnavailable: the server that stores them is unavailable, or has lost them.
        """
        return self._live.get_usable()

    @property
    def is_shared(self) -> bool:
        """True if other processes search, words or vectors, while this one waits."""
        return self._beside is not None or self.store.database.shared or bool(self.settings.storage.chroma_url)

    @property
    def by_words_alone(self) -> bool:
        """True if the vector server is unavailable: searches by meaning then find nothing."""
        return self._live.index is None if self._beside is None else self._found_by_words

    # -- reading ----------------------------------------------------------------------------------------------------

    def search_semantic(
        self,
        principal: Principal,
        kind: VectorKind,
        query_vector: Vectors,
        limit: int,
        documents: Collection[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Return (item id, cosine similarity) of items this principal may read, best first; nothing while
        `by_words_alone`.

        Args:
            query_vector: shape (dimensions,) or (1, dimensions), of length 1.
            documents: the ids of the only documents searched; None: all.
        """
        return self.search_semantic_many(principal, kind, np.asarray(query_vector).reshape(1, -1), limit, documents)[0]

    def search_semantic_many(
        self,
        principal: Principal,
        kind: VectorKind,
        query_vectors: Vectors,
        limit: int,
        documents: Collection[str] | None = None,
    ) -> list[list[tuple[str, float]]]:
        """`search_semantic` for several queries at a time, in their order.

        Args:
            query_vectors: shape (n, dimensions), each of length 1.
        """
        vectors = np.asarray(query_vectors, np.float32)
        search = self._beside or self.nearest
        try:
            found = search(kind, vectors, self.store.list_audiences(principal), limit, documents)
            self._found_by_words = False
        except VectorsUnavailable:
            self._found_by_words = True
            return [[] for _ in vectors]
        # The database decides: the index may not yet reflect a change of readers.
        readable = self.store.readable(principal, kind, list({id_ for ranked in found for id_, _ in ranked}))
        return [[pair for pair in ranked if pair[0] in readable] for ranked in found]

    def nearest(
        self,
        kind: VectorKind,
        vectors: Vectors,
        audiences: Sequence[Audience],
        limit: int,
        documents: Collection[str] | None,
    ) -> list[list[tuple[str, float]]]:
        """Search the index of this process for these audiences; the caller checks which hits may be shown.

        Raises:
            VectorsUnavailable: the server that stores them is unavailable, or has lost them.
        """
        try:
            return self._find_nearest(kind, vectors, audiences, limit, documents)
        except IndexClosed:  # a rebuild, here or in another process, has just replaced it
            self._live.follow()
            return self._find_nearest(kind, vectors, audiences, limit, documents)

    def _find_nearest(
        self,
        kind: VectorKind,
        vectors: Vectors,
        audiences: Sequence[Audience],
        limit: int,
        documents: Collection[str] | None,
    ) -> list[list[tuple[str, float]]]:
        index = self.vectors
        try:
            if documents is not None:
                return find_nearest_within(self.store.database, index, kind, vectors, audiences, limit, documents)
            return index.searches(kind, vectors, audiences, limit)
        except VectorsUnavailable as error:
            if self._live.follow():  # another process has replaced it, and then deleted it
                raise IndexClosed from error
            self._live.lose(error)
            raise

    # -- changing ---------------------------------------------------------------------------------------------------

    def add(
        self,
        sources: Iterable[Source],
        *,
        deriver: Deriver | None = None,
        audience: Audience | None = None,
        tags: Sequence[str] | None = None,
        lane: Lane = "documents",
        turn: Turn = contextlib.nullcontext,
        by: Principal | None = None,
        relabel_known: bool = True,
        renew: bool = False,
    ) -> Iterator[IngestEvent]:
        """Add sources; existing ones are updated or left unchanged. Documents reported are durable.

        One bad file is an event `failed` and never stops the others. Stopping in the middle (closing the iterator)
        loses nothing that was reported.

        Args:
            deriver: makes triples and derived texts of each document; its model being down does not stop documents.
            audience, tags: None leaves those of a known document unchanged; a new one is for everyone, untagged.
            lane: the owner of these files: it decides the limits for reading, and with whom they alternate.
            turn: held while documents are written, and never while one is read or embedded.
            by: the person who adds; documents they may not read are no duplicates for them. None: somebody who may read
                everything.
            relabel_known: False: audience and tags apply only to new documents.
            renew: unchanged documents are read again too; their derived texts are lost.
        """
        # Imported here: a process that only asks questions needs none of it, nor the readers' process.
        from argot.corpus.ingestion.ingest_job import IngestJob

        adding = IngestJob(
            self, deriver, audience, tags, lane=lane, turn=turn, by=by, relabel_known=relabel_known, renew=renew
        )
        return adding.run(sources)

    def remove(
        self, principal: Principal, id_or_name_or_uri: str, *, keep: bool = False, erasing: bool = False
    ) -> Document:
        """Delete a document and all its rows, vectors and originals.

        Args:
            keep: its revisions and originals are moved to the dustbin (`argot.corpus.store.dustbin`).
            erasing: they stay there only until `erase_removed`.

        Raises:
            NotFound: there is none that this principal may read.
            InvalidInput: several have this name.
        """
        with self.changing() as parts:
            document = self.store.document(principal, id_or_name_or_uri)
            document_changes.remove_document(parts, document, keep=keep, erasing=erasing)
        return document

    def take_back(self, removed: str, document: str) -> None:
        """Remove a document that was added again from the dustbin; it gets its older revisions back."""
        with self.changing(), self.store.database.writing() as connection:
            dustbin.take_back(connection, removed, document)

    def mark_erasing(self, documents: Sequence[str]) -> None:
        """Record that these removed documents (ids) are to be erased: from here on they cannot be restored."""
        with self.changing(), self.store.database.writing() as connection:
            dustbin.mark_erasing(connection, documents)

    def erase_removed(self, documents: Sequence[str]) -> None:
        """Delete these documents (ids) from the dustbin, with their originals."""
        with self.changing(), self.store.database.writing() as connection:
            dustbin.erase_removed(connection, documents)

    def relabel(
        self,
        principal: Principal,
        id_or_name_or_uri: str,
        audience: Audience | None,
        tags: Sequence[str] | None,
        fields: Sequence[DocumentField] | None = None,
    ) -> Document:
        """Change the readers of a document, its tags, and the fields that managers set; None leaves them unchanged.

        It raises the errors of `remove`.
        """
        with self.changing() as parts:
            found = self.store.document(principal, id_or_name_or_uri)
            readers = found.audience if audience is None else audience
            labels = found.tags if tags is None else distinct_tags(tags)
            if fields is not None:
                with self.store.database.writing() as connection:
                    document_fields.replace_given_fields(connection, found.id, fields)
                found = self.store.document(principal, found.id)
            if (readers, labels) != (found.audience, found.tags):
                document_changes.relabel(parts, found, readers, labels)
        return replace(found, audience=readers, tags=labels)

    def reindex(self, progress: reindexing.Progress | None = None) -> None:
        """Rebuild vectors (with the present embedder) and keyword index from the store.

        Searches use the old index until the new one is complete. After a kill at any point, one of the two is live.
        """
        with self._changing:
            rebuild_words(self.store.database)
            self._rebuild(self._for_passages, progress)

    def change_embedder(self, settings: Settings, progress: reindexing.Progress | None, switching: Turn) -> None:
        """Rebuild the vectors with the embedder of these settings, which after the switch also embeds questions.

        After a kill at any point, the vectors of one of the two are live.

        Args:
            switching: held for the switch. No search with a vector of the former one may be in progress within it.

        Raises:
            InvalidSettings: the model cannot be used. Nothing was changed.
        """
        embedder = load_embedder(settings)
        with self._changing:
            former = self._for_passages
            background = isinstance(former, BackgroundEmbedder)
            beside: Embedder = BackgroundEmbedder(embedder, settings) if background else embedder

            @contextlib.contextmanager
            def switch_embedder() -> Iterator[None]:
                with switching():
                    yield
                    self.embedder, self.settings, self._for_passages = embedder, settings, beside

            self._rebuild(beside, progress, switch_embedder)
            if isinstance(former, BackgroundEmbedder):
                former.close()

    def _rebuild(
        self, embedder: Embedder, progress: reindexing.Progress | None, switching: Turn = contextlib.nullcontext
    ) -> None:
        """Call it with `_changing` held."""
        database = self.store.database
        fresh = reindexing.create_generation(database, self.generations, embedder)
        try:
            reindexing.fill(database, fresh, embedder, progress)
        except BaseException:
            fresh.close()
            raise
        with self._live.hold_swap():
            # CURRENT still names the old generation, complete on the disk: a kill before `make_live` loses nothing.
            with switching():
                old = self._live.put(fresh)
            if old is not None:
                old.close()
            reindexing.make_live(database, self.generations, fresh)
        outbox.settle(database, fresh, self.store.blobs)

    def _make_live(self, fresh: VectorIndex) -> None:
        """Make the new generation live, even after a kill. Call it with `_changing` held."""
        with self._live.hold_swap():
            self.generations.make_current(fresh.generation)
            self._live.put(fresh)

    @contextlib.contextmanager
    def changing(self) -> Iterator[Parts]:
        """Allow one writer at a time. On leaving, even by an error, work queued outside the database is done or undone.

        Raises:
            StoreUnavailable: the disk has no space for a change.
        """
        require_room(self.home)
        with self._changing:
            self._live.follow()
            parts = Parts(self.store, self.vectors, self._for_passages)
            try:
                yield parts
            except VectorsUnavailable as error:
                self._live.lose(error)
                raise
            finally:
                # If other processes are no longer kept out, the next one that changes anything also settles this.
                if self._changing.is_held(self.store.database.connection()):
                    self._live.settle(self.store, parts.vectors)
        # Outside the lock, because the thread started here takes it first.
        self.compacting.start_if_due()

    def scrub(self) -> bool:
        """Remove deleted data from all files; return False if a reader still uses an earlier state."""
        with self._changing:
            self.store.forget_deleted_words()
            # Space that Chroma has allocated but not filled contains earlier contents of memory.
            for index in (self._live.index, self._live.index and self._live.index.copy):
                if index is not None:
                    self.generations.blank_unsaved(index.generation)
            return self.store.scrub()

    # -- checking ---------------------------------------------------------------------------------------------------

    def check(self) -> list[Problem]:
        """Read and compare everything: database, originals, keyword indexes, vectors. It is slow."""
        with self._changing:
            problems = [Problem("corpus.db", fault, self._restore) for fault in self.store.faults()]
            # With a damaged database there is no reference for the rest.
            if problems:
                return problems
            # FTS5's integrity check is an INSERT, so it needs a write transaction.
            with self.store.database.writing() as connection:
                problems += [
                    Problem("keyword index", f"{table} does not agree with the stored texts", self._reindex)
                    for table in choose_keyword_index(connection).faults(connection)
                ]
            return [*problems, *self._check_vectors()]

    def _check_vectors(self) -> Iterator[Problem]:
        try:
            index = self.vectors
            self.generations.check(index.generation)
            connection = self.store.database.connection()
            for fault in chain(
                find_vector_faults(connection, index), find_quantised_faults(connection, index.generation)
            ):
                yield Problem("vectors", fault, self._reindex)
        except DamagedStore as error:
            yield Problem("vectors", str(error), self._reindex)
        except VectorsUnavailable as error:
            # A server that returns still has its data.
            yield Problem("vectors", str(error), self._reindex if error.lost else "argot doctor")

    @property
    def _restore(self) -> str:
        return restore_command(self.home)

    @property
    def _reindex(self) -> str:
        return reindex_command(self.home)

    # -- opening ----------------------------------------------------------------------------------------------------

    def _open_vectors(self) -> VectorIndex:
        # A process with a change in progress settles it itself: to others it looks interrupted.
        alone = self._changing.acquire(blocking=False)
        if not alone and self.generations.current() is None:
            alone = self._changing.acquire()  # it creates the first ones
        try:
            arguments = (self.store, self.generations, self.embedder, self.settings.search.embedder, self.home)
            return open_vectors(*arguments, settling=alone)
        finally:
            if alone:
                self._changing.release()

    def _finish_removals(self) -> None:
        """They remain if the last process was killed between a removal and its last step."""
        if self._changing.acquire(blocking=False):
            try:
                self.store.forget_deleted_words()
            finally:
                self._changing.release()
