"""How near the passages that use an expansion are to a question: what the documents know about a sense."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from argot.corpus.ingest import Corpus
from argot.corpus.store import CorpusStore
from argot.tools.words import content_stems
from argot.types import Principal, Sense

_NEAREST = 300  # passages of each list; further ones count as if they stood at _FAR
_FAR = 1000
_RANK_CONSTANT = 60  # of reciprocal rank fusion
_MOST_PASSAGES = 2000  # with one expansion
_TITLED_PASSAGES = 50
_MOST_ALIASES = 4
_SHORTEST_ALIAS = 5  # characters: shorter ones are abbreviations themselves and stand for every sense
_KEPT = 20_000

_Key = tuple[Hashable, ...]


class _Kept:
    """A cache of the newest entries. Made per store, and gone with it."""

    def __init__(self) -> None:
        self._entries: OrderedDict[_Key, Any] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key) -> Any | None:
        with self._lock:
            return self._entries.get(key)

    def put(self, key: _Key, value: Any) -> None:
        with self._lock:
            self._entries[key] = value
            if len(self._entries) > _KEPT:
                self._entries.popitem(last=False)


_kept: WeakKeyDictionary[CorpusStore, _Kept] = WeakKeyDictionary()


def _cache(store: CorpusStore) -> _Kept:
    return _kept.setdefault(store, _Kept())


def sense_documents(store: CorpusStore, principal: Principal, sense: Sense) -> tuple[str, ...]:
    """Ids of the passages this principal may read that hold the expansion or a longer alias; densest first.

    All passages near the top of a keyword search for it count too if it stands in their document's title: a section
    called "Metal fill" need not say so again.
    """
    aliases = [alias for alias in sense.aliases if len(alias) >= _SHORTEST_ALIAS][:_MOST_ALIASES]
    key = (store.version, principal.sees_all, principal.tokens, sense.expansion, *aliases)
    found: tuple[str, ...] | None = _cache(store).get(key)
    if found is None:
        lists = [store.passages_with(principal, phrase, _MOST_PASSAGES) for phrase in (sense.expansion, *aliases)]
        lists.append(_titled(store, principal, sense.expansion))
        found = tuple(dict.fromkeys(passage_id for passages in lists for passage_id in passages))
        _cache(store).put(key, found)
    return found


def _titled(store: CorpusStore, principal: Principal, phrase: str) -> list[str]:
    """Passages of documents with the phrase in their title, as far as a keyword search for it brings them up."""
    stems = content_stems(phrase)
    near = [passage_id for passage_id, _ in store.keyword_search(principal, phrase, _TITLED_PASSAGES)]
    found = store.passages(principal, near).items() if stems else ()
    return [passage_id for passage_id, (_, document) in found if _holds(content_stems(document.title), stems)]


def _holds(stems: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(list(stems[at : at + len(phrase)]) == list(phrase) for at in range(len(stems) - len(phrase) + 1))


class Nearness:
    """Distances from one question, without the terms in doubt, to passages and meanings."""

    def __init__(self, corpus: Corpus, principal: Principal, rest: str) -> None:
        """`rest` empty: the question says nothing besides the terms, and everything is equally far."""
        self._corpus = corpus
        self._principal = principal
        self._rest = rest
        self._near: dict[str, float] = {}
        self._meanings: dict[str, Any] = {}
        self._vector: Any = None

    def prepare(self, senses: Sequence[Sense]) -> None:
        """Embeds everything in one call, and searches once by meaning and once by words."""
        if not self._rest:
            return
        cache, fingerprint = _cache(self._corpus.store), self._corpus.embedder.fingerprint
        texts = list(dict.fromkeys(_meaning(sense) for sense in senses))
        self._meanings = {text: cache.get((fingerprint, text)) for text in texts}
        missing = [text for text in texts if self._meanings[text] is None]
        vectors = self._corpus.embedder.embed_queries([self._rest, *missing])
        self._vector = vectors[0]
        for text, vector in zip(missing, vectors[1:], strict=True):
            self._meanings[text] = vector
            cache.put((fingerprint, text), vector)
        semantic = self._corpus.semantic_search(self._principal, "passage", self._vector, _NEAREST)
        keyword = self._corpus.store.keyword_search(self._principal, self._rest, _NEAREST)
        ranks = [{found: rank for rank, (found, _) in enumerate(ranked)} for ranked in (semantic, keyword)]
        self._near = {found: sum(_closeness(r.get(found, _FAR)) for r in ranks) for found in {*ranks[0], *ranks[1]}}

    def of_passages(self, ids: Sequence[str]) -> list[float]:
        """The nearness of each passage, in [0, 2]: 2 is first both by meaning and by words."""
        far = 2 * _closeness(_FAR) if self._rest else 0.0
        return [self._near.get(passage_id, far) for passage_id in ids]

    def of_meaning(self, sense: Sense) -> float:
        """Cosine of the question with the sense's meaning."""
        return float(np.dot(self._vector, self._meanings[_meaning(sense)])) if self._rest else 0.0

    def best_similarities(self, queries: Sequence[str]) -> list[float]:
        """How near the nearest passage is to each query by meaning; all 0 without any document."""
        found = [
            self._corpus.semantic_search(self._principal, "passage", vector, 1)
            for vector in self._corpus.embedder.embed_queries(list(queries))
        ]
        return [ranked[0][1] if ranked else 0.0 for ranked in found]

    def keyword_shares(self, queries: Sequence[str]) -> list[float]:
        """The best keyword score of each query over the best of all, in [0, 1]."""
        if not self._rest:
            return [0.0] * len(queries)
        found = [self._corpus.store.keyword_search(self._principal, query, 1) for query in queries]
        scores = [ranked[0][1] if ranked else 0.0 for ranked in found]
        best = max(scores, default=0.0)
        return [value / best if best > 0 else 0.0 for value in scores]


def _closeness(rank: int) -> float:
    return _RANK_CONSTANT / (_RANK_CONSTANT + rank)


def _meaning(sense: Sense) -> str:
    return ". ".join(part for part in (sense.expansion, sense.description) if part)
