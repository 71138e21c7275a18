"""A cache of what is computed of texts, such as vectors: once for each, however many threads ask for it at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from cachetools import LRUCache

Value = TypeVar("Value")


class TextCache(Generic[Value]):
    """Values of texts; the least recently used are dropped first. Texts that another thread computes are waited for.

    Args:
        compute: returns the values of texts, in their order; it must not use the cache itself.
        most: the number of texts whose values are kept.
    """

    def __init__(self, compute: Callable[[Sequence[str]], Iterable[Value]], most: int) -> None:
        self._compute = compute
        self._known: LRUCache[str, Value] = LRUCache(most)
        self._coming: dict[str, Future[Value]] = {}
        self._lock = threading.Lock()

    def get_all(self, texts: Sequence[str]) -> list[Value]:
        """Return the value of each text; those that are not known are computed together."""
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
            missing = [text for text in dict.fromkeys(texts) if text not in found]
            coming = {text: self._coming[text] for text in missing if text in self._coming}
            fresh: dict[str, Future[Value]] = {text: Future() for text in missing if text not in coming}
            self._coming |= fresh
        # Outside the lock, so that others can use the cache, or compute something else meanwhile.
        if fresh:
            self._fill(fresh)
        found.update((text, value.result()) for text, value in (coming | fresh).items())
        return [found[text] for text in texts]

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._known.clear()

    def _fill(self, fresh: Mapping[str, Future[Value]]) -> None:
        """Compute the values of the texts of these futures. Everybody who waits gets a failure."""
        try:
            values = dict(zip(fresh, self._compute(list(fresh)), strict=True))
        except BaseException as error:
            with self._lock:
                self._forget_coming(fresh)
            for future in fresh.values():
                future.set_exception(error)
            raise
        with self._lock:
            self._forget_coming(fresh)
            self._known.update(values)
        for text, future in fresh.items():
            future.set_result(values[text])

    def _forget_coming(self, texts: Iterable[str]) -> None:
        for text in texts:
            del self._coming[text]
