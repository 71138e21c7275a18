"""A cross-encoder from Argot's own training, through onnxruntime: neither torch nor transformers is imported."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from argot.corpus.embedding.onnx_sessions import open_onnx_session

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

CROSS_ENCODER_FILE = "cross-encoder-int8.onnx"
"""Its graph in 8-bit integers, beside the `tokenizer.json` that also states how many tokens it reads."""
BATCH_PAIRS = 4


class OnnxCrossEncoderScorer:
    """A `Scorer`. Its model is loaded when it first scores. Safe to use from several threads."""

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        """
        Args:
            folder: as a re-ranker's training writes it.
            threads: processor threads of one reading; 0: as many as there are processors.
        """
        self.folder = folder
        self._threads = threads
        self._loaded: tuple[onnxruntime.InferenceSession, tokenizers.Tokenizer] | None = None
        self._loading = threading.Lock()

    def load(self) -> tuple[onnxruntime.InferenceSession, tokenizers.Tokenizer]:
        """Return graph and tokenizer, loaded at the first use."""
        from tokenizers import Tokenizer

        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        with self._loading:
            if self._loaded is None:
                tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
                tokenizer.no_padding()
                self._loaded = open_onnx_session(self.folder / CROSS_ENCODER_FILE, self._threads), tokenizer
            return self._loaded

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the chance that each text answers the query, in [0, 1]."""
        session, tokenizer = self.load()
        read = tokenizer.encode_batch([(query, text) for text in texts])
        # Sorted by length, so that little is padded.
        order = sorted(range(len(texts)), key=lambda number: len(read[number].ids))
        scores = [0.0] * len(texts)
        for first in range(0, len(order), BATCH_PAIRS):
            rows = order[first : first + BATCH_PAIRS]
            (logits,) = session.run(None, _build_inputs([read[number] for number in rows]))
            for number, logit in zip(rows, logits, strict=True):
                scores[number] = float(1 / (1 + np.exp(-np.clip(logit, -30, 30))))
        return scores


def _build_inputs(read: Sequence[tokenizers.Encoding]) -> dict[str, Any]:
    """Return each (texts, tokens), filled with zeros at the end."""
    shape = len(read), max(len(one.ids) for one in read)
    ids, mask, parts = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    for row, one in enumerate(read):
        length = len(one.ids)
        ids[row, :length], mask[row, :length], parts[row, :length] = one.ids, 1, one.type_ids
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": parts}
