"""BM25 over the blocks of `argot.corpus.keyword.posting_blocks`, to the last bit as FTS5 reckons it.

The same weights, k1, b and inverse frequencies, in the same order of operations. All rows that hold a word are scored
at once, as arrays: some nanoseconds each. `bm25()` of FTS5 takes microseconds, and reads all of each word twice.
"""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from argot.corpus.keyword.index_terms import SearchPhrase
from argot.corpus.keyword.posting_blocks import (
    AUDIENCE,
    BLOCK_BITS,
    IN_BLOCK,
    MOST_IN_TITLE,
    POSTING,
    TITLE_BITS,
    RowIndex,
    identifier_of,
)
from argot.corpus.keyword.word_tokens import phrase_tokens
from argot.databases import Connection, bytes_read

K1 = 1.2
B = 0.75
LEAST_IDF = 1e-6
"""FTS5's, for a token that stands in half of all rows or more."""
COMPARED = 64
"""Rows of which the best stands for all where it is looked for how good the best are."""
FEW_DOCUMENTS = 1_000

Numbers: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Word:
    """A token of the vocabulary, and in how many rows it stands."""

    id: int
    rows: int


@dataclass(frozen=True, slots=True)
class Known:
    """What an index knows of the words of a question. `rows`: how many are indexed; `mean`: tokens of a row."""

    rows: int
    mean: float
    words: dict[str, Word]


class PhraseScores(Protocol):
    """Finds several words that follow each other, which the engines do each in its way."""

    def __call__(
        self, connection: Connection, index: RowIndex, phrase: SearchPhrase, tokens: Sequence[str], known: Known, /
    ) -> tuple[Numbers, Scores]:
        """The rows (n) that hold the phrase, and what it adds to the score of each."""


@dataclass(frozen=True, slots=True)
class RankedScope:
    """`audiences` and `documents` as `KeywordIndex.search_keywords` has them."""

    audiences: Sequence[int] | None
    documents: Collection[str] | None = None

    @property
    def is_of_many(self) -> bool:
        """Documents, so that reading the numbers of all their rows costs more than looking at the best rows."""
        return self.documents is not None and len(self.documents) > FEW_DOCUMENTS


# -- ranking ---------------------------------------------------------------------------------------------------------


def ranked_rows(  # noqa: PLR0917
    connection: Connection,
    index: RowIndex,
    phrases: Sequence[SearchPhrase],
    scope: RankedScope,
    limit: int,
    of_phrase: PhraseScores,
    *,
    held: bool = False,
) -> list[tuple[str, float]]:
    """(id, score) of the rows that hold any of the phrases, best first.

    Args:
        held: a single word has to stand in headings or text, not only in the title.
    """
    sequences = {phrase: tokens for phrase in phrases if (tokens := tokens_of_phrase(phrase))}
    known = known_words(connection, index, {token for tokens in sequences.values() for token in tokens})
    sequences = {one: tokens for one, tokens in sequences.items() if all(token in known.words for token in tokens)}
    if limit < 1 or not sequences:
        return []
    singles = {known.words[tokens[0]].id for tokens in sequences.values() if len(tokens) == 1}
    postings = read_postings(connection, index, singles)
    rows = BlockRows.of(connection, index)
    places, scores = [], []
    # In the order of the phrases, in which FTS5 adds them up: sums of floats depend on it.
    for phrase, tokens in sequences.items():
        if len(tokens) == 1:
            found, added = postings[known.words[tokens[0]].id].scored(known, known.words[tokens[0]].rows, held=held)
        else:
            found, added = of_phrase(connection, index, phrase, tokens, known)
        places.append(rows.places(found))
        scores.append(added)
    summed = np.bincount(np.concatenate(places), np.concatenate(scores), minlength=rows.size).astype(np.float64)
    allowed = rows.within(connection, index, scope)
    if allowed is not None:
        summed *= allowed
    return _first(connection, index, rows, summed, scope, limit)


def count_held(connection: Connection, index: RowIndex, token: str, audiences: Sequence[int] | None) -> int:
    """How many rows hold a single word in headings or text."""
    known = known_words(connection, index, [token])
    if token not in known.words:
        return 0
    id_ = known.words[token].id
    numbers = read_postings(connection, index, [id_])[id_].held_numbers()
    return len(numbers) if audiences is None else count_readable(connection, index, numbers, audiences)


