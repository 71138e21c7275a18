"""Hybrid search: by meaning and by words, over passages and texts derived from them, fused into one list.

Weighted reciprocal rank fusion, w / (k + rank), with one change. Fusing a good and a poor list evenly is worse than the
good one alone, and which one is good differs from question to question. Each vote is therefore also weighted by how far
its passage scores above the rest of its own list (`measure_standing`): one passage is far above the rest if a search
finds the answer, and none is if it finds nothing. Weights were chosen on validation data
(bench/laboratory/retrieval.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, NamedTuple

from argot.profile import Profile
from argot.protocols import Vectors
from argot.tools.reading.passage_languages import is_in_other_language
from argot.tracing import trace_step
from argot.types import ALL_DOCUMENTS, DerivedText, Hit, Passage, Principal, QuestionScope, Triple

if TYPE_CHECKING:
    from argot.corpus.corpus import Corpus

ScoredIds = Sequence[tuple[str, float]]
"""(id, score) pairs, best first."""

MAX_SCANNED = 20_000
"""Derived texts retrieved to find those of certain kinds."""

FULL_STANDING_DEVIATIONS = 6.0
"""Standard deviations above the end of its list at which a passage's vote counts fully: about those of a clear
winner."""


OTHER_LANGUAGE_WEIGHT = 0.25
"""Weight of the votes of words for a passage in another language than the query, as a share of theirs otherwise. Only
names and abbreviations mean the same there. Chosen on translated questions (bench/laboratory/languages.md)."""


@dataclass(frozen=True, slots=True)
class WeightedQuery:
    """One wording of the question, and the weight of its votes."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class RankedList:
    """Result of one search for one query. `length` is how many it could have found, `floor` the score of the rest.

    `query`: the words that were searched; empty for a search by meaning.
    """

    name: str
    weight: float
    found: ScoredIds
    length: int = 0
    floor: float | None = None
    query: str = ""


class FusedScore(NamedTuple):
    """A passage's fused score in [0, 1], and its best rank in each of the lists that contain it."""

    score: float
    ranks: dict[str, int]


def hybrid_search(  # noqa: PLR0917
    corpus: Corpus,
    principal: Principal,
    queries: Sequence[WeightedQuery],
    profile: Profile,
    scope: QuestionScope = ALL_DOCUMENTS,
    documents: Sequence[str] = (),
) -> list[Hit]:
    """Return the passages this principal may read that fit the queries, best first; at most `profile.candidates` per
    list.

    Whatever the indexes contain, a passage is returned only if the store returns it for this principal.

    Args:
        scope: only documents in it are searched, and those of the conversation itself.
        documents: only these (ids) are searched, whatever the scope; none: all.
    """
    merged = _merge_queries(queries)
    by_meaning = profile.search_semantic and profile.weight_semantic > 0 and bool(merged)
    vectors = _embed_queries(corpus, merged, profile) if by_meaning else [None] * len(merged)
    searched = select_documents(corpus, principal, scope, documents)
    lists = [
        found
        for query, vector in zip(merged, vectors, strict=True)
        for found in _trace_search(corpus, principal, query, vector, profile, searched)
    ]
    # The store decides who may read a passage, whatever an index still contains.
    readable = corpus.store.passages(principal, list({id_: None for one in lists for id_, _ in one.found}))
    known = {id_: passage for id_, (passage, _) in readable.items()}
    fused = fuse(lists, profile.rrf_k, known, by_rank=profile.rank_fusion)
    best = sorted(fused, key=lambda id_: (-fused[id_].score, id_))
    hits = []
    for id_ in best:
        if id_ in readable:
            passage, document = readable[id_]
            if searched is None or document.id in searched:
                hits.append(Hit(passage, document, fused[id_].score, fused[id_].ranks))
    return hits


def _embed_queries(corpus: Corpus, queries: Sequence[WeightedQuery], profile: Profile) -> Vectors:
    embedder, texts = corpus.embedder, [query.text for query in queries]
    return embedder.embed_searches(texts) if profile.adapt_queries else embedder.embed_queries(texts)


def _trace_search(  # noqa: PLR0917
    corpus: Corpus,
    principal: Principal,
    query: WeightedQuery,
    vector: Vectors | None,
    profile: Profile,
    searched: frozenset[str] | None,
) -> list[RankedList]:
    with trace_step("search", "search") as followed:
        lists = list(search_lists(corpus, principal, query, vector, profile, searched))
        followed.noted |= {"argot.lists": len(lists), "argot.found": sum(len(one.found) for one in lists)}
        followed.said["argot.query"] = query.text
    return lists


