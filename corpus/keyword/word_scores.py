"""The words of an index: its vocabulary, their postings, and the BM25 score of each row that contains one."""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from argot.corpus.keyword.index_terms import SearchPhrase
from argot.corpus.keyword.posting_blocks import (
    BLOCK_BITS,
    MAX_TITLE_COUNT,
    POSTING,
    TITLE_BITS,
    RowIndex,
    mark_identifier,
)
from argot.corpus.keyword.word_tokens import tokenize_words
from argot.databases import Connection, read_binary

K1 = 1.2
B = 0.75
MIN_IDF = 1e-6
"""FTS5's value for a token in half of all rows or more."""

Numbers: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VocabularyWord:
    """A token of the vocabulary, and the number of rows that contain it."""

    id: int
    rows: int


@dataclass(frozen=True, slots=True)
class QueryVocabulary:
    """An index's entries for the words of a question. `rows`: how many are indexed; `mean`: tokens of a row."""

    rows: int
    mean: float
    words: dict[str, VocabularyWord]


def tokenize_phrase(phrase: SearchPhrase) -> tuple[str, ...]:
    tokens = tokenize_words(phrase.words)
    return tuple(map(mark_identifier, tokens)) if phrase.is_identifier else tokens


def read_vocabulary(connection: Connection, index: RowIndex, tokens: Collection[str]) -> QueryVocabulary:
    found = connection.execute(
        "SELECT t.rows, t.tokens, v.token, v.id, v.rows FROM keyword_totals AS t LEFT JOIN "
        f"{index.name}_vocabulary AS v ON v.token IN (SELECT value FROM json_each(?)) WHERE t.name = ?",
        (json.dumps(list(tokens)), index.name),
    ).fetchall()
    if not found or not found[0][0]:
        return QueryVocabulary(0, 1.0, {})
    words = {row[2]: VocabularyWord(row[3], row[4]) for row in found if row[2] is not None}
    return QueryVocabulary(found[0][0], found[0][1] / found[0][0], words)


def compute_inverse_frequency(rows: int, frequency: int) -> float:
    found = math.log((rows - frequency + 0.5) / (frequency + 0.5))
    return found if found > 0 else MIN_IDF


def score_bm25(weight: float, frequency: NDArray[Any], length: NDArray[Any], mean: float) -> Scores:
    """Return the contribution to each row's score of a word with this inverse document frequency."""
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
    """The postings of one word. `blocks`: the block of each of the values in `read`."""

    blocks: list[int] = field(default_factory=list)
    read: list[bytes] = field(default_factory=list)

    def unpack(self) -> tuple[Numbers, NDArray[Any], NDArray[Any]]:
        """Return the rows (n), their counts and lengths."""
        joined = np.frombuffer(b"".join(self.read), POSTING)
        begins = np.repeat(
            np.array(self.blocks, np.int64) << BLOCK_BITS, [len(one) // POSTING.itemsize for one in self.read]
        )
        return begins + joined["row"], joined["counts"], joined["length"]

    def score(
        self,
        vocabulary: QueryVocabulary,
        rows: int,
        *,
        held: bool,
        wanted: Callable[[Numbers], NDArray[np.bool_]] | None = None,
    ) -> tuple[Numbers, Scores]:
        """Return the rows (n), and the word's contribution to their scores.

        Args:
            rows: the number of rows that contain it.
            wanted: the rows that matter; None: all.
        """
        numbers, counts, length = self.unpack()
        if wanted is not None:
            some = wanted(numbers)
            numbers, counts, length = numbers[some], counts[some], length[some]
        frequency = counts >> TITLE_BITS
        if held:
            some = frequency > 0
            numbers, frequency, length, rows = numbers[some], frequency[some], length[some], int(some.sum())
        else:
            frequency = frequency + 2 * (counts & MAX_TITLE_COUNT)
        return numbers, score_bm25(compute_inverse_frequency(vocabulary.rows, rows), frequency, length, vocabulary.mean)

    def list_held(self) -> Numbers:
        numbers, counts, _ = self.unpack()
        return numbers[counts >> TITLE_BITS > 0]


def read_postings(
    connection: Connection, index: RowIndex, words: Collection[int], blocks: Collection[int] | None = None
) -> defaultdict[int, Postings]:
    """Read the postings of some blocks, or of all."""
    found: defaultdict[int, Postings] = defaultdict(Postings)
    # Block by block, in the order of the key. CROSS JOIN keeps SQLite from another one.
    if not words or blocks == []:
        return found
    some = "" if blocks is None else f" AND b.block IN ({', '.join(map(str, blocks))})"
    for block, word, postings in read_binary(
        connection,
        f"SELECT p.block, p.word, p.postings FROM {index.name}_readers AS b CROSS JOIN {index.name}_blocks AS p "
        f"WHERE p.block = b.block AND p.word IN ({', '.join(map(str, sorted(words)))}){some}",
    ):
        found[word].blocks.append(block)
        found[word].read.append(postings)
    return found