def count_readable(connection: Connection, index: RowIndex, numbers: Numbers, audiences: Sequence[int]) -> int:
    rows = BlockRows.of(connection, index)
    allowed = rows.within(connection, index, RankedScope(audiences))
    assert allowed is not None
    return int(np.count_nonzero(allowed[rows.places(numbers)]))


def _best(summed: Scores, limit: int) -> tuple[NDArray[np.intp], Scores]:
    """Places and scores of the best, those of equal score in the order of their places."""
    tops = summed.reshape(-1, COMPARED).max(axis=1)
    # As many rows are at least as good as the last of these: few others have to be looked at.
    least = float(np.partition(tops, -limit)[-limit]) if len(tops) > limit else 0.0
    places = np.flatnonzero(summed >= least) if least > 0 else np.flatnonzero(summed > 0)
    order = np.lexsort((places, -summed[places]))[:limit]
    return places[order], summed[places[order]]


def _first(  # noqa: PLR0917
    connection: Connection, index: RowIndex, rows: BlockRows, summed: Scores, scope: RankedScope, limit: int
) -> list[tuple[str, float]]:
    """(id, score) of the best. Of many documents the best rows are looked through, until enough are in them."""
    wanted = 4 * limit if scope.is_of_many else limit
    while True:
        places, scores = _best(summed, wanted)
        numbers = rows.numbers(places).tolist()
        listed = connection.execute(
            f"SELECT r.n, r.id, r.document FROM {index.rows} AS r "
            "WHERE r.n IN (SELECT CAST(value AS INTEGER) FROM json_each(?))",
            (json.dumps(numbers),),
        )
        ids = {n: id_ for n, id_, document in listed if scope.documents is None or document in scope.documents}
        found = [(ids[n], score) for n, score in zip(numbers, scores.tolist(), strict=True) if n in ids]
        if len(found) >= limit or len(numbers) < wanted:
            return found[:limit]
        wanted *= 4


# -- words -----------------------------------------------------------------------------------------------------------


def tokens_of_phrase(phrase: SearchPhrase) -> tuple[str, ...]:
    tokens = phrase_tokens(phrase.words)
    return tuple(map(identifier_of, tokens)) if phrase.is_identifier else tokens


def known_words(connection: Connection, index: RowIndex, tokens: Collection[str]) -> Known:
    found = connection.execute(
        "SELECT t.rows, t.tokens, v.token, v.id, v.rows FROM keyword_totals AS t LEFT JOIN "
        f"{index.name}_vocabulary AS v ON v.token IN (SELECT value FROM json_each(?)) WHERE t.name = ?",
        (json.dumps(list(tokens)), index.name),
    ).fetchall()
    if not found or not found[0][0]:
        return Known(0, 1.0, {})
    words = {row[2]: Word(row[3], row[4]) for row in found if row[2] is not None}
    return Known(found[0][0], found[0][1] / found[0][0], words)


def inverse_frequency(rows: int, frequency: int) -> float:
    found = math.log((rows - frequency + 0.5) / (frequency + 0.5))
    return found if found > 0 else LEAST_IDF


def bm25(weight: float, frequency: NDArray[Any], length: NDArray[Any], mean: float) -> Scores:
    """What a word of this inverse document frequency adds to each row's score."""
    # These operations in this order: other ones differ from FTS5 in the last bit.
    many, norm = frequency.astype(np.float64), length.astype(np.float64)
    norm *= B
    norm /= mean
    norm += 1 - B
    norm *= K1
    norm += many
    many *= K1 + 1.0
    many /= norm
    many *= weight
    return many