def select_documents(
    corpus: Corpus, principal: Principal, scope: QuestionScope, documents: Sequence[str]
) -> frozenset[str] | None:
    """Return the only documents to search; None for all."""
    if documents:
        return frozenset(documents)
    return corpus.store.documents_within(principal, scope) if scope else None


def _merge_queries(queries: Iterable[WeightedQuery]) -> list[WeightedQuery]:
    """Return each wording once, with the sum of its weights, so that repeating a query cannot outvote the lists."""
    weights: dict[str, float] = {}
    for query in queries:
        text = query.text.strip()
        if text and query.weight > 0:
            weights[text] = weights.get(text, 0.0) + query.weight
    return [WeightedQuery(text, weight) for text, weight in weights.items()]


def search_lists(  # noqa: PLR0917
    corpus: Corpus,
    principal: Principal,
    query: WeightedQuery,
    vector: Vectors | None,
    profile: Profile,
    documents: frozenset[str] | None,
) -> Iterator[RankedList]:
    """Yield all lists for one query; by meaning only if there is a vector, of shape (dimensions,)."""
    if vector is None:
        yield from _search_by_words(corpus, principal, query, profile, documents)
        return
    by_meaning: Callable[[], list[RankedList]] = partial(
        _search_by_meaning, corpus, principal, query, vector, profile, documents
    )
    if corpus.is_shared:
        # Only these run in parallel: threads that search in this process wait for one another.
        by_meaning = _threads.submit(copy_context().run, by_meaning).result
    yield from _search_by_words(corpus, principal, query, profile, documents)
    yield from by_meaning()


_threads = ThreadPoolExecutor(64, "argot-meaning")
"""They only wait for other processes."""


def _search_by_words(
    corpus: Corpus, principal: Principal, query: WeightedQuery, profile: Profile, documents: frozenset[str] | None
) -> Iterator[RankedList]:
    store, limit, weight = corpus.store, profile.candidates, query.weight * profile.weight_keyword
    if not profile.search_keyword or weight <= 0:
        return
    if profile.search_passages:
        found = store.keyword_search(principal, query.text, limit, documents)
        yield RankedList("keyword", weight, found, limit, 0.0, query.text)
    if profile.search_derived and profile.weight_derived > 0:
        texts = _find_kinds(
            corpus,
            principal,
            profile,
            lambda wanted: store.search_derived_keywords(principal, query.text, wanted, documents),
        )
        found = _fold_derived(texts)
        yield RankedList("keyword_derived", weight * profile.weight_derived, found, limit, 0.0, query.text)


def _search_by_meaning(  # noqa: PLR0917
    corpus: Corpus,
    principal: Principal,
    query: WeightedQuery,
    vector: Vectors,
    profile: Profile,
    documents: frozenset[str] | None,
) -> list[RankedList]:
    limit, weight, lists = profile.candidates, query.weight * profile.weight_semantic, []
    found: ScoredIds = []
    if profile.search_passages:
        found = corpus.search_semantic(principal, "passage", vector, limit, documents)
        lists.append(RankedList("semantic", weight, found, limit))
    if profile.search_derived and profile.weight_derived > 0:
        texts = _find_kinds(
            corpus,
            principal,
            profile,
            lambda wanted: corpus.search_semantic(principal, "derived", vector, wanted, documents),
        )
        derived = _fold_derived(texts)
        if profile.one_index:
            return [RankedList("semantic", weight, _merge_by_score(found, derived)[:limit], limit)]
        lists.append(RankedList("semantic_derived", weight * profile.weight_derived, derived, limit))
    return lists


def _merge_by_score(*lists: ScoredIds) -> list[tuple[str, float]]:
    """Merge lists of passages with cosines into one, each passage at its best (RAIDD 2.2): a summary and the text
    itself are handles of the same chunk, and two of them count no more than one.
    """
    best: dict[str, float] = {}
    for id_, score in (one for found in lists for one in found):
        best[id_] = max(score, best.get(id_, score))
    return sorted(best.items(), key=lambda one: (-one[1], one[0]))


def _find_kinds(
    corpus: Corpus, principal: Principal, profile: Profile, find: Callable[[int], ScoredIds]
) -> list[tuple[DerivedText, float]]:
    """Return the best derived texts of the kinds the profile wants.

    The indexes know no kinds: they are asked for more until enough have the right kind.
    """
    wanted = limit = profile.candidates
    while True:
        found = find(wanted)
        texts = corpus.store.derived(principal, [id_ for id_, _ in found]) if found else {}
        of_kind = [
            (texts[id_], score) for id_, score in found if id_ in texts and texts[id_].kind in profile.derived_kinds
        ]
        if len(of_kind) >= limit or len(found) < wanted or wanted >= MAX_SCANNED:
            return of_kind[:limit]
        wanted *= 4  # few rounds for a rare kind, little wasted on a common one


