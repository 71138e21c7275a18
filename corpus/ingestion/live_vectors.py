"""The live generation of the vectors, if one is usable.

A vector server may become unavailable, and return. While it is unavailable, each search by meaning finds nothing at
once, instead of waiting, and its availability is checked from time to time. On its return, all checks of opening a
knowledge base are repeated, since the server may have lost data.
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
"""Pause between two checks whether the server is back."""

POLL_SECONDS = 2.0
"""Minimum interval between checks whether another process has made other vectors live. Correctness does not depend on
it: replaced generations are deleted at once, and a search that notices it continues with the live one."""

log = logging.getLogger(__name__)


class LiveVectors:
    """
    Args:
        opening: opens the live generation.
        changing: the lock of all writers of the knowledge base.
        current: returns the name of the live generation, if other processes may make one; None: only this one does.
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
        """None while none is usable."""

    def get_usable(self) -> VectorIndex:
        """Return the index of the live generation, opened if necessary.

        Raises:
            DamagedStore: opened for repair, and not yet repaired.
            VectorsUnavailable: the server is unavailable, or has lost them.
        """
        if self._current is not None and time.monotonic() > self._looked_at + POLL_SECONDS:
            self.follow(waiting=False)
        # Opening completes unfinished work, which must be exclusive; and one check is enough.
        if self._is_due() and self._changing.acquire(blocking=False):
            try:
                if self._is_due():  # another thread has not just done it
                    self.open(for_repair=True)
            finally:
                self._changing.release()
        if found := self.index:
            return found
        if self._why is None:
            raise VectorsUnavailable("There are no vectors yet.")
        # Not the same error object: it would accumulate the tracebacks of everyone who met it.
        if isinstance(self._why, VectorsUnavailable):
            raise VectorsUnavailable(self._why.args[0], lost=self._why.lost)
        raise self._why

    def _is_due(self) -> bool:
        gone = self.index is None and isinstance(self._why, VectorsUnavailable)
        return gone and time.monotonic() >= self._again_at

    def open(self, *, for_repair: bool) -> None:
        """Open the live generation.

        Raises:
            DamagedStore: not with `for_repair`. An unavailable server is no error until it is needed.
        """
        try:
            self.index = self._opening()
        except VectorsUnavailable as error:
            self.lose(error)
        except DamagedStore as error:
            if not for_repair:
                raise
            self._why = error

    def follow(self, *, waiting: bool = True) -> bool:
        """Continue with the generation that another process has made live meanwhile; return whether there was one.

        Args:
            waiting: for another thread that is doing the same, or is making one live.
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
        """Reopen the index that a full disk has left without connections: its next write would never end."""
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
        """Hold this while a generation is made live here, which must not be followed as another process's."""
        with self._swapping:
            yield

    def put(self, index: VectorIndex) -> VectorIndex | None:
        """Make this one the live one; return the previous one."""
        former, self.index = self.index, index
        return former

    def settle(self, store: CorpusStore, index: VectorIndex) -> None:
        """Do the work queued outside the database; an unavailable server's part is done once it is opened again.

        Work that a full disk prevents stays in the queue for the next change: the change before it counts.
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
        """Record that the server failed at a request."""
        if self.index is not None or self._why is None:
            log.warning("searches go on by words alone: %s", error)
        # Others may be in the middle of a search in it: they keep it, and nothing of it has to be closed.
        self.index, self._why, self._again_at = None, error, time.monotonic() + RETRY_SECONDS
