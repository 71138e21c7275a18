"""Quantised vectors for the documents of an earlier Argot, which stored none: made once, in the background.

Until a document has them, searches within some documents pass its vectors' ids to the index, as before.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Protocol

from argot.corpus.change_lock import ChangeLock
from argot.corpus.index import outbox
from argot.corpus.index.quantised_vectors import add_quantised, list_documents_without
from argot.corpus.index.vector_index import IndexClosed, VectorIndex
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.vector_ids import VectorKind
from argot.errors import ArgotError
from argot.protocols import Vectors

SLICE_DOCUMENTS = 16
"""Number of documents that are read and written while other writers wait."""
PAUSE_SECONDS = 0.02
"""Pause between two slices, for waiting writers."""

log = logging.getLogger(__name__)


class QuantisedCorpus(Protocol):
    """The interface to a corpus that quantising needs. `vectors`: the live generation."""

    store: CorpusStore

    @property
    def vectors(self) -> VectorIndex: ...


class Quantiser:
    """One pass over the documents, in a separate thread.

    Args:
        writers: the lock that every writer holds.
    """

    def __init__(self, corpus: QuantisedCorpus, writers: ChangeLock) -> None:
        self._corpus = corpus
        self._writers = writers
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start_if_due(self, index: VectorIndex) -> None:
        """Start it in the background if it is due."""
        if list_documents_without(self._corpus.store.database.connection(), index.generation, "", 1):
            # A daemon, so that a process can exit at once: the next start continues.
            self._thread = threading.Thread(target=self._try, args=(index,), name="argot-quantise", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Do not call it while holding the writers' lock."""
        self._ended.set()
        self.wait()

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _try(self, index: VectorIndex) -> None:
        try:
            self.run(index)
        except (ArgotError, IndexClosed):  # deleted, or another generation is live, which has them
            log.warning("some documents have no quantised vectors yet", exc_info=True)

    def run(self, index: VectorIndex) -> None:
        connection, after = self._corpus.store.database.connection(), ""
        # Another generation has them from the beginning.
        while not self._ended.wait(PAUSE_SECONDS) and self._corpus.vectors is index:
            # Another writer may take long, and closing the corpus waits for this thread.
            with self._writers.wait_for(unless=self._ended) as held:
                documents = list_documents_without(connection, index.generation, after, SLICE_DOCUMENTS) if held else []
                if not documents:
                    return
                self._quantise(index, documents)
                after = documents[-1]

    def _quantise(self, index: VectorIndex, documents: Sequence[str]) -> None:
        database = self._corpus.store.database
        made = {
            document: _read_vectors(index, outbox.read_vector_ids(database.connection(), index, document))
            for document in documents
        }
        with database.writing() as connection:
            for document, vectors in made.items():
                add_quantised(connection, index.generation, document, vectors)


def _read_vectors(index: VectorIndex, ids: dict[str, list[str]]) -> dict[VectorKind, dict[str, Vectors]]:
    return {outbox.parse_kind(name): index.get(name, of_collection) for name, of_collection in ids.items()}