def _fold_derived(found: Iterable[tuple[DerivedText, float]]) -> list[tuple[str, float]]:
    """Return the passages of the derived texts found (RAIDD 2.1), each at the position of its best derived text."""
    passages: dict[str, float] = {}
    for text, score in found:
        for passage in text.passage_ids:
            # `found` is in order, so the first text of a passage is its best.
            passages.setdefault(passage, score)
    return list(passages.items())


# -- fusion -----------------------------------------------------------------------------------------------------------


def fuse(
    lists: Sequence[RankedList], k: int, passages: Mapping[str, Passage] | None = None, *, by_rank: bool = False
) -> dict[str, FusedScore]:
    """Return each passage's sum over lists of weight * standing * (k + 1) / (k + rank), divided by the weights of the
    lists that found anything; 1 means first and far ahead everywhere.

    Args:
        passages: those found, by id, where their languages are to count.
        by_rank: every standing is 1, as in reciprocal rank fusion (AccurateRAG 2.3.3).
    """
    filled = [found for found in lists if found.found]
    found_ids = dict.fromkeys(id_ for one in filled for id_, _ in one.found)
    known = passages or {}
    # A list that found nothing must not lower all scores: `Profile.abstain_below` is one threshold for all questions.
    totals = {id_: sum(_weigh_list(one, known.get(id_)) for one in filled) for id_ in found_ids}
    scores: dict[str, float] = {}
    ranks: dict[str, dict[str, int]] = {}
    for one in filled:
        standings = {} if by_rank else measure_standing(one)
        for rank, (id_, _) in enumerate(one.found, start=1):
            vote = _weigh_list(one, known.get(id_)) * standings.get(id_, 1.0) * (k + 1) / (k + rank)
            scores[id_] = scores.get(id_, 0.0) + vote / totals[id_]
            best = ranks.setdefault(id_, {})
            best[one.name] = min(rank, best.get(one.name, rank))
    return {id_: FusedScore(min(1.0, score), ranks[id_]) for id_, score in scores.items()}


def _weigh_list(one: RankedList, passage: Passage | None) -> float:
    """Return the weight of a list's votes for a passage."""
    is_foreign = bool(one.query) and passage is not None and is_in_other_language(one.query, passage)
    return one.weight * OTHER_LANGUAGE_WEIGHT if is_foreign else one.weight


def measure_standing(one: RankedList) -> Mapping[str, float]:
    """Return how many standard deviations each item is above the end of its list, over `FULL_STANDING_DEVIATIONS`.

    A keyword list shorter than requested contains every passage with any of the words: the others scored `floor`, and
    count, so that the only passage with a rare word is far ahead. If all scores are equal, all count fully.
    """
    scores = [score for _, score in one.found]
    if one.floor is not None:
        scores += [one.floor] * (one.length - len(scores))
    # Standard deviations, since cosines and keyword scores have no common scale.
    spread = pstdev(scores, fmean(scores))
    if spread <= 1e-9:
        return dict.fromkeys((id_ for id_, _ in one.found), 1.0)
    end = min(scores)
    return {id_: (score - end) / spread / FULL_STANDING_DEVIATIONS for id_, score in one.found}


# -- triples ----------------------------------------------------------------------------------------------------------


def search_triples(corpus: Corpus, principal: Principal, query: str, profile: Profile, limit: int = 10) -> list[Triple]:
    """Return the triples nearest to the query by meaning and by words, best first (KaPQA 5, step 2)."""
    lists = []
    if profile.search_keyword:
        found = corpus.store.search_triple_keywords(principal, query, profile.candidates)
        lists.append(RankedList("keyword", profile.weight_keyword, found, profile.candidates, 0.0))
    if profile.search_semantic:
        vector = corpus.embedder.embed_queries([query])[0]
        found = corpus.search_semantic(principal, "triple", vector, profile.candidates)
        lists.append(RankedList("semantic", profile.weight_semantic, found, profile.candidates))
    fused = fuse(lists, profile.rrf_k, by_rank=profile.rank_fusion)
    # By id if scores are equal, whatever order the indexes have for them.
    best = sorted(fused, key=lambda id_: (-fused[id_].score, id_))[:limit]
    readable = corpus.store.triples(principal, best)
    return [readable[id_] for id_ in best if id_ in readable]
