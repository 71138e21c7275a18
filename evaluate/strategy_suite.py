"""Choice of a search strategy (AccurateRAG 2.3): which searches, derived texts and weights find most, on questions that
are used for nothing but the choice.

Each list is retrieved once for each question. Strategies differ only in which lists are fused and in their weights, so
hundreds of strategies cost little more than one. The fused list is measured before re-ranking. A strategy counts as
better than the present one only if the paired interval of their difference excludes zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, get_args

from argot.corpus.corpus import Corpus
from argot.corpus.store.revision_reads import list_underived_kinds
from argot.measures import Difference, Measured, Qrels, bootstrap_interval, measure, paired_difference
from argot.profile import Profile, SwitchValue, change_profile, format_switch
from argot.tools.retrieval.hybrid_search import RankedList, WeightedQuery, fuse, search_lists
from argot.types import DerivedKind, Principal

Progress = Callable[[str, int, int], None]
Kinds = tuple[DerivedKind, ...]
Unit = Callable[[str], str]
"""A passage's id -> the id of what is judged: the passage itself or its document."""

SEMANTIC_WEIGHTS = (0.3, 0.6, 0.9, 1.3, 2.0)
"""Weights of the semantic search; the keyword search has weight 1."""
DERIVED_WEIGHTS = (0.1, 0.25, 0.5, 1.0)
"""Weights of derived texts; passages have weight 1."""
MIN_CLUSTERS = 6
"""The least number of clusters for a choice. A cluster is a set of questions that share gold passages. By chance
alone, five clusters all change in the same direction one time in 16 (2 * 0.5 ** 5), and the interval, which is
resampled from these five, excludes zero then.
"""


@dataclass(frozen=True, slots=True)
class Strategy:
    """The switches of a profile on which the fusion depends."""

    semantic: bool
    keyword: bool
    passages: bool
    kinds: Kinds
    weight_semantic: float
    weight_keyword: float
    weight_derived: float

    @classmethod
    def from_profile(cls, profile: Profile, held: Kinds) -> Strategy:
        kinds = tuple(kind for kind in held if kind in profile.derived_kinds) if profile.search_derived else ()
        return cls(
            profile.search_semantic,
            profile.search_keyword,
            profile.search_passages or not kinds,
            kinds,
            profile.weight_semantic,
            profile.weight_keyword,
            profile.weight_derived,
        )

    @property
    def switches(self) -> dict[str, SwitchValue]:
        """Return the switches under the names that they have in a profile."""
        switches: dict[str, SwitchValue] = {
            "search_semantic": self.semantic,
            "search_keyword": self.keyword,
            "search_passages": self.passages,
            "search_derived": bool(self.kinds),
            "weight_semantic": self.weight_semantic,
            "weight_keyword": self.weight_keyword,
            "weight_derived": self.weight_derived,
        }
        return {**switches, "derived_kinds": list(self.kinds)} if self.kinds else switches

    @property
    def name(self) -> str:
        if self.semantic and self.keyword:
            search = f"hybrid {format_switch(self.weight_semantic)}:{format_switch(self.weight_keyword)}"
        else:
            search = "semantic" if self.semantic else "keyword"
        if not self.kinds:
            return search
        texts = "+".join(self.kinds)
        return f"{search}, {texts} at {self.weight_derived}" if self.passages else f"{search}, {texts} alone"


@dataclass(frozen=True, slots=True)
class MeasuredStrategy:
    """One strategy. `to_best` and `to_present`: its mean minus the other's, paired by question."""

    name: str
    mean: float
    interval95: tuple[float, float]
    to_best: Difference
    to_present: Difference


@dataclass(frozen=True, slots=True)
class StrategyReport:
    """The outcome of a choice. `chosen` is the best strategy only if the interval shows that it is better than the
    present one; otherwise it is the present one.

    `clusters`: the number of sets of questions that share gold passages; with fewer than `MIN_CLUSTERS` the present
    strategy stays.
    """

    name: str
    questions: int
    clusters: int
    measure: str
    tried: int
    present: str
    best: str
    chosen: str
    better: bool
    switches: dict[str, SwitchValue]
    rows: list[MeasuredStrategy]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SearchSetting:
    """The corpus to search, its reader, and the present profile."""

    corpus: Corpus
    reader: Principal
    profile: Profile


def evaluate_strategies(  # noqa: PLR0917
    searched: SearchSetting,
    name: str,
    queries: Mapping[str, str],
    qrels: Qrels,
    unit: Unit,
    measured_by: str,
    progress: Progress,
) -> StrategyReport:
    """Measure every strategy that the documents allow, including the present one.

    Args:
        queries: the search queries by question id.
        qrels: the ids of what answers each question, as `unit` gives them.
        measured_by: the measure that decides, such as `ndcg@10`.
    """
    held = list_derived_kinds(searched.corpus)
    retrieved = _RankedLists(searched, {id_: queries[id_] for id_ in qrels}, progress)
    present = Strategy.from_profile(searched.profile, held)
    tried = list(dict.fromkeys([present, *list_strategies(held)]))
    measured: dict[Strategy, Measured] = {}
    for done, strategy in enumerate(tried, start=1):
        run = {id_: retrieved.rank_passages(strategy, id_, unit) for id_ in qrels}
        measured[strategy] = measure(run, qrels)
        progress("fusing", done, len(tried))
    return _report(name, measured, present, measured_by)


