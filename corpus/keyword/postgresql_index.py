"""Keyword search on PostgreSQL: ranked by the same blocks as on SQLite, with separate tables for phrases.

It implements `argot.corpus.keyword.keyword_index`. Each row's tokens are kept in their order, for phrases.
"""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from argot.corpus.database import CorpusDatabase
from argot.corpus.keyword.block_ranking import PhraseScores, count_held, count_readable, rank_rows
from argot.corpus.keyword.block_rows import RankedScope
from argot.corpus.keyword.block_soundness import has_differing_blocks
from argot.corpus.keyword.bulk_rows import insert_many
from argot.corpus.keyword.index_terms import SearchPhrase, list_exact_phrases, parse_question
from argot.corpus.keyword.passage_languages import read_languages
from argot.corpus.keyword.posting_blocks import (
    INDEXES,
    MATCH_DOCUMENT,
    Ids,
    IndexedRow,
    RowIndex,
    clear_postings,
    delete_postings,
    insert_postings,
    list_blocks,
    match_block,
    match_ids,
    read_rows,
    relabel_postings,
)
from argot.corpus.keyword.word_scores import (
    Numbers,
    QueryVocabulary,
    Scores,
    compute_inverse_frequency,
    read_postings,
    read_vocabulary,
    score_bm25,
    tokenize_phrase,
)
from argot.corpus.vector_ids import VectorKind
from argot.databases import Connection


class PostgresqlIndex:
    """A `KeywordIndex`."""

    def search_keywords(  # noqa: PLR0917
        self,
        connection: Connection,
        kind: VectorKind,
        query: str,
        audiences: Sequence[int] | None,
        limit: int,
        documents: Collection[str] | None = None,
    ) -> list[tuple[str, float]]:
        scope = RankedScope(audiences, documents)
        return rank_rows(
            connection,
            INDEXES[kind],
            parse_question(query, read_languages(connection)),
            scope,
            limit,
            _build_phrase_scorer(held=False),
        )

    def with_phrase(
        self, connection: Connection, phrase: str, audiences: Sequence[int] | None, limit: int
    ) -> list[tuple[str, float]]:
        phrases, index = list_exact_phrases(phrase, read_languages(connection)), INDEXES["passage"]
        return rank_rows(
            connection, index, phrases, RankedScope(audiences), limit, _build_phrase_scorer(held=True), held=True
        )

    def count_phrase(self, connection: Connection, phrase: str, audiences: Sequence[int] | None) -> int:
        # A passage is in one language, so that those with different stems are different ones.
        phrases = list_exact_phrases(phrase, read_languages(connection))
        return sum(_count_rows(connection, one, audiences) for one in phrases)

    def insert_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        _insert(connection, INDEXES[kind], MATCH_DOCUMENT, document)

    def insert_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        _insert(connection, INDEXES[kind], *match_ids(ids))

    def delete_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        _delete(connection, INDEXES[kind], MATCH_DOCUMENT, document)

    def delete_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        _delete(connection, INDEXES[kind], *match_ids(ids))

    def relabel_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        relabel_postings(connection, INDEXES[kind], document)

    def rebuild(self, connection: Connection) -> None:
        for index in INDEXES.values():
            clear_postings(connection, index)
            connection.execute(f"DELETE FROM {index.name}_sequences")
            for block in list_blocks(connection, index):
                _insert(connection, index, *match_block(block))

    def faults(self, connection: Connection) -> list[str]:
        return [
            f"{index.name}_blocks"
            for index in INDEXES.values()
            if has_differing_blocks(connection, index) or _has_differing_sequences(connection, index)
        ]

    def forget_deleted(self, database: CorpusDatabase, kind: VectorKind) -> None:
        """Do nothing: words are deleted with the last row that contains them, and PostgreSQL cleans its files
        itself.
        """


# -- phrases ---------------------------------------------------------------------------------------------------------


def _count_rows(connection: Connection, phrase: SearchPhrase, audiences: Sequence[int] | None) -> int:
    tokens, index = tokenize_phrase(phrase), INDEXES["passage"]
    if not tokens:
        return 0
    if len(tokens) == 1:
        return count_held(connection, index, tokens[0], audiences)
    known = read_vocabulary(connection, index, set(tokens))
    if any(token not in known.words for token in tokens):
        return 0
    numbers, _, _ = _find_rows(connection, index, [known.words[token].id for token in tokens], held=True)
    return len(numbers) if audiences is None else count_readable(connection, index, numbers, audiences)


