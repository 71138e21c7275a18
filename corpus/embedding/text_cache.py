"""A cache of vectors: each text is embedded once, however many threads ask for it at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from argot.protocols import Vectors

MAX_TEXTS = 10_000  # 15 MB at 384 dimensions


class TextCache:
    """Vectors of the texts that were embedded last. Texts that another thread is embedding are waited for."""

    def __init__(self, embed: Callable[[Sequence[str]], Vectors], dimensions: int) -> None:
        self._embed, self._dimensions = embed, dimensions
        self._known: dict[str, NDArray[np.float32]] = {}
        self._coming: dict[str, Future[NDArray[np.float32]]] = {}
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of the texts, (texts, dimensions); those that are not known are embedded together."""
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
            missing = [text for text in dict.fromkeys(texts) if text not in found]
            coming = {text: self._coming[text] for text in missing if text in self._coming}
            fresh: dict[str, Future[NDArray[np.float32]]] = {text: Future() for text in missing if text not in coming}
            self._coming |= fresh
        # Outside the lock, so that others can use the cache, or embed something else meanwhile.
        self._fill(fresh)
        found.update((text, vector.result()) for text, vector in (coming | fresh).items())
        return np.array([found[text] for text in texts], dtype=np.float32).reshape(len(texts), self._dimensions)

    def __contains__(self, text: str) -> bool:
        return text in self._known

    def clear(self) -> None:
        """Forget all vectors."""
        with self._lock:
            self._known.clear()

    def _fill(self, fresh: Mapping[str, Future[NDArray[np.float32]]]) -> None:
        """Embeds the texts of these futures. Everybody who waits gets a failure."""
        try:
            vectors = self._embed(list(fresh))
        except BaseException as error:
            with self._lock:
                self._forget_coming(fresh)
            for future in fresh.values():
                future.set_exception(error)
            raise
        with self._lock:
            self._forget_coming(fresh)
            self._known.update(zip(fresh, vectors, strict=True))
            while len(self._known) > MAX_TEXTS:
                # Dictionaries keep their order: the first entry is the oldest.
                del self._known[next(iter(self._known))]
        for future, vector in zip(fresh.values(), vectors, strict=True):
            future.set_result(vector)

    def _forget_coming(self, texts: Iterable[str]) -> None:
        for text in texts:
            del self._coming[text]
