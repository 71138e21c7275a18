"""Texts as vectors for each of their tokens, read once and cached."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argot.corpus.embedding.onnx_sessions import open_cached_model, open_onnx_session
from argot.corpus.embedding.text_cache import TextCache
from argot.tools.retrieval.reader_export import CARD_FILE

Floats = NDArray[np.float32]

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


class TokenReader:
    """Reads texts through onnxruntime. Safe to use from several threads."""

    def __init__(self, folder: Path, *, threads: int = 0, cached: bool = False) -> None:
        """
        Args:
            folder: graph, tokenizer and card.
            threads: processor threads of one reading; 0: as many as there are processors.
            cached: the folder is in the cache, where a copy of the graph may be kept.
        """
        from tokenizers import Tokenizer

        self.card: dict[str, Any] = json.loads((folder / CARD_FILE).read_text("utf-8"))
        self._session = (open_cached_model if cached else open_onnx_session)(folder / "model.onnx", threads)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._vectors = TextCache(self._read_vectors, MAX_REMEMBERED_TEXTS)
        self._means = TextCache(self._read_means, MAX_REMEMBERED_MEANS)

    def read_texts(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return each text as vectors, cached ones from memory."""
        return self._vectors.get_all(texts)

    def means(self, texts: Sequence[str]) -> list[Floats]:
        """Return the mean of each text's vectors, (dimensions,), of length 1; its cache is separate, so that many
        statements do not evict the passages that `read_texts` caches.
        """
        return self._means.get_all(texts)

    def _read_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return each text by itself: in 8 bits, texts that are read together share a scale, and each would differ with
        its neighbours.
        """
        return [self._read_alone(encoding) for encoding in self._tokenizer.encode_batch(list(texts))]

    def _read_means(self, texts: Sequence[str]) -> list[Floats]:
        return [read.mean for read in self._read_vectors(texts)]

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
