"""Texts as vectors for each of their tokens, read once and cached."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from argot.corpus.embedding.embedder import open_onnx_session
from argot.tools.retrieval.reader_export import CARD_FILE

Floats = NDArray[np.float32]
Value = TypeVar("Value")

MODEL_FILES = ("model.onnx", "tokenizer.json", CARD_FILE)
MAX_TOKENS = 256
MAX_REMEMBERED_TEXTS = 2_000
"""Number of texts whose vectors are cached: some 75 kB for a passage of 150 words."""
MAX_REMEMBERED_MEANS = 20_000
"""Texts of which only the mean is cached, 1.5 kB each: statements, and passages as they are compared with those."""


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A text as read: `levels` (tokens, dimensions) in 8 bits, which times `scales` (tokens,) are vectors of length 1;
    `weights` (tokens,) positive, `spans` (tokens, 2): the position of each token in the text, `ids` (tokens,): the
    tokens themselves, and `mean` (dimensions,): the vectors' mean, of length 1.
    """

    levels: NDArray[np.int8]
    scales: Floats
    weights: Floats
    spans: NDArray[np.int32]
    ids: NDArray[np.int32]
    mean: Floats

    @classmethod
    def of(cls, vectors: Floats, weights: Floats, spans: Any, ids: Any) -> TokenVectors:
        """Build the vectors in 8 bits: they take a quarter of the memory, and cosines differ by some thousandths."""
        scales = np.abs(vectors).max(1, initial=1e-9) / 127
        levels = np.rint(vectors / scales[:, None]).astype(np.int8)
        return cls(levels, scales, weights.copy(), spans.astype(np.int32), ids.astype(np.int32), _compute_mean(vectors))

    @property
    def vectors(self) -> Floats:
        """(tokens, dimensions), of length 1."""
        return self.levels * self.scales[:, None]


def _compute_mean(vectors: Floats) -> Floats:
    total = vectors.sum(0)
    return total / max(float(np.linalg.norm(total)), 1e-9)  # type: ignore[no-any-return]


class RecentlyUsedCache(Generic[Value]):
    """Cache of values made from texts; the least recently used are dropped first. Safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._kept: LRUCache[str, Value] = LRUCache(most)
        self._lock = threading.Lock()

    def all_of(self, texts: Sequence[str], make: Callable[[Sequence[str]], Sequence[Value]]) -> list[Value]:
        """Return the value of each text; `make` makes the missing ones, in the order of the texts it receives."""
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        made = dict(zip(missing, make(missing), strict=True))
        with self._lock:
            self._kept.update(made)
        found |= made
        return [found[text] for text in texts]

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


class TokenReader:
    """Reads texts through onnxruntime. Safe to use from several threads."""

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        """
        Args:
            folder: graph, tokenizer and card.
            threads: processor threads of one reading; 0: as many as there are processors.
        """
        from tokenizers import Tokenizer

        self.card: dict[str, Any] = json.loads((folder / CARD_FILE).read_text("utf-8"))
        self._session = open_onnx_session(folder / "model.onnx", threads)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._remembered: RecentlyUsedCache[TokenVectors] = RecentlyUsedCache(MAX_REMEMBERED_TEXTS)
        self._means: RecentlyUsedCache[Floats] = RecentlyUsedCache(MAX_REMEMBERED_MEANS)

    def read_texts(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return each text as vectors, cached ones from memory."""
        return self._remembered.all_of(texts, self._read_vectors)

    def means(self, texts: Sequence[str]) -> list[Floats]:
        """Return the mean of each text's vectors, (dimensions,), of length 1; its cache is separate, so that many
        statements do not evict the passages that `read` caches.
        """
        return self._means.all_of(texts, lambda missing: [read.mean for read in self._read_vectors(missing)])

    def _read_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return each text by itself: in 8 bits, texts that are read together share a scale, and each would differ with
        its neighbours.
        """
        return [self._read_alone(encoding) for encoding in self._tokenizer.encode_batch(list(texts))]

    def _read_alone(self, encoding: Any) -> TokenVectors:
        ids = np.array([encoding.ids], dtype=np.int64)
        vectors, weights = self._run(ids, np.ones_like(ids))
        # without the model's own first and last token
        own = slice(1, len(encoding.ids) - 1)
        spans = np.array(encoding.offsets[own]).reshape(-1, 2)
        return TokenVectors.of(vectors[0, own], weights[0, own], spans, ids[0, own])

    def _run(self, ids: Any, mask: Any) -> tuple[Any, Any]:
        vectors, *weights = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        # Without training all tokens have the same weight, and the graph does not output it.
        return vectors, weights[0] if weights else np.ones(ids.shape, dtype=np.float32)
