"""Probability that a passage supports a statement, from shared words, objections and similarity.

The weights are a logistic regression on the validation half of AttributionBench (`bench/attribution.py --fit`), which
is split in two by a hash of the question. Words alone overlook a paraphrase, similarity alone a changed number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from argot.protocols import Scorer
from argot.tools.answering.objections import find_objection
from argot.tools.answering.support import support
from argot.tools.retrieval.reader_scorer import ReaderScorer


class Weights(NamedTuple):
    """Weights of the share of words, of an objection (0 or 1) and of the similarity (a cosine), and a constant."""

    words: float
    opposed: float
    likeness: float
    bias: float


WITH_READER = Weights(3.3, -0.67, 3.25, -3.62)
BY_WORDS = Weights(4.46, -0.63, 0.0, -2.11)


def score_claim(statement: str, texts: Sequence[str], scorer: Scorer) -> list[float]:
    """Return the probability, in [0, 1], that each text supports the statement; all Markdown.

    An objection only lowers it; `find_objection` decides about contradictions. `scorer`: if it is the reader, it also
    provides the similarity.
    """
    features = measure_claim_features(statement, texts, scorer)
    weights = np.array(WITH_READER if isinstance(scorer, ReaderScorer) else BY_WORDS)
    return [float(1 / (1 + np.exp(-logit))) for logit in features @ weights[:3] + weights[3]]


def measure_claim_features(
    statement: str, texts: Sequence[str], scorer: Scorer
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return, for each text, the share of words, whether it opposes the statement, and the similarity; (texts, 3)."""
    words = [support(statement, text) for text in texts]
    opposed = [bool(find_objection(statement, text)) for text in texts]
    alike = scorer.likeness(statement, texts) if isinstance(scorer, ReaderScorer) else [0.0] * len(texts)
    return np.array([words, opposed, alike], dtype=np.float64).T.reshape(len(texts), 3)
