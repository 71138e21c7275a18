"""Reclaiming the space of vectors that were replaced or deleted.

Chroma only marks them: their space in memory and on the disk stays taken, about 2 MB per thousand, searches walk
through them, and deleting a collection does not reclaim it either. Closing a whole generation does. Once more are
deleted than remain, the rest is copied into a new generation; nothing is embedded again. Searches continue in the old
one meanwhile, and so do writes: between two slices, into both.

Chroma renormalises a vector whenever it is written, for example when a document's readers change: afterwards a
similarity may differ in its last bit.

A kill before the new generation is made current leaves the old one, and a kill after that leaves the new one; the next
start deletes the other.
"""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Protocol

from argot.corpus.change_lock import ChangeLock
from argot.corpus.index import outbox
from argot.corpus.index.embedding_windows import read_expected_counts
from argot.corpus.index.vector_index import Generations, IndexClosed, VectorIndex
from argot.corpus.ingestion import reindexing
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.row_mapping import load_audience
from argot.corpus.vector_ids import build_vector_id
from argot.errors import VectorsUnavailable
from argot.protocols import Embedder

# Some 4 MB: reclaiming less is not worth a copy of all the rest.
MIN_GONE_VECTORS = 2_000
SLICE_ITEMS = 32
"""Number of items copied while other writers wait; while Chroma writes them no other thread of the process runs, some
15 ms."""
PAUSE_SECONDS = 0.02
"""Pause between two slices, for waiting writers."""

log = logging.getLogger(__name__)


class CompactionSuperseded(Exception):
    """The corpus is being closed, or another generation is live by now."""


class CompactedCorpus(Protocol):
    """The interface to a corpus that compaction needs. `vectors`: the live generation."""

    store: CorpusStore
    embedder: Embedder
    generations: Generations

    @property
    def vectors(self) -> VectorIndex: ...


