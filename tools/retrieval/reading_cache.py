"""The readings of the latest questions: re-ranking and writing ask for the same ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from cachetools import LRUCache

from argot.protocols import PassageReading
from argot.types import Passage

_MAX_REMEMBERED = 200
"""Readings of passages that are kept, enough for the latest questions."""

ReadPassages = Callable[[str, Sequence[Passage]], list[PassageReading]]


class ReadingCache:
    """The readings of the latest questions. Safe to use from several threads."""

    def __init__(self) -> None:
        self._readings: LRUCache[tuple[str, str, str], PassageReading] = LRUCache(_MAX_REMEMBERED)
        self._lock = threading.Lock()

    def all_of(self, question: str, passages: Sequence[Passage], read: ReadPassages) -> list[PassageReading]:
        """Return the reading of each passage; `read` reads those that are not known."""
        keys = [(question, one.header, one.text) for one in passages]
        with self._lock:
            known = {key: self._readings[key] for key in keys if key in self._readings}
        missing = {key: one for key, one in zip(keys, passages, strict=True) if key not in known}
        if missing:
            known |= zip(missing, read(question, [*missing.values()]), strict=True)
        with self._lock:
            self._readings.update(known)
        return [known[key] for key in keys]
