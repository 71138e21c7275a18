"""Retrieval measures by pytrec_eval, and confidence intervals from a bootstrap over questions.

Every interval of Argot is computed here: the percentile bootstrap (Efron, 1979), of a mean, of a difference between two
systems on the same questions, or of any other statistic. Questions that share a gold passage are drawn together, since
they are not independent of each other (cluster bootstrap: Field and Welsh, 2007).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

Qrels = Mapping[str, Mapping[str, int]]
"""question id -> {document id: relevance > 0}"""
Run = Mapping[str, Sequence[str]]
"""question id -> document ids, best first"""

HIT_DEPTHS = (1, 3, 5, 10)
MEASURES = ("ndcg@10", *(f"hit@{depth}" for depth in HIT_DEPTHS))
"""The measures of the tables; hit@k is what *Trustworthy Answers* calls Success@k."""
DEPTHS = (1, 3, 5, 10, 20)
_BY_DEPTH = {"ndcg": "ndcg_cut", "map": "map_cut", "hit": "success", "recall": "recall"}
"""Argot's names to pytrec_eval's: the measures at each depth."""
ALL_MEASURES = ("mrr", *(f"{name}@{depth}" for name in _BY_DEPTH for depth in DEPTHS))
Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Measured:
    """The mean of each measure, and each question's own values, for intervals and comparisons.

    `clusters`: for each question, in the order of `by_question`, the cluster with which it is drawn.
    """

    questions: int
    mean: dict[str, float]
    by_question: dict[str, dict[str, float]]
    clusters: Sequence[int]

    def values(self, name: str) -> list[float]:
        """Return each question's value of one measure."""
        return [values[name] for values in self.by_question.values()]

    def interval(self, name: str) -> tuple[float, float]:
        """Return the 95 % interval of the mean of one measure."""
        return bootstrap_interval(self.values(name), clusters=self.clusters)

    def compare(self, other: Measured) -> dict[str, Difference]:
        """Return, by measure, the other run of the same questions minus this one."""
        return {name: paired_difference(self.values(name), other.values(name), self.clusters) for name in self.mean}


def measure(run: Run, qrels: Qrels) -> Measured:
    """Return nDCG@k, MAP@k, hit@k and recall@k at `DEPTHS`, and MRR, of a run: `ALL_MEASURES`.

    A question without any result counts as zero; one without judgement is left out. MAP@k divides by the number of all
    relevant documents, as trec_eval does. MRR is over the whole result list.
    """
    # Imported here, since it belongs to an extra: everything except measuring works without it.
    import pytrec_eval

    # pytrec_eval leaves out a question without results; the mean must not.
    judged = {question: dict(judgement) for question, judgement in qrels.items() if judgement}
    depths = ",".join(map(str, DEPTHS))
    evaluator = pytrec_eval.RelevanceEvaluator(
        judged, {"recip_rank", *(f"{one}.{depths}" for one in _BY_DEPTH.values())}
    )
    raw = evaluator.evaluate({question: _as_scores(run.get(question, ())) for question in judged})
    by_question = {question: _name_measures(raw.get(question, {})) for question in judged}
    means = {name: fmean(values[name] for values in by_question.values()) if judged else 0.0 for name in ALL_MEASURES}
    return Measured(len(judged), means, by_question, gold_clusters(list(judged.values())))


# -- intervals --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """The second system minus the first, over pairs of values for the same questions, with its 95 % interval."""

    difference: float
    interval95: tuple[float, float]
    questions: int
    clusters: int

    @property
    def excludes_zero(self) -> bool:
        low, high = self.interval95
        return low > 0 or high < 0