class Compactor:
    """At most one copy at a time, in a separate thread.

    Args:
        writers: the lock that every writer holds.
        swap: makes the new generation the live one, under that lock.
    """

    def __init__(self, corpus: CompactedCorpus, writers: ChangeLock, swap: Callable[[VectorIndex], object]) -> None:
        self._corpus = corpus
        self._writers = writers
        self._swap = swap
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start_if_due(self) -> None:
        """Start it in the background if it is due."""
        with self._starting:
            running = self._thread is not None and self._thread.is_alive()
            if not running and not self._ended.is_set() and self._is_due():
                # A daemon, so that a process can exit at once: the next start deletes the unfinished copy.
                self._thread = threading.Thread(target=self._try, name="argot-compact", daemon=True)
                self._thread.start()

    def _is_due(self) -> bool:
        try:
            return is_due(self._corpus.vectors)
        except VectorsUnavailable:  # reclaiming can wait
            return False

    def close(self) -> None:
        """Cancel work in progress. Do not call it while holding the writers' lock."""
        with self._starting:
            # Under the lock of `start_if_due`, so that no copy can begin afterwards.
            self._ended.set()
        self.wait()

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _try(self) -> None:
        old = self._corpus.vectors
        try:
            self.run(old)
        except CompactionSuperseded:
            pass
        except Exception:  # documents can be added all the same
            old.gone = old.spared = 0  # not again at once
            log.warning("the room of deleted vectors is not given back yet", exc_info=True)

    def run(self, old: VectorIndex) -> None:
        """Copy the live vectors of this generation into a new one and replace it.

        Raises:
            CompactionSuperseded: nothing has changed.
        """
        # Another process would write only into the old generation: none may, until the copy is complete. It may take
        # long over its present write, and closing the corpus waits for this thread.
        shared = self._corpus.store.database.shared
        with self._writers.wait_for(unless=self._ended) if shared else nullcontext(True) as alone:
            if not alone:
                raise CompactionSuperseded
            self._copy(old)
        release_memory()

    def _copy(self, old: VectorIndex) -> None:
        database = self._corpus.store.database
        with self._writers:
            self._check(old)
            fresh = reindexing.create_generation(database, self._corpus.generations, self._corpus.embedder)
            # From here on, writes go into both generations.
            old.copy = fresh
        try:
            after: str | None = ""
            while after is not None:
                with self._writers:
                    self._check(old)
                    after = self._copy_slice(old, fresh, after)
                # Not a sleep: closing should not have to wait for the pause to end.
                self._ended.wait(PAUSE_SECONDS)
            with self._writers:
                self._check(old)
                self._make_live(old, fresh)
        except BaseException:
            self._drop_copy(old, fresh)
            raise

    def _drop_copy(self, old: VectorIndex, fresh: VectorIndex) -> None:
        with self._writers:
            old.copy = None
            fresh.close()
            # After a rebuild another generation is live, and the rebuild has deleted all others already.
            if self._corpus.vectors is old:
                corpus = self._corpus
                reindexing.forget_other_generations(corpus.store.database, corpus.generations, old.generation)

    def _check(self, old: VectorIndex) -> None:
        if self._ended.is_set() or self._corpus.vectors is not old:
            raise CompactionSuperseded

    def _copy_slice(self, old: VectorIndex, fresh: VectorIndex, after: str) -> str | None:
        """Copy the next items after this one; return the last of them, None once there are no more."""
        # From one id to the next and not by offset, since rows are added and deleted between two slices.
        rows = (
            self._corpus.store.database.connection()
            .execute(
                """SELECT v.item, v.kind, v.windows, a.tokens
            FROM vectors AS v JOIN documents AS d ON d.id = v.document JOIN audiences AS a ON a.n = d.audience
            WHERE v.generation = ? AND v.item > ? ORDER BY v.item LIMIT ?""",
                (old.generation, after, SLICE_ITEMS),
            )
            .fetchall()
        )
        ids: dict[str, list[str]] = {}
        for item, kind, windows, tokens in rows:
            of_collection = ids.setdefault(old.collection_name(kind, load_audience(tokens)), [])
            of_collection += [build_vector_id(item, window) for window in range(windows)]
        for collection, wanted in ids.items():
            fresh.upsert(collection, old.get(collection, wanted))
        return rows[-1][0] if rows else None

    def _make_live(self, old: VectorIndex, fresh: VectorIndex) -> None:
        database, generations = self._corpus.store.database, self._corpus.generations
        outbox.settle(database, old, self._corpus.store.blobs)
        expected, there = read_expected_counts(database.connection(), old), fresh.counts()
        # A search would not notice a missing vector, so it is better to keep the old generation.
        if expected != there:
            raise RuntimeError(f"{sum(there.values())} of {sum(expected.values())} vectors were copied")
        with database.writing() as connection:
            for table, columns in (
                ("vectors", "item, kind, document, windows, sketch"),
                ("quantised_vectors", "document, kind, part, revision, vectors, signs, numbers"),
            ):
                connection.execute(
                    f"INSERT INTO {table} (generation, {columns}) SELECT ?, {columns} FROM {table} "  # noqa: S608
                    "WHERE generation = ?",
                    (fresh.generation, old.generation),
                )
        generations.blank_unsaved(fresh.generation)
        self._swap(fresh)
        old.copy = None
        old.close()
        reindexing.forget_other_generations(database, generations, fresh.generation)


def is_due(index: VectorIndex) -> bool:
    """Return whether more of its vectors are deleted than remain; a small number does not matter.

    Chroma counts the remaining ones one by one. A deletion changes the difference by two at most, so that the next
    count can wait until half of that difference has been deleted, too.
    """
    if index.gone <= max(MIN_GONE_VECTORS, index.spared):
        return False
    try:
        left = sum(index.counts().values())
    except IndexClosed:  # a rebuild has just replaced it
        return False
    index.spared = (index.gone + left) // 2
    return index.gone > left


def release_memory() -> None:
    """Return freed memory to the system, where the C library offers that (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