def _build_phrase_scorer(*, held: bool) -> PhraseScores:
    def scores(
        connection: Connection,
        index: RowIndex,
        phrase: SearchPhrase,
        tokens: Sequence[str],
        vocabulary: QueryVocabulary,
    ) -> tuple[Numbers, Scores]:
        words = [vocabulary.words[token].id for token in tokens]
        numbers, frequency, length = _find_rows(connection, index, words, held=held)
        # Its weight depends on all rows that contain it, whoever may read them.
        return numbers, score_bm25(
            compute_inverse_frequency(vocabulary.rows, len(numbers)), frequency, length, vocabulary.mean
        )

    return scores


def _find_rows(
    connection: Connection, index: RowIndex, words: Sequence[int], *, held: bool
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the rows (n) that contain these consecutive words, how often, and the rows' lengths."""
    postings = read_postings(connection, index, set(words))
    numbers, _, length = postings[words[0]].unpack()
    lengths = dict(zip(numbers.tolist(), length.tolist(), strict=True))
    for word in words[1:]:
        numbers = np.intersect1d(numbers, postings[word].unpack()[0], assume_unique=True)
    columns = {"heading": 2, "body": 1} if held else {"title": 2, "heading": 2, "body": 1}
    frequency = " + ".join(
        f"{weight} * (SELECT count(*) FROM regexp_matches(s.{column}, :pattern, 'g'))"
        for column, weight in columns.items()
    )
    text = " || ".join(f"s.{column}" for column in columns)
    found = connection.execute(
        f"SELECT n, frequency FROM (SELECT s.n, {frequency} AS frequency FROM {index.name}_sequences AS s "
        f"WHERE s.n = ANY(CAST(:numbers AS bigint[])) AND strpos({text}, :phrase) > 0) AS h WHERE frequency > 0",
        {
            "numbers": numbers.tolist(),
            "phrase": f" {' '.join(map(str, words))} ",
            # A look-ahead, which consumes nothing: occurrences may overlap.
            "pattern": f" {words[0]}(?={''.join(f' {word}' for word in words[1:])} )",
        },
    ).fetchall()
    matched = [n for n, _ in found]
    return (
        np.array(matched, np.int64),
        np.array([times for _, times in found], np.int64),
        np.array([lengths[n] for n in matched], np.int64),
    )


# -- upkeep, inside the caller's transaction ------------------------------------------------------------------------


def _insert(connection: Connection, index: RowIndex, where: str, value: object) -> None:
    rows, ids = insert_postings(connection, index, where, value)
    texts = dict.fromkeys(("title", "heading", "body", "identifiers"), "text")
    insert_many(
        connection,
        f"{index.name}_sequences",
        {"n": "bigint", **texts},
        [(row.n, *_build_sequences(row, ids)) for row in rows],
    )


def _delete(connection: Connection, index: RowIndex, where: str, value: object) -> None:
    rows = delete_postings(connection, index, where, value)
    numbers = [row.n for row in rows]
    connection.execute(f"DELETE FROM {index.name}_sequences WHERE n = ANY(CAST(? AS bigint[]))", (numbers,))


def _build_sequences(row: IndexedRow, ids: Ids) -> list[str]:
    """Return for each column the ids of its tokens, each between blanks."""
    return ["".join(f" {ids[token]}" for token in column) + " " for column in row.columns]


def _has_differing_sequences(connection: Connection, index: RowIndex) -> bool:
    ids: Ids = dict(map(tuple, connection.execute(f"SELECT token, id FROM {index.name}_vocabulary")))
    for block in list_blocks(connection, index):
        where, value = match_block(block)
        kept: dict[int, Any] = {
            n: list(columns)
            for n, *columns in connection.execute(
                f"SELECT r.n, r.title, r.heading, r.body, r.identifiers FROM {index.name}_sequences AS r WHERE {where}",
                {"value": value},
            )
        }
        rows = read_rows(connection, index, where, value)
        # Blocks were compared before, so that each token has its id.
        if kept != {row.n: _build_sequences(row, ids) for row in rows}:
            return True
    return False