def paired_difference(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> Difference:
    """Return the mean of `second` - `first`, question by question, and its interval by the paired bootstrap.

    Args:
        clusters: the cluster of each question; None: each question alone.

    Raises:
        ValueError: the lists differ in length.
    """
    change = [ours - theirs for theirs, ours in zip(first, second, strict=True)]
    interval = bootstrap_interval(change, clusters=clusters)
    count = len(change) if clusters is None else len(set(clusters))
    return Difference(fmean(change) if change else 0.0, interval, len(change), count)


def bootstrap_interval(
    values: Sequence[float], *, clusters: Sequence[Hashable] | None = None, rounds: int = 2000, seed: int = 7
) -> tuple[float, float]:
    """Return the 95 % interval of the mean when the questions, or their clusters, are resampled with replacement."""
    members = list(_members(clusters or range(len(values))).values())
    if not members:
        return 0.0, 0.0
    sample = np.asarray(values, dtype=np.float64)
    # A mean needs only sums: rows need not be drawn individually.
    sums = np.asarray([sample[one].sum() for one in members])
    sizes = np.asarray([len(one) for one in members])
    means = [sums[draw].sum() / sizes[draw].sum() for draw in _draws(len(members), rounds, seed)]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def bootstrap(
    statistic: Callable[[Positions], float | None],
    clusters: Sequence[Hashable],
    *,
    rounds: int = 2000,
    seed: int = 7,
) -> tuple[float, float] | None:
    """Return the 95 % interval of a statistic of rows, drawn cluster by cluster; None without rows or values.

    Args:
        statistic: of the positions of the rows drawn; None if it is undefined for them (left out).
        clusters: the cluster of each row. Rows of equal cluster are drawn together.
    """
    drawn = (statistic(rows) for rows in resamples(clusters, rounds=rounds, seed=seed))
    values = [value for value in drawn if value is not None]
    if not values:
        return None
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def resamples(clusters: Sequence[Hashable], *, rounds: int, seed: int) -> Iterator[Positions]:
    """Yield for each round the positions of the rows of as many clusters as there are, drawn with replacement."""
    rows = [np.asarray(one, dtype=np.int64) for one in _members(clusters).values()]
    if not rows:
        return
    alone = np.concatenate(rows) if len(rows) == len(clusters) else None
    for draw in _draws(len(rows), rounds, seed):
        yield alone[draw] if alone is not None else np.concatenate([rows[one] for one in draw])


def _members(clusters: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    """Return the positions of each cluster's rows."""
    members: dict[Hashable, list[int]] = {}
    for position, cluster in enumerate(clusters):
        members.setdefault(cluster, []).append(position)
    return members


def _draws(clusters: int, rounds: int, seed: int) -> Positions:
    """Return (rounds, clusters) clusters drawn. A fixed seed: the same run has the same interval."""
    return np.random.default_rng(seed).integers(0, clusters, size=(rounds, clusters))


def gold_clusters(gold: Sequence[Collection[str]]) -> list[int]:
    """Return the cluster of each question: those that share a gold passage, directly or through others, have the same
    one.

    Args:
        gold: the gold passages of each question; one without any is a cluster of its own.
    """
    parent = list(range(len(gold)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[str, int] = {}
    for place, passages in enumerate(gold):
        for passage in passages:
            parent[root(place)] = root(first.setdefault(passage, place))
    return [root(place) for place in range(len(gold))]


def share_of_gap_closed(floor: float, reached: float, ceiling: float) -> float | None:
    """Return how much of the distance from floor to ceiling was covered; None if there is no distance."""
    return (reached - floor) / (ceiling - floor) if ceiling > floor else None


def _as_scores(ranked: Sequence[str]) -> dict[str, float]:
    # Several passages of one document count once, at the best rank.
    unique = dict.fromkeys(ranked)
    # pytrec_eval sorts by score and breaks ties by name: each rank needs a score of its own.
    return {document: float(len(unique) - rank) for rank, document in enumerate(unique)}


def _name_measures(raw: Mapping[str, float]) -> dict[str, float]:
    at_depths = {
        f"{name}@{depth}": float(raw.get(f"{theirs}_{depth}", 0.0))
        for name, theirs in _BY_DEPTH.items()
        for depth in DEPTHS
    }
    return {"mrr": float(raw.get("recip_rank", 0.0)), **at_depths}
