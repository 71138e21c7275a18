"""The reader: a small model that says which passage answers a question, where in it, and what bears a sentence out.

Question and passage are read apart into a vector for each token (late interaction: Khattab and Zaharia, 2020); each
token of the question looks for its like in the passage. So a passage is read once, whatever is asked of it later.
`argot.learn.reader` trains and exports the model.
"""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argot.protocols import Scorer

Floats = NDArray[np.float32]

TASKS = ("relevance", "support")
MODEL_FILES = ("model.onnx", "tokenizer.json", "card.json")
MOST_TOKENS = 256
BATCH_TEXTS = 8
REMEMBERED = 400
"""Texts whose vectors are kept: some 100 kB for a passage of 150 words."""

_WORST = 12.0
"""As in training (`argot.learn.reader.network`): how sharply the worst tokens are looked at alone."""


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A text as read: `vectors` (tokens, dimensions) of length 1, `weights` (tokens, tasks) positive, `spans`
    (tokens, 2): where each token stands in the text, and `ids` (tokens,): which it is.
    """

    vectors: Floats
    weights: Floats
    spans: NDArray[np.int64]
    ids: NDArray[np.int64]

    def part(self, start: int, end: int) -> TokenVectors:
        """Of the tokens inside [start, end) of the text."""
        inside = (self.spans[:, 0] >= start) & (self.spans[:, 1] <= end)
        return TokenVectors(self.vectors[inside], self.weights[inside], self.spans[inside], self.ids[inside])

    @property
    def mean(self) -> Floats:
        """The mean vector, of length 1."""
        mean = self.vectors.astype(np.float32).sum(0)
        return mean / max(float(np.linalg.norm(mean)), 1e-9)  # type: ignore[no-any-return]


class ReaderScorer:
    """A `Scorer` by the trained reader. Safe to use from several threads."""

    def __init__(self, folder: Path, before: Scorer, *, threads: int = 0) -> None:
        """
        Args:
            folder: as `argot.learn.reader` exports it.
            before: judges all passages, of which the reader then reads the best.
            threads: processor threads of one reading; 0: as many as there are processors.
        """
        from tokenizers import Tokenizer

        self.before = before
        self.card: dict[str, Any] = json.loads((folder / "card.json").read_text("utf-8"))
        self._session = _session(folder / "model.onnx", threads)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._remembered: OrderedDict[str, TokenVectors] = OrderedDict()
        self._remembering = threading.Lock()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well the query's tokens find their like in each text, in [0, 1]; those rare among the texts count most.

        For putting texts in order. Whether one answers is said by `answers`.
        """
        if not texts:
            return []
        asked, *others = self.read([query, *texts])
        best = np.array([_best_matches(asked, other) for other in others]).reshape(len(texts), len(asked.ids))
        held = np.array([np.isin(asked.ids, other.ids) for other in others]).reshape(best.shape).sum(0)
        rarity = np.log(1 + (len(texts) - held + 0.5) / (held + 0.5)) + 0.2
        weights = asked.weights[:, TASKS.index("relevance")] * rarity
        if not weights.sum():
            return [0.0] * len(texts)
        return [float(match) for match in np.clip(best @ weights / weights.sum(), 0, 1)]

    def answers(self, query: str, texts: Sequence[str]) -> list[float]:
        """The chance that each text answers the query, in [0, 1]."""
        return self._judged("relevance", query, texts)

    def support(self, statement: str, texts: Sequence[str]) -> list[float]:
        """The chance that each text bears the statement out, in [0, 1]."""
        return self._judged("support", statement, texts)

    def _judged(self, task: str, asked: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        first, *others = self.read([asked, *texts])
        if not len(first.ids):
            return [0.0] * len(texts)
        return [self._chance(task, _features(task, first, other)) if len(other.ids) else 0.0 for other in others]

    def select(self, query: str, text: str, spans: Sequence[tuple[int, int]]) -> list[float]:
        """The chance, in [0, 1], that each span [start, end) of the text belongs to the answer; 0 past what is read."""
        asked, passage = self.read([query, text])
        parts = [passage.part(start, end) for start, end in spans]
        return [self._chance("selection", _features("relevance", asked, one)) if len(one.ids) else 0.0 for one in parts]

    def _chance(self, name: str, features: Floats) -> float:
        reading = self.card["readings"][name]
        logit = float(np.dot(reading["weights"], features)) + float(reading["bias"])
        return 1 / (1 + float(np.exp(-np.clip(logit, -30, 30))))

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Each text as vectors, those read before from memory."""
        with self._remembering:
            found = {text: self._remembered[text] for text in texts if text in self._remembered}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        found.update(zip(missing, self._vectors(missing), strict=True))
        with self._remembering:
            for text in texts:
                self._remembered[text] = found[text]
                self._remembered.move_to_end(text)
            while len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        return [found[text] for text in texts]

    def _vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Texts of like length together, so that little is padded."""
        encodings = self._tokenizer.encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda number: len(encodings[number].ids))
        found: dict[int, TokenVectors] = {}
        for first in range(0, len(order), BATCH_TEXTS):
            rows = order[first : first + BATCH_TEXTS]
            longest = len(encodings[rows[-1]].ids)
            ids = np.zeros((len(rows), longest), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, number in enumerate(rows):
                length = len(encodings[number].ids)
                ids[row, :length], mask[row, :length] = encodings[number].ids, 1
            vectors, weights = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
            for row, number in enumerate(rows):
                # without the model's own first and last token
                own = slice(1, len(encodings[number].ids) - 1)
                spans = np.array(encodings[number].offsets[own], dtype=np.int64).reshape(-1, 2)
                found[number] = TokenVectors(
                    vectors[row, own].astype(np.float16), weights[row, own], spans, ids[row, own]
                )
        return [found[number] for number in range(len(texts))]


def _features(task: str, asked: TokenVectors, other: TokenVectors) -> Floats:
    """The asked tokens' best matches on average, those of the worst, and the cosine of the mean vectors."""
    best = _best_matches(asked, other)
    weights = asked.weights[:, TASKS.index(task)]
    shares = weights / weights.sum()
    worst = -np.log(max(float((shares * np.exp(-_WORST * best)).sum()), 1e-9)) / _WORST
    return np.array([(shares * best).sum(), worst, asked.mean @ other.mean], dtype=np.float32)


def _best_matches(asked: TokenVectors, other: TokenVectors) -> Floats:
    """The cosine of each asked token with its like in the other text, (tokens,); 0 where that is empty."""
    if not len(other.ids):
        return np.zeros(len(asked.ids), dtype=np.float32)
    cosines: Floats = asked.vectors.astype(np.float32) @ other.vectors.astype(np.float32).T
    return cosines.max(1)  # type: ignore[no-any-return]


def _session(path: Path, threads: int) -> Any:
    # As in `argot.corpus.embedding.embedder`: no look-up of the maker's telemetry host, no threads that spin.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
