"""The live generation of the vectors, as far as there is one that can be used.

A server that keeps them may go, and come back. While it is gone, each search by meaning finds nothing at once, instead
of waiting for it, and from time to time one looks whether it is back. Then all that is looked at when a knowledge base
is opened is looked at again: who knows what the server lost.
"""

from __future__ import annotations

import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from argot.corpus.change_lock import ChangeLock
from argot.corpus.index import outbox
from argot.corpus.index.vector_index import VectorIndex
from argot.corpus.store.document_store import CorpusStore
from argot.disk_space import is_no_room
from argot.errors import ArgotError, DamagedStore, StoreUnavailable, VectorsUnavailable

RETRY_SECONDS = 5.0
"""From one look whether the server is back to the next."""

POLL_SECONDS = 2.0
"""A search looks at most so often whether another process has made other vectors live. Nothing hangs on it: those no
longer live are deleted at once, and a search that meets that goes on with the live ones."""

log = logging.getLogger(__name__)


class LiveVectors:
    """
    Args:
        opening: opens the live generation.
        changing: held by whoever changes the knowledge base.
        current: the name of the live generation, where other processes may make one; None: this one alone does.
    """

    def __init__(
        self,
        opening: Callable[[], VectorIndex],
        changing: ChangeLock,
        current: Callable[[], str | None] | None = None,
    ) -> None:
        self._opening = opening
        self._changing = changing
        self._current = current
        self._swapping = threading.Lock()
        self._looked_at = time.monotonic()
        self._why: ArgotError | None = None
        self._again_at = 0.0
        self.index: VectorIndex | None = None
        """None while there is none that can be used."""

    def get_usable(self) -> VectorIndex:
        """
        Raises:
            DamagedStore: opened for mending, and not mended yet.
            VectorsUnavailable: the server is gone, or has lost them.
        """
        if self._current is not None and time.monotonic() > self._looked_at + POLL_SECONDS:
            self.follow(waiting=False)
        # Opening finishes what was begun, in which nobody else may be; and it is enough if one looks.
        if self._is_due() and self._changing.acquire(blocking=False):
            try:
                if self._is_due():  # another has not done it just now
                    self.open(mending=True)
            finally:
                self._changing.release()
        if found := self.index:
            return found
        if self._why is None:
            raise VectorsUnavailable("There are no vectors yet.")
        # Not the same error again: it would carry the traces of all who met it.
        if isinstance(self._why, VectorsUnavailable):
            raise VectorsUnavailable(self._why.args[0], lost=self._why.lost)
        raise self._why

    def _is_due(self) -> bool:
        gone = self.index is None and isinstance(self._why, VectorsUnavailable)
        return gone and time.monotonic() >= self._again_at

    def open(self, *, mending: bool) -> None:
        """
        Raises:
            DamagedStore: not with `mending`. A server that is gone is no error before it is needed.
        """
        try:
            self.index = self._opening()
        except VectorsUnavailable as error:
            self.lose(error)
        except DamagedStore as error:
            if not mending:
                raise
            self._why = error

    def follow(self, *, waiting: bool = True) -> bool:
        """Go on with the generation that another process has made live meanwhile; whether there was one.

        Args:
            waiting: for another thread that does so, too, or makes one live itself.
        """
        self._replace_starved()
        if self._current is None or self.index is None or not self._swapping.acquire(blocking=waiting):
            return False
        try:
            former, self._looked_at = self.index, time.monotonic()
            if former is None or self._current() in (None, former.generation):
                return False
            self._resume()
            former.close()
            return True
        finally:
            self._swapping.release()

    def _replace_starved(self) -> None:
        """Open the index again that a full disk has left without connections: its next write would never end."""
        if self.index is not None and self.index.is_starved and self._swapping.acquire(blocking=False):
            try:
                former, self.index = self.index, None
                self._why, self._again_at = VectorsUnavailable("The vector index is opened again."), math.inf
                # First: one process cannot have Chroma's folder open twice.
                former.close()
                self._again_at = 0.0
                self._resume()
            finally:
                self._swapping.release()

    def _resume(self) -> None:
        try:
            self.index = self._opening()
        except VectorsUnavailable as error:
            self.lose(error)
        except DamagedStore as error:  # such as made by another embedder than the one of this process
            self.index, self._why = None, error

    @contextmanager
    def hold_swap(self) -> Iterator[None]:
        """While a generation is made live here, which is not another process's to be followed."""
        with self._swapping:
            yield

    def put(self, index: VectorIndex) -> VectorIndex | None:
        """Make this one the live one; what was it before."""
        former, self.index = self.index, index
        return former

    def settle(self, store: CorpusStore, index: VectorIndex) -> None:
        """Do what is queued outside the database; what a server that is gone would not do, once it is opened again.

        What a full disk does not let be done stays in the queue for the next change: the change before it counts.
        """
        if self.index is not None:
            try:
                outbox.settle(store.database, index, store.blobs)
            except VectorsUnavailable as error:
                self.lose(error)
            except (StoreUnavailable, OSError, sqlite3.Error) as error:
                if not is_no_room(error):
                    raise
                log.warning("what was removed is not yet deleted from the vector index: %s", error)

    def lose(self, error: VectorsUnavailable) -> None:
        """The server did not do what was asked of it."""
        if self.index is not None or self._why is None:
            log.warning("searches go on by words alone: %s", error)
        # Others may be in the middle of a search in it: it is left to them, and nothing of it has to be closed.
        self.index, self._why, self._again_at = None, error, time.monotonic() + RETRY_SECONDS
