"""Evidence for a sense from the documents: how near the passages that use its expansion are to the question."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from argot.corpus.corpus import Corpus
from argot.corpus.embedding.cosine_scale import rescale_cosines
from argot.corpus.store.document_store import CorpusStore
from argot.tools.text.words import content_stems
from argot.types import Passage, Principal, Sense

_NEAREST_PASSAGES = 300  # passages of each list; further ones count as if they were at _FAR
_FAR_RANK = 1000
_RANK_CONSTANT = 60  # of reciprocal rank fusion
_MAX_PASSAGES = 2000  # with one expansion
_TITLED_PASSAGES = 50
_MAX_ALIASES = 4
_MAX_TERM_PASSAGES = 120  # passages that use a term
_MAX_TERM_CHARS = 40  # characters; a longer term is not looked for
_MIN_ALIAS_CHARS = 5  # characters: shorter ones are abbreviations themselves and fit every sense
_BARE_TERM_WEIGHT = 0.85  # weight of a keyword score: a rare short form matches itself anywhere, whatever the rest says

_KEPT_BYTES = 24_000_000
_ENTRY_BYTES = 1_500  # an entry without content: a vector, or the key with its senses
_ID_BYTES = 200  # of a passage's id with its figure, in a dictionary

T = TypeVar("T", bound=Collection[Any])


def cache_evidence(store: CorpusStore, principal: Principal, what: Hashable, work: Callable[[], T]) -> T:
    """Return the result of `work` about senses in documents, by ids of passages; cached for all readers with the same
    access.

    A result is kept until the next change of a document; while documents are added, that is a few seconds.

    Args:
        what: names the result; another computation needs another name.
    """
    read_key = store.cache_key(principal)
    cache, key = store.memo(read_key[0], _KEPT_BYTES), (read_key, what)
    found: T | None = cache.get(key)
    if found is None:
        found = work()
        # A document that changed meanwhile may be only partly in the result.
        if store.cache_key(principal) == read_key:
            cache.put(key, found, _ENTRY_BYTES + _ID_BYTES * len(found))
    return found


def find_sense_passages(store: CorpusStore, principal: Principal, sense: Sense) -> tuple[str, ...]:
    """Return ids of the passages this principal may read that contain the expansion or a longer alias; densest first.

    All passages near the top of a keyword search for it count too if their document's title contains it: a section
    called "Metal fill" need not repeat it.
    """
    aliases = [alias for alias in sense.aliases if len(alias) >= _MIN_ALIAS_CHARS][:_MAX_ALIASES]

    def find() -> tuple[str, ...]:
        lists = [
            store.find_phrase(principal, phrase, _MAX_PASSAGES) for phrase in filter(None, (sense.expansion, *aliases))
        ]
        lists.append(_find_titled(store, principal, sense.full_name))
        return tuple(dict.fromkeys(passage_id for passages in lists for passage_id in passages))

    return cache_evidence(store, principal, ("documents", sense.full_name, *aliases), find)


def find_term_passages(corpus: Corpus, principal: Principal, term: str) -> list[Passage]:
    """Return the passages that contain the term as a separate word, or its plural."""
    if len(term) > _MAX_TERM_CHARS:
        return []
    ids = corpus.store.find_phrase(principal, term, _MAX_TERM_PASSAGES)
    passages = corpus.store.passages(principal, ids)
    # A term in capitals is matched as written: "SAP" is not the sap of a tree.
    flags = 0 if any(map(str.isupper, term)) else re.IGNORECASE
    written = re.compile(rf"(?<!\w){re.escape(term)}(?:['’]?s)?(?!\w)", flags)
    found = [passages[passage_id][0] for passage_id in ids if passage_id in passages]
    return [passage for passage in found if written.search(f"{passage.heading}\n{passage.text}")]


def _find_titled(store: CorpusStore, principal: Principal, phrase: str) -> list[str]:
    """Return passages of documents with the phrase in their title that a keyword search for it returns."""
    stems = content_stems(phrase)
    near = [passage_id for passage_id, _ in store.keyword_search(principal, phrase, _TITLED_PASSAGES)]
    found = store.passages(principal, near).items() if stems else ()
    return [passage_id for passage_id, (_, document) in found if _has_phrase(content_stems(document.title), stems)]


def _has_phrase(stems: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(list(stems[at : at + len(phrase)]) == list(phrase) for at in range(len(stems) - len(phrase) + 1))


def measure_meaning_similarities(
    corpus: Corpus, principal: Principal, senses: Sequence[Sense]
) -> list[dict[str, float]]:
    """Return, for each sense, the cosines of its meaning with the nearest passages that this principal may read."""
    meanings = np.array(embed_meanings(corpus, senses))
    found = corpus.search_semantic_many(principal, "passage", meanings, _NEAREST_PASSAGES)
    embedder = corpus.embedder
    return [{id_: rescale_cosines(cosine, embedder) for id_, cosine in ranked} for ranked in found]


def embed_meanings(corpus: Corpus, senses: Sequence[Sense]) -> list[Any]:
    """Return one vector per sense, of its expansion and description. The embedder caches them."""
    return list(corpus.embedder.embed_queries([_join_meaning(sense) for sense in senses]))


class QuestionProximity:
    """Distances of one question, without its undecided terms, to passages and meanings."""

    def __init__(self, corpus: Corpus, principal: Principal, rest: str) -> None:
        """Searches once by meaning and once by words.

        `rest` empty: the question has no other words, and everything is equally far.
        """
        self._corpus = corpus
        self._principal = principal
        self._rest = rest
        self._near: dict[str, float] = {}
        self._vector: Any = None
        if rest:
            self._search()

    def _search(self) -> None:
        self._vector = self._corpus.embedder.embed_queries([self._rest])[0]
        semantic = self._corpus.search_semantic(self._principal, "passage", self._vector, _NEAREST_PASSAGES)
        keyword = self._corpus.store.keyword_search(self._principal, self._rest, _NEAREST_PASSAGES)
        ranks = [{found: rank for rank, (found, _) in enumerate(ranked)} for ranked in (semantic, keyword)]
        self._near = {
            found: sum(_compute_closeness(r.get(found, _FAR_RANK)) for r in ranks) for found in {*ranks[0], *ranks[1]}
        }

    def measure_passages(self, ids: Sequence[str]) -> list[float]:
        """Return the nearness of each passage, in [0, 2]: 2 is first both by meaning and by words."""
        far = 2 * _compute_closeness(_FAR_RANK) if self._rest else 0.0
        return [self._near.get(passage_id, far) for passage_id in ids]

    def measure_meanings(self, senses: Sequence[Sense]) -> list[float]:
        """Return the cosine of the question with each sense's meaning."""
        if not self._rest:
            return [0.0] * len(senses)
        embedder, vectors = self._corpus.embedder, embed_meanings(self._corpus, senses)
        return [rescale_cosines(float(np.dot(self._vector, vector)), embedder) for vector in vectors]

    def measure_similarities(self, queries: Sequence[str]) -> list[float]:
        """Return each query's similarity in meaning to its nearest passage; all 0 without any document."""
        vectors = self._corpus.embedder.embed_queries(list(queries))
        found = self._corpus.search_semantic_many(self._principal, "passage", vectors, 1)
        embedder = self._corpus.embedder
        return [rescale_cosines(ranked[0][1], embedder) if ranked else 0.0 for ranked in found]

    def measure_keyword_shares(
        self, queries: Sequence[str], typed: str = "", used: Mapping[str, Sequence[float]] | None = None
    ) -> list[float]:
        """Return the best keyword score of each query over the best of all, in [0, 1].

        Args:
            queries: one for each sense.
            typed: the question as typed; a passage that uses the bare term counts for each sense by its share.
            used: those passages, each with its shares in the order of `queries`.
        """
        if not self._rest:
            return [0.0] * len(queries)
        search = self._corpus.store.keyword_search
        found = [search(self._principal, query, 1) for query in queries]
        scores = [ranked[0][1] if ranked else 0.0 for ranked in found]
        for passage_id, score in search(self._principal, typed, _NEAREST_PASSAGES) if used else ():
            if used and passage_id in used:
                scores = [
                    max(best, score * _BARE_TERM_WEIGHT * n) for best, n in zip(scores, used[passage_id], strict=True)
                ]
        best = max(scores, default=0.0)
        return [value / best if best > 0 else 0.0 for value in scores]


def _compute_closeness(rank: int) -> float:
    return _RANK_CONSTANT / (_RANK_CONSTANT + rank)


def _join_meaning(sense: Sense) -> str:
    return ". ".join(part for part in (sense.expansion, sense.description) if part)