@dataclass(slots=True)
class Postings:
    """Of one word. `blocks`: the block of each of the values in `read`."""

    blocks: list[int] = field(default_factory=list)
    read: list[bytes] = field(default_factory=list)

    def arrays(self) -> tuple[Numbers, NDArray[Any], NDArray[Any]]:
        """The rows (n), their counts and lengths."""
        joined = np.frombuffer(b"".join(self.read), POSTING)
        begins = np.repeat(
            np.array(self.blocks, np.int64) << BLOCK_BITS, [len(one) // POSTING.itemsize for one in self.read]
        )
        return begins + joined["row"], joined["counts"], joined["length"]

    def scored(self, known: Known, rows: int, *, held: bool) -> tuple[Numbers, Scores]:
        numbers, counts, length = self.arrays()
        frequency = counts >> TITLE_BITS
        if held:
            some = frequency > 0
            numbers, frequency, length, rows = numbers[some], frequency[some], length[some], int(some.sum())
        else:
            frequency = frequency + 2 * (counts & MOST_IN_TITLE)
        return numbers, bm25(inverse_frequency(known.rows, rows), frequency, length, known.mean)

    def held_numbers(self) -> Numbers:
        numbers, counts, _ = self.arrays()
        return numbers[counts >> TITLE_BITS > 0]


def read_postings(connection: Connection, index: RowIndex, words: Collection[int]) -> defaultdict[int, Postings]:
    found: defaultdict[int, Postings] = defaultdict(Postings)
    # Block by block, in the order of the key. CROSS JOIN keeps SQLite from another one.
    if not words:
        return found
    for block, word, postings in bytes_read(
        connection,
        f"SELECT p.block, p.word, p.postings FROM {index.name}_readers AS b CROSS JOIN {index.name}_blocks AS p "
        f"WHERE p.block = b.block AND p.word IN ({', '.join(map(str, sorted(words)))})",
    ):
        found[word].blocks.append(block)
        found[word].read.append(postings)
    return found


# -- rows ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BlockRows:
    """The blocks there are, in their order: each row has a place in an array of `size`."""

    blocks: Numbers

    @classmethod
    def of(cls, connection: Connection, index: RowIndex) -> BlockRows:
        found = connection.execute(f"SELECT block FROM {index.name}_readers ORDER BY block")
        return cls(np.array([block for (block,) in found], np.int64))

    @property
    def size(self) -> int:
        return self.blocks.size * IN_BLOCK

    def places(self, numbers: Numbers) -> Numbers:
        blocks = numbers >> BLOCK_BITS
        # Mostly none is missing, and then a block's number is its place.
        at = blocks if self._is_whole() else np.searchsorted(self.blocks, blocks)
        found: Numbers = (at << BLOCK_BITS) + (numbers & IN_BLOCK - 1)
        return found

    def numbers(self, places: NDArray[np.intp]) -> Numbers:
        found: Numbers = (self.blocks[places >> BLOCK_BITS] << BLOCK_BITS) + (places & IN_BLOCK - 1)
        return found

    def within(self, connection: Connection, index: RowIndex, scope: RankedScope) -> NDArray[np.bool_] | None:
        """Whether each row may be found; None: all may."""
        allowed = None
        if scope.audiences is not None:
            allowed = self._readable(connection, index, scope.audiences)
        if scope.documents is not None and not scope.is_of_many:
            some = self._of_documents(connection, index, scope.documents)
            allowed = some if allowed is None else allowed & some
        return allowed

    def _readable(self, connection: Connection, index: RowIndex, audiences: Sequence[int]) -> NDArray[np.bool_]:
        found = bytes_read(connection, f"SELECT audiences FROM {index.name}_readers ORDER BY block")
        numbers = np.frombuffer(b"".join(row for (row,) in found), AUDIENCE)
        known = np.zeros(max([*audiences, int(numbers.max(initial=0))]) + 1, np.bool_)
        known[list(audiences)] = True
        allowed: NDArray[np.bool_] = known[numbers]
        return allowed

    def _of_documents(self, connection: Connection, index: RowIndex, documents: Collection[str]) -> NDArray[np.bool_]:
        allowed = np.zeros(self.size, np.bool_)
        found = connection.execute(
            f"SELECT r.n FROM {index.rows} AS r WHERE r.document IN (SELECT value FROM json_each(?))",
            (json.dumps(list(documents)),),
        )
        allowed[self.places(np.array([n for (n,) in found], np.int64))] = True
        return allowed

    def _is_whole(self) -> bool:
        return not self.blocks.size or int(self.blocks[-1]) == self.blocks.size - 1
