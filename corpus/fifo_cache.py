"""A small cache that several threads may use."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from threading import Lock
from typing import Any

from cachetools import FIFOCache


class SizedCache:
    """The newest entries with a total size of at most `most`. A larger one is not stored at all.

    Everything an entry depends on belongs in its key: stale entries are never removed. Entries count as 1 each, unless
    the caller passes sizes, all in one unit: if they differ by orders of magnitude, or grow with the documents, only
    sizes bound the memory.
    """

    def __init__(self, most: int) -> None:
        self._entries: FIFOCache[Hashable, tuple[Any, int]] = FIFOCache(most, getsizeof=lambda entry: entry[1])
        # The caches of cachetools are not thread-safe.
        self._lock = Lock()

    @property
    def size(self) -> int:
        """The size of all entries together."""
        return int(self._entries.currsize)

    def get(self, key: Hashable) -> Any | None:
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None else entry[0]

    def put(self, key: Hashable, value: Any, size: int = 1) -> None:
        with self._lock:
            # Otherwise a new value that is too large would leave the old one in its place.
            self._entries.pop(key, None)
            with suppress(ValueError):  # larger than all of the cache
                self._entries[key] = (value, size)
