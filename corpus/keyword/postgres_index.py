"""Keyword search on PostgreSQL: ranked by the same blocks as on SQLite, with phrases from tables of its own.

It implements `argot.corpus.keyword.keyword_index`. Each row's tokens are kept in their order, for phrases.
"""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from argot.corpus.database import CorpusDatabase
from argot.corpus.keyword.block_ranking import (
    Known,
    Numbers,
    PhraseScores,
    RankedScope,
    Scores,
    bm25,
    count_held,
    count_readable,
    inverse_frequency,
    known_words,
    ranked_rows,
    read_postings,
    tokens_of_phrase,
)
from argot.corpus.keyword.block_soundness import blocks_differ
from argot.corpus.keyword.bulk_rows import insert_many
from argot.corpus.keyword.index_terms import SearchPhrase, exact_phrase, question_phrases
from argot.corpus.keyword.posting_blocks import (
    INDEXES,
    OF_DOCUMENT,
    Ids,
    IndexedRow,
    RowIndex,
    blocks_of_rows,
    clear_postings,
    delete_postings,
    indexed_rows,
    insert_postings,
    of_block,
    of_ids,
    relabel_postings,
)
from argot.corpus.vector_ids import VectorKind
from argot.databases import Connection


class PostgresIndex:
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
        return ranked_rows(connection, INDEXES[kind], question_phrases(query), scope, limit, _phrase_scores(held=False))

    def with_phrase(
        self, connection: Connection, phrase: str, audiences: Sequence[int] | None, limit: int
    ) -> list[tuple[str, float]]:
        wanted = exact_phrase(phrase)
        phrases, index = [wanted] if wanted else [], INDEXES["passage"]
        return ranked_rows(
            connection, index, phrases, RankedScope(audiences), limit, _phrase_scores(held=True), held=True
        )

    def count_phrase(self, connection: Connection, phrase: str, audiences: Sequence[int] | None) -> int:
        wanted, index = exact_phrase(phrase), INDEXES["passage"]
        tokens = tokens_of_phrase(wanted) if wanted else ()
        if not tokens:
            return 0
        if len(tokens) == 1:
            return count_held(connection, index, tokens[0], audiences)
        known = known_words(connection, index, set(tokens))
        if any(token not in known.words for token in tokens):
            return 0
        numbers, _, _ = _rows_with(connection, index, [known.words[token].id for token in tokens], held=True)
        return len(numbers) if audiences is None else count_readable(connection, index, numbers, audiences)

    def insert_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        _insert(connection, INDEXES[kind], OF_DOCUMENT, document)

    def insert_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        _insert(connection, INDEXES[kind], *of_ids(ids))

    def delete_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        _delete(connection, INDEXES[kind], OF_DOCUMENT, document)

    def delete_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        _delete(connection, INDEXES[kind], *of_ids(ids))

    def relabel_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        relabel_postings(connection, INDEXES[kind], document)

    def rebuild(self, connection: Connection) -> None:
        for index in INDEXES.values():
            clear_postings(connection, index)
            connection.execute(f"DELETE FROM {index.name}_sequences")
            for block in blocks_of_rows(connection, index):
                _insert(connection, index, *of_block(block))

    def faults(self, connection: Connection) -> list[str]:
        return [
            f"{index.name}_blocks"
            for index in INDEXES.values()
            if blocks_differ(connection, index) or _sequences_differ(connection, index)
        ]

    def forget_deleted(self, database: CorpusDatabase, kind: VectorKind) -> None:
        """Nothing: words go with the last row that holds them, and PostgreSQL clears its files of them in time."""


# -- phrases ---------------------------------------------------------------------------------------------------------


def _phrase_scores(*, held: bool) -> PhraseScores:
    def scores(
        connection: Connection, index: RowIndex, phrase: SearchPhrase, tokens: Sequence[str], known: Known
    ) -> tuple[Numbers, Scores]:
        words = [known.words[token].id for token in tokens]
        numbers, frequency, length = _rows_with(connection, index, words, held=held)
        # Its weight depends on all rows that hold it, whoever may read them.
        return numbers, bm25(inverse_frequency(known.rows, len(numbers)), frequency, length, known.mean)

    return scores


def _rows_with(
    connection: Connection, index: RowIndex, words: Sequence[int], *, held: bool
) -> tuple[Numbers, Numbers, Numbers]:
    """The rows (n) that hold these words one after the other, how often, and how long the rows are."""
    postings = read_postings(connection, index, set(words))
    numbers, _, length = postings[words[0]].arrays()
    lengths = dict(zip(numbers.tolist(), length.tolist(), strict=True))
    for word in words[1:]:
        numbers = np.intersect1d(numbers, postings[word].arrays()[0], assume_unique=True)
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
            # What follows is looked at and not consumed: occurrences may overlap.
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
        [(row.n, *_sequences(row, ids)) for row in rows],
    )


def _delete(connection: Connection, index: RowIndex, where: str, value: object) -> None:
    rows = delete_postings(connection, index, where, value)
    numbers = [row.n for row in rows]
    connection.execute(f"DELETE FROM {index.name}_sequences WHERE n = ANY(CAST(? AS bigint[]))", (numbers,))


def _sequences(row: IndexedRow, ids: Ids) -> list[str]:
    """For each column the ids of its tokens, each between blanks."""
    return ["".join(f" {ids[token]}" for token in column) + " " for column in row.columns]


def _sequences_differ(connection: Connection, index: RowIndex) -> bool:
    ids: Ids = dict(map(tuple, connection.execute(f"SELECT token, id FROM {index.name}_vocabulary")))
    for block in blocks_of_rows(connection, index):
        where, value = of_block(block)
        kept: dict[int, Any] = {
            n: list(columns)
            for n, *columns in connection.execute(
                f"SELECT r.n, r.title, r.heading, r.body, r.identifiers FROM {index.name}_sequences AS r WHERE {where}",
                {"value": value},
            )
        }
        rows = indexed_rows(connection, index, where, value)
        # Blocks were compared before, so each token has its id.
        if kept != {row.n: _sequences(row, ids) for row in rows}:
            return True
    return False
