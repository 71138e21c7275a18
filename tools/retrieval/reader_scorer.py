"""The reader: a small model that scores which passage answers a question, and how similar two texts are.

Question and passage are read separately into a vector for each token (late interaction: Khattab and Zaharia, 2020);
each token of the question is matched with the most similar one of the passage. A passage is therefore read once for all
later questions. `reader_export` makes it from the embedder's encoder; `argot.learn.reranker` can tune it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.protocols import Scorer
from argot.tools.retrieval.token_vectors import Floats, TokenReader, TokenVectors

_WORST_SHARPNESS = 12.0
"""As in training (`argot.learn.reader.network`): the sharpness with which the worst tokens dominate."""
_STOP_WEIGHT = 0.5
"""Weight of a stop word or mark of the query beside other words: on the validation questions better than 1 and 0."""
_MIN_TEXT_COUNT = 12


class ReaderScorer:
    """A `Scorer` by the reader. Its model is loaded when it first reads. Safe to use from several threads."""

    def __init__(
        self, folder: Path, before: Scorer, *, threads: int = 0, prepare: Callable[[], object] | None = None
    ) -> None:
        """
        Args:
            folder: as `reader_export` or a training writes it.
            before: scores all passages, of which the reader then reads the best.
            threads: processor threads of one reading; 0: as many as there are processors.
            prepare: called before a folder of the cache is opened, to make it if necessary; None: it is in no cache.
        """
        self.before = before
        self.folder = folder
        self.threads = threads
        self._prepare = prepare
        self._reader: TokenReader | None = None
        self._loading = threading.Lock()

    def load(self) -> TokenReader:
        """Return the reader of texts, loaded at the first use."""
        with self._loading:
            if self._reader is None:
                if self._prepare is not None:
                    self._prepare()
                self._reader = TokenReader(self.folder, threads=self.threads, cached=self._prepare is not None)
            return self._reader

    @property
    def card(self) -> dict[str, Any]:
        """The model's card, which names its origin."""
        return self.load().card

    def read_texts(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return each text as vectors, cached ones from memory."""
        return self.load().read_texts(texts)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well the query's tokens match each text, in [0, 1]; tokens that are rare among the texts count
        most.

        Use it to rank texts. `answers` decides whether one answers.
        """
        return self.score_and_answers(query, texts)[0]

    def answers(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the chance that each text answers the query, in [0, 1]."""
        return self.score_and_answers(query, texts)[1]

    def score_and_answers(self, query: str, texts: Sequence[str]) -> tuple[list[float], list[float]]:
        """Return both at once: they share the slow part, the tokens' best matches."""
        if not texts:
            return [], []
        asked, *others = self.read_texts([query, *texts])
        best = _find_best_matches(asked, others)
        return _score_matches(query, asked, others, best), self._compute_chances(asked, others, best)

    def likeness(self, statement: str, texts: Sequence[str]) -> list[float]:
        """Return how similar the statement and each text are as a whole: the cosine of their mean vectors, in [-1,
        1].
        """
        if not texts:
            return []
        statement_mean, *others = self.load().means([statement, *texts])
        return [float(other @ statement_mean) for other in others]

    def _compute_chances(
        self, question_tokens: TokenVectors, others: Sequence[TokenVectors], best: Floats
    ) -> list[float]:
        """Return the card's chance that each text answers; 0 for an empty text or query."""
        if not len(question_tokens.ids):
            return [0.0] * len(others)
        reading = self.card["readings"]["relevance"]
        features = _compute_features(question_tokens, others, best)
        logits = np.clip(features @ np.array(reading["weights"]) + float(reading["bias"]), -30, 30)
        chances = 1 / (1 + np.exp(-logits))
        return [float(chance) if len(other.ids) else 0.0 for chance, other in zip(chances, others, strict=True)]


def _score_matches(
    query: str, question_tokens: TokenVectors, others: Sequence[TokenVectors], best: Floats
) -> list[float]:
    """Return the asked tokens' best matches in each other text, averaged by their rarity and weight."""
    # Not np.isin, which imports numpy.ma: a tenth of a second in the first question of a process.
    held = np.array([(question_tokens.ids[:, None] == other.ids).any(1) for other in others]).reshape(best.shape).sum(0)
    # Among few texts a word that one of them contains would seem common, and have less weight than one that none has.
    count = max(len(others), _MIN_TEXT_COUNT)
    rarity = np.log(1 + (count - held + 0.5) / (held + 0.5)) + 0.2
    weights = question_tokens.weights * rarity * _measure_substance(query, question_tokens)
    if not weights.sum():
        return [0.0] * len(others)
    return [float(match) for match in np.clip(best @ weights / weights.sum(), 0, 1)]


def _compute_features(question_tokens: TokenVectors, others: Sequence[TokenVectors], best: Floats) -> Floats:
    """Return, for each other text, the asked tokens' best matches on average, those of the worst, and the cosine of the
    mean vectors; (others, 3).
    """
    shares = question_tokens.weights / question_tokens.weights.sum()
    worst = -np.log(np.maximum(np.exp(-_WORST_SHARPNESS * best) @ shares, 1e-9)) / _WORST_SHARPNESS
    means = np.array([other.mean for other in others]).reshape(len(others), len(question_tokens.mean))
    return np.stack((best @ shares, worst, means @ question_tokens.mean), axis=1)


def _measure_substance(query: str, question_tokens: TokenVectors) -> Floats:
    """Return the weight that each token of the query has by itself, (tokens,)."""
    words = (query[start:end].casefold() for start, end in question_tokens.spans)
    return np.array([_STOP_WEIGHT if word in STOP_WORDS or not word.isalnum() else 1 for word in words], np.float32)


def _find_best_matches(question_tokens: TokenVectors, others: Sequence[TokenVectors]) -> Floats:
    """Return the cosine of each asked token with its best match in each other text, (others, tokens); 0 if that is
    empty.
    """
    best = np.zeros((len(others), len(question_tokens.ids)), dtype=np.float32)
    held = [place for place, other in enumerate(others) if len(other.ids)]
    if not held or not len(question_tokens.ids):
        return best
    # All in one product: waking the threads for many small ones takes longer than multiplying.
    scales = np.concatenate([others[place].scales for place in held])
    levels = np.concatenate([others[place].levels for place in held]).astype(np.float32)
    cosines = (levels @ question_tokens.vectors.T) * scales[:, None]
    starts = np.cumsum([0, *(len(others[place].ids) for place in held[:-1])])
    best[held] = np.maximum.reduceat(cosines, starts, axis=0)
    return best