def list_derived_kinds(corpus: Corpus) -> Kinds:
    """Return the kinds of derived texts that the documents have."""
    missing = list_underived_kinds(corpus.store, get_args(DerivedKind))
    return tuple(kind for kind in get_args(DerivedKind) if kind not in missing)


def list_strategies(held: Kinds) -> Iterator[Strategy]:
    """Yield semantic, keyword and hybrid searches, each without derived texts, with each kind of them and with all
    kinds, both beside passages and alone.
    """
    searches = [
        (True, False, 1.0),
        (False, True, 1.0),
        *((True, True, weight) for weight in SEMANTIC_WEIGHTS),
    ]
    sets: list[Kinds] = [(kind,) for kind in held] + ([held] if len(held) > 1 else [])
    for semantic, keyword, weight in searches:
        yield Strategy(semantic, keyword, True, (), weight, 1.0, 0.25)
        for kinds in sets:
            for derived in DERIVED_WEIGHTS:
                yield Strategy(semantic, keyword, True, kinds, weight, 1.0, derived)
            yield Strategy(semantic, keyword, False, kinds, weight, 1.0, 1.0)


class _RankedLists:
    """The ranked lists of each question, each retrieved at its first use."""

    def __init__(self, searched: SearchSetting, queries: Mapping[str, str], progress: Progress) -> None:
        self._searched = searched
        self._queries = queries
        texts = list(queries.values())
        self._vectors = dict(zip(queries, searched.corpus.embedder.embed_queries(texts), strict=True)) if texts else {}
        self._lists = cache(self._search)
        for done, id_ in enumerate(queries, start=1):
            self._lists(id_, ())
            progress("retrieving", done, len(queries))

    def rank_passages(self, strategy: Strategy, id_: str, unit: Unit) -> list[str]:
        """Return the ids of the passages found, best first, each once."""
        lists = []
        if strategy.passages:
            lists += [(one, 1.0) for one in self._lists(id_, ())]
        if strategy.kinds:
            lists += [(one, strategy.weight_derived) for one in self._lists(id_, strategy.kinds)]
        weights = {
            "semantic": strategy.weight_semantic if strategy.semantic else 0.0,
            "keyword": strategy.weight_keyword if strategy.keyword else 0.0,
        }
        weighted = [replace(one, weight=share * weights[one.name.partition("_")[0]]) for one, share in lists]
        profile = self._searched.profile
        fused = fuse([one for one in weighted if one.weight > 0], profile.rrf_k, by_rank=profile.rank_fusion)
        best = sorted(fused, key=lambda passage: (-fused[passage].score, passage))
        return list(dict.fromkeys(unit(passage) for passage in best))

    def _search(self, id_: str, kinds: Kinds) -> tuple[RankedList, ...]:
        """Run both searches over passages, or over derived texts of these kinds."""
        changes: dict[str, object] = {"search_semantic": True, "search_keyword": True, "weight_derived": 1.0}
        changes |= {"weight_semantic": 1.0, "weight_keyword": 1.0}
        changes |= {"search_passages": not kinds, "search_derived": bool(kinds)}
        searched = self._searched
        profile = change_profile(searched.profile, {**changes, **({"derived_kinds": list(kinds)} if kinds else {})})
        query = WeightedQuery(self._queries[id_])
        return tuple(search_lists(searched.corpus, searched.reader, query, self._vectors[id_], profile, None))


def _report(name: str, measured: Mapping[Strategy, Measured], present: Strategy, by: str) -> StrategyReport:
    means = {strategy: found.mean[by] for strategy, found in measured.items()}
    # Among equally good strategies the present one comes first: a change would bring nothing.
    best = max(means, key=lambda strategy: (means[strategy], strategy == present))
    change = _compute_difference(measured, present, best, by)
    better = change.difference > 0 and change.excludes_zero and change.clusters >= MIN_CLUSTERS
    chosen = best if better else present
    shown = sorted(means, key=lambda strategy: -means[strategy])
    rows = [_build_row(measured, strategy, best, present, by) for strategy in _list_shown(shown, present)]
    return StrategyReport(
        name=name,
        questions=change.questions,
        clusters=change.clusters,
        measure=by,
        tried=len(measured),
        present=present.name,
        best=best.name,
        chosen=chosen.name,
        better=better,
        switches=chosen.switches,
        rows=rows,
    )


SHOWN = 15


def _list_shown(ranked: Sequence[Strategy], present: Strategy) -> list[Strategy]:
    """Return the best strategies, the present one, and each search alone, in order. The others add no information."""
    plain = {strategy for strategy in ranked if not strategy.kinds and not (strategy.semantic and strategy.keyword)}
    wanted = {*ranked[:SHOWN], present, *plain}
    return [strategy for strategy in ranked if strategy in wanted]


def _build_row(
    measured: Mapping[Strategy, Measured], strategy: Strategy, best: Strategy, present: Strategy, by: str
) -> MeasuredStrategy:
    found = measured[strategy]
    return MeasuredStrategy(
        name=strategy.name,
        mean=found.mean[by],
        interval95=bootstrap_interval(found.values(by), clusters=found.clusters),
        to_best=_compute_difference(measured, best, strategy, by),
        to_present=_compute_difference(measured, present, strategy, by),
    )


def _compute_difference(
    measured: Mapping[Strategy, Measured], first: Strategy, second: Strategy, by: str
) -> Difference:
    one, other = measured[first], measured[second]
    return paired_difference(one.values(by), other.values(by), one.clusters)
