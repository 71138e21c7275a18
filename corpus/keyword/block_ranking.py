"""BM25 over the blocks of `argot.corpus.keyword.posting_blocks`, bit for bit equal to FTS5's.

The same weights, k1, b and inverse frequencies, in the same order of operations. All rows that contain a word are
scored at once, as arrays: some nanoseconds each. `bm25()` of FTS5 takes microseconds, and reads all of each word twice.
"""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from argot.corpus.keyword.block_rows import BlockRows, RankedScope
from argot.corpus.keyword.index_terms import SearchPhrase
from argot.corpus.keyword.posting_blocks import BLOCK_ROWS, RowIndex
from argot.corpus.keyword.word_scores import (
    K1,
    Numbers,
    QueryVocabulary,
    Scores,
    VocabularyWord,
    compute_inverse_frequency,
    read_postings,
    read_vocabulary,
    tokenize_phrase,
)
from argot.databases import Connection

CHUNK_ROWS = 64
"""Sample of rows whose best represents all when the best scores are estimated."""
MIN_COMMON_ROWS = 50_000
"""A word in more rows is processed last: usually only the rows with rarer words matter by then."""
MAX_CANDIDATES = 20_000
FEW_OF = 4
"""If fewer than one in this many rows are eligible, the others are excluded before scoring."""
ROUNDING = 1e-9
"""More than sums of scores can differ by the order of their terms."""


class PhraseScores(Protocol):
    """Finds several consecutive words, in a way that depends on the engine."""

    def __call__(
        self,
        connection: Connection,
        index: RowIndex,
        phrase: SearchPhrase,
        tokens: Sequence[str],
        known: QueryVocabulary,
        /,
    ) -> tuple[Numbers, Scores]:
        """Return the rows (n) that contain the phrase, and its contribution to the score of each."""


def rank_rows(  # noqa: PLR0917
    connection: Connection,
    index: RowIndex,
    phrases: Sequence[SearchPhrase],
    scope: RankedScope,
    limit: int,
    of_phrase: PhraseScores,
    *,
    held: bool = False,
) -> list[tuple[str, float]]:
    """Return (id, score) of the rows that contain any of the phrases, best first.

    Args:
        held: a single word has to occur in headings or text, not only in the title.
    """
    sequences = {phrase: tokens for phrase in phrases if (tokens := tokenize_phrase(phrase))}
    known = read_vocabulary(connection, index, {token for tokens in sequences.values() for token in tokens})
    sequences = {one: tokens for one, tokens in sequences.items() if all(token in known.words for token in tokens)}
    if limit < 1 or not sequences:
        return []
    ranking = _Ranking(connection, index, known, scope, limit, held=held)
    for phrase, tokens in sequences.items():
        if len(tokens) > 1:
            ranking.add(phrase, *of_phrase(connection, index, phrase, tokens, known))
    ranking.add_words({phrase: known.words[tokens[0]] for phrase, tokens in sequences.items() if len(tokens) == 1})
    # In the order of the phrases, in which FTS5 adds them up: sums of floats depend on it.
    return _list_best(connection, index, ranking.rows, ranking.sum_scores(list(sequences)), scope, limit)


