"""BERTScore of an answer against its reference, by the token vectors of the local embedding model.

In Zhang et al. (2020), 3, each token of one text is matched with its most similar token of the other, by the cosine of
their contextual vectors, and precision, recall and F1 are means over tokens. Here the vectors are those of the last
layer of the model that comes with Argot (MiniLM, 8-bit: `tools/retrieval/token_vectors.py`), tokens have equal weight
(no idf), and nothing is rescaled by a baseline. The figures can therefore be compared with each other, but not with
those of another model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from argot.settings import Settings
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.scorer_choice import choose_scorer
from argot.tools.retrieval.token_vectors import Floats


@dataclass(frozen=True, slots=True)
class BertScore:
    """Means of cosines: at most 1, and rarely below 0."""

    precision: float
    recall: float
    f1: float


NOTHING = BertScore(0.0, 0.0, 0.0)
"""The score if one of the texts has no tokens."""


def compute_bert_scores(answers: Sequence[str], references: Sequence[str], settings: Settings) -> list[BertScore]:
    """Return the score of each answer against its reference. Texts are cut after the model's 256 tokens.

    Raises:
        InvalidSettings: the model cannot be loaded.
        ValueError: the lists differ in length.
    """
    scorer = choose_scorer(settings.replace(reranker="reader"))
    assert isinstance(scorer, ReaderScorer)
    found = []
    for answer, reference in zip(answers, references, strict=True):
        answer_vectors, reference_vectors = (
            _normalise(read.vectors) for read in scorer.read_texts([answer, reference])
        )
        found.append(match_greedily(answer_vectors @ reference_vectors.T))
    return found


def _normalise(vectors: Floats) -> Floats:
    """Scale the vectors to length 1: stored in 8 bits, they are slightly longer or shorter."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)  # type: ignore[no-any-return]


def match_greedily(similarities: ArrayLike) -> BertScore:
    """Return precision, recall and F1 from a matrix of cosines (tokens of the answer, tokens of the reference)."""
    matrix = np.asarray(similarities, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size:
        return NOTHING
    precision, recall = float(matrix.max(axis=1).mean()), float(matrix.max(axis=0).mean())
    total = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)
