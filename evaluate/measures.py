"""Retrieval measures by pytrec_eval, and the interval a bootstrap over questions puts around a mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

Qrels = Mapping[str, Mapping[str, int]]
"""question id -> {document id: relevance > 0}"""
Run = Mapping[str, Sequence[str]]
"""question id -> document ids, best first"""

HIT_DEPTHS = (1, 3, 5, 10)
MEASURES = ("ndcg@10", *(f"hit@{depth}" for depth in HIT_DEPTHS))


@dataclass(frozen=True, slots=True)
class Measured:
    """The mean of each measure, and each question's own values, from which intervals and comparisons come."""

    questions: int
    mean: dict[str, float]
    by_question: dict[str, dict[str, float]]


def measure(run: Run, qrels: Qrels) -> Measured:
    """nDCG@10 and hit@k of a run. A question without any result counts as zero; one without judgement is left out."""
    # Here, since it belongs to an extra: everything but measuring works without it.
    import pytrec_eval

    # pytrec_eval leaves out a question without results; the mean must not.
    judged = {question: dict(judgement) for question, judgement in qrels.items() if judgement}
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10", "success." + ",".join(map(str, HIT_DEPTHS))})
    raw = evaluator.evaluate({question: _as_scores(run.get(question, ())) for question in judged})
    by_question = {question: _named(raw.get(question, {})) for question in judged}
    means = {name: fmean(values[name] for values in by_question.values()) if judged else 0.0 for name in MEASURES}
    return Measured(len(judged), means, by_question)


def bootstrap_interval(values: Sequence[float], *, rounds: int = 2000, seed: int = 7) -> tuple[float, float]:
    """The 95 % interval of the mean when the questions are drawn again with replacement."""
    if not values:
        return 0.0, 0.0
    sample = np.asarray(values, dtype=np.float64)
    # A fixed seed: the same run has the same interval.
    draws = np.random.default_rng(seed).integers(0, len(sample), size=(rounds, len(sample)))
    low, high = np.quantile(sample[draws].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


def share_of_gap_closed(floor: float, reached: float, ceiling: float) -> float | None:
    """How much of the distance from floor to ceiling was covered; None where there is no distance."""
    return (reached - floor) / (ceiling - floor) if ceiling > floor else None


def _as_scores(ranked: Sequence[str]) -> dict[str, float]:
    # Several passages of one document count once, at the best rank.
    unique = dict.fromkeys(ranked)
    # pytrec_eval sorts by score and breaks ties by name: each rank needs a score of its own.
    return {document: float(len(unique) - rank) for rank, document in enumerate(unique)}


def _named(raw: Mapping[str, float]) -> dict[str, float]:
    hits = {f"hit@{depth}": float(raw.get(f"success_{depth}", 0.0)) for depth in HIT_DEPTHS}
    return {"ndcg@10": float(raw.get("ndcg_cut_10", 0.0)), **hits}