class _Ranking:
    """The scores of rows while words are added, the rarest first.

    Before a word of very many rows is added, a bound shows whether it, and those after it, can lift any row among the
    first that is not nearly there (MaxScore: Turtle and Flood 1995). From then on only such rows, the candidates, are
    processed.
    """

    def __init__(
        self,
        connection: Connection,
        index: RowIndex,
        vocabulary: QueryVocabulary,
        scope: RankedScope,
        limit: int,
        *,
        held: bool,
    ) -> None:
        self._connection = connection
        self._index = index
        self._known = vocabulary
        self._limit = limit
        self._held = held
        # With many documents, and with words counted here, the first rows are not enough.
        self._may_spare = not held and not scope.is_of_many
        self.rows = BlockRows.of(connection, index)
        self._allowed = self.rows.within(connection, index, scope)
        self._blocks: list[int] | None = None
        self._few = False
        if self._allowed is not None and not held:
            self._restrict(self._allowed)
        self._found: dict[SearchPhrase, tuple[Numbers, Scores]] = {}
        self._partial: Scores | None = None
        self._spared = False

    def add(self, phrase: SearchPhrase, numbers: Numbers, scores: Scores) -> None:
        places = self.rows.places(numbers)
        self._found[phrase] = places, scores
        if self._partial is not None:
            self._partial[places] += scores

    def add_words(self, words: Mapping[SearchPhrase, VocabularyWord]) -> None:
        common = {phrase: word for phrase, word in words.items() if self._may_spare and word.rows > MIN_COMMON_ROWS}
        rare = {phrase: word for phrase, word in words.items() if phrase not in common}
        self._add_read(rare)
        if common and len(words) + len(self._found) > 1:
            self._partial = self._sum(list(self._found), self.rows.size)
        left = sorted(common, key=lambda phrase: common[phrase].rows)
        while left:
            if self._partial is not None:
                self._look_for_candidates(sum(self._bound_score(common[phrase]) for phrase in left))
            now = left if self._spared else left[:1]
            self._add_read({phrase: common[phrase] for phrase in now})
            del left[: len(now)]

    def _bound_score(self, word: VocabularyWord) -> float:
        """Return a bound on a word's contribution to a row's score."""
        return compute_inverse_frequency(self._known.rows, word.rows) * (K1 + 1)

    def _look_for_candidates(self, rest: float) -> None:
        """Restrict the ranking to rows that can still be among the first, if they are few. `rest`: more than can be
        added to any row.
        """
        assert self._partial is not None
        # Ineligible rows do not count.
        partial = self._partial if self._allowed is None else self._partial * self._allowed
        tops = partial.reshape(-1, CHUNK_ROWS).max(axis=1)
        if len(tops) <= self._limit:
            return
        least = float(np.partition(tops, -self._limit)[-self._limit]) - rest - ROUNDING
        if least > 0 and np.count_nonzero(tops >= least) <= MAX_CANDIDATES:
            candidates = np.flatnonzero(partial >= least)
            if len(candidates) <= MAX_CANDIDATES:
                allowed = np.zeros(self.rows.size, np.bool_)
                allowed[candidates] = True
                self._restrict(allowed)
                self._partial, self._spared = None, True

    def _restrict(self, allowed: NDArray[np.bool_]) -> None:
        """Read only blocks with these rows from now on, if that pays, and score only these rows."""
        self._allowed = allowed
        some = np.flatnonzero(allowed.reshape(-1, BLOCK_ROWS).any(axis=1))
        self._blocks = self.rows.blocks[some].tolist() if len(some) < self.rows.blocks.size // 2 else None
        self._few = bool(FEW_OF * np.count_nonzero(allowed) < allowed.size)

    def _add_read(self, words: Mapping[SearchPhrase, VocabularyWord]) -> None:
        read = read_postings(self._connection, self._index, {word.id for word in words.values()}, self._blocks)
        wanted = self._is_allowed if self._few else None
        for phrase, word in words.items():
            self.add(phrase, *read[word.id].score(self._known, word.rows, held=self._held, wanted=wanted))

    def _is_allowed(self, numbers: Numbers) -> NDArray[np.bool_]:
        assert self._allowed is not None
        return self._allowed[self.rows.places(numbers)]

    def sum_scores(self, order: Sequence[SearchPhrase]) -> Scores:
        """Return the score of each row, 0 for ineligible ones and those that cannot be among the first."""
        if self._spared:
            assert self._allowed is not None
            for phrase, (places, scores) in self._found.items():
                some = self._allowed[places]
                self._found[phrase] = places[some], scores[some]
        summed = self._sum(order, self.rows.size)
        if self._allowed is not None and not self._spared:
            summed *= self._allowed
        return summed

    def _sum(self, order: Sequence[SearchPhrase], size: int) -> Scores:
        places, scores = zip(*(self._found[phrase] for phrase in order), strict=True) if order else ((), ())
        if not places:
            return np.zeros(size)
        # Without rows they would be integers.
        return np.bincount(np.concatenate(places), np.concatenate(scores), minlength=size).astype(
            np.float64, copy=False
        )


def count_held(connection: Connection, index: RowIndex, token: str, audiences: Sequence[int] | None) -> int:
    """Return how many rows contain a single word in headings or text."""
    known = read_vocabulary(connection, index, [token])
    if token not in known.words:
        return 0
    id_ = known.words[token].id
    numbers = read_postings(connection, index, [id_])[id_].list_held()
    return len(numbers) if audiences is None else count_readable(connection, index, numbers, audiences)


def count_readable(connection: Connection, index: RowIndex, numbers: Numbers, audiences: Sequence[int]) -> int:
    rows = BlockRows.of(connection, index)
    allowed = rows.within(connection, index, RankedScope(audiences))
    assert allowed is not None
    return int(np.count_nonzero(allowed[rows.places(numbers)]))


def _find_best(summed: Scores, limit: int) -> tuple[NDArray[np.intp], Scores]:
    """Return positions and scores of the best, those of equal score in the order of their positions."""
    tops = summed.reshape(-1, CHUNK_ROWS).max(axis=1)
    # As many rows are at least as good as the last of these, so that few others have to be checked.
    least = float(np.partition(tops, -limit)[-limit]) if len(tops) > limit else 0.0
    places = np.flatnonzero(summed >= least) if least > 0 else np.flatnonzero(summed > 0)
    order = np.lexsort((places, -summed[places]))[:limit]
    return places[order], summed[places[order]]


def _list_best(  # noqa: PLR0917
    connection: Connection, index: RowIndex, rows: BlockRows, summed: Scores, scope: RankedScope, limit: int
) -> list[tuple[str, float]]:
    """Return (id, score) of the best. With many documents the best rows are checked until enough belong to them."""
    wanted = 4 * limit if scope.is_of_many else limit
    while True:
        places, scores = _find_best(summed, wanted)
        numbers = rows.numbers(places).tolist()
        if not numbers:
            return []
        # Trusted numbers, written out: for a list in JSON PostgreSQL reads the whole table.
        listed = connection.execute(
            f"SELECT r.n, r.id, r.document FROM {index.rows} AS r WHERE r.n IN ({', '.join(map(str, numbers))})"
        )
        ids = {n: id_ for n, id_, document in listed if scope.documents is None or document in scope.documents}
        found = [(ids[n], score) for n, score in zip(numbers, scores.tolist(), strict=True) if n in ids]
        if len(found) >= limit or len(numbers) < wanted:
            return found[:limit]
        # As many as should be enough by the previous share, and half as many again.
        wanted = int(wanted * max(2.0, 1.5 * limit / max(1, len(found))))
