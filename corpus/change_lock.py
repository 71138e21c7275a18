"""The lock for changing documents: one thread at a time, even if several processes share a database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, Self

from argot.databases import Connection
from argot.errors import StoreUnavailable

_LOOK_SECONDS = 1.0
"""How often a waiting thread checks whether it should still wait."""


class ProcessLock(Protocol):
    """A lock that lasts as long as its connection (`argot.postgresql.session_lock`)."""

    def acquire(self, *, wait: bool = True, unless: threading.Event | None = None) -> bool: ...

    def release(self) -> None: ...

    def is_held(self, connection: Connection) -> bool: ...

    def close(self) -> None: ...


class ChangeLock:
    """A re-entrant lock.

    Args:
        between: keeps other processes out; None: there are none.
        on_taken: called each time it was taken from other processes, before anything is changed.
    """

    def __init__(self, between: ProcessLock | None = None, on_taken: Callable[[], None] | None = None) -> None:
        self.threads = threading.RLock()
        """For work that does not affect other processes."""
        self._between = between
        self._on_taken = on_taken
        self._depth = 0
        self._thread = 0

    def acquire(self, blocking: bool = True, *, unless: threading.Event | None = None) -> bool:
        """Return whether it is held now.

        Args:
            unless: once this is set, waiting ends within some seconds.

        Raises:
            StoreUnavailable
        """
        if not self._acquire_from_threads(blocking, unless):
            return False
        try:
            got = (
                self._depth > 0
                or self._between is None
                or self._acquire_from_processes(self._between, blocking, unless)
            )
        except BaseException:
            self.threads.release()
            raise
        if not got:
            self.threads.release()
            return False
        self._depth, self._thread = self._depth + 1, threading.get_ident()
        return True

    def _acquire_from_threads(self, blocking: bool, unless: threading.Event | None) -> bool:
        if not blocking or unless is None:
            return self.threads.acquire(blocking)
        while not unless.is_set():
            if self.threads.acquire(timeout=_LOOK_SECONDS):
                return True
        return False

    def _acquire_from_processes(self, between: ProcessLock, blocking: bool, unless: threading.Event | None) -> bool:
        if not between.acquire(wait=blocking, unless=unless):
            return False
        self._depth, self._thread = 1, threading.get_ident()
        try:
            if self._on_taken:
                self._on_taken()
        except BaseException:
            between.release()
            raise
        finally:
            self._depth = 0
        return True

    def release(self) -> None:
        self._depth -= 1
        try:
            if self._depth == 0 and self._between is not None:
                self._between.release()
        finally:
            self.threads.release()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: Any) -> None:
        self.release()

    @contextmanager
    def wait_for(self, *, unless: threading.Event) -> Iterator[bool]:
        """Return whether it is held within; once `unless` is set, waiting ends within some seconds."""
        held = self.acquire(unless=unless)
        try:
            yield held
        finally:
            if held:
                self.release()

    def is_held(self, connection: Connection) -> bool:
        """Return whether other processes are still kept out: a connection may be lost while it is held."""
        return self._between is None or self._between.is_held(connection)

    def require_held(self, connection: Connection, name: str) -> None:
        """Check, within a transaction of the thread that holds it, that it is still held: writes after its loss must
        not count.

        Raises:
            StoreUnavailable
        """
        ours = self._depth > 0 and self._thread == threading.get_ident()
        if ours and not self.is_held(connection):
            raise StoreUnavailable(
                f"{name}: the connection was lost that kept other processes from changing documents. What was under "
                "way is as it was before. Do it again.",
                "Do it again: the connection to PostgreSQL was lost meanwhile",
            )

    def close(self) -> None:
        if self._between is not None:
            self._between.close()
