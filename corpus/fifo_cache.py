"""A small cache that several threads may use."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any


class Kept:
    """The newest entries that together are no larger than `most`. A larger one is not kept at all.

    What an entry depends on belongs in its key: nothing is ever taken out as stale. Entries count as 1 each, unless
    whoever puts them in gives sizes, all in one unit: where they differ by orders of magnitude, or grow with the
    documents, only sizes bound the memory.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    @property
    def size(self) -> int:
        """Of all entries together."""
        return self._size

    def get(self, key: Hashable) -> Any | None:
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None else entry[0]

    def put(self, key: Hashable, value: Any, size: int = 1) -> None:
        with self._lock:
            self._size -= self._entries.pop(key, (None, 0))[1]
            if size > self._most:
                return
            self._entries[key] = (value, size)
            self._size += size
            while self._size > self._most:
                _, (_, taken) = self._entries.popitem(last=False)
                self._size -= taken
