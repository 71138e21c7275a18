"""The keyword index in SQLite's FTS5, which implements `argot.corpus.keyword.keyword_index`.

Stemming is Porter's; k1 = 1.2 and b = 0.75 are FTS5's own. A document's title and a passage's headings count double,
as is usual for titles in a fielded BM25.
"""

# ruff: noqa: S608  only our own names are put into SQL
from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from argot.corpus.database import CorpusDatabase
from argot.corpus.keyword.block_ranking import PhraseScores, count_held, count_readable, rank_rows
from argot.corpus.keyword.block_rows import RankedScope
from argot.corpus.keyword.block_soundness import has_differing_blocks
from argot.corpus.keyword.index_terms import SearchPhrase, list_exact_phrases, match_expression, parse_question
from argot.corpus.keyword.passage_languages import read_languages
from argot.corpus.keyword.posting_blocks import INDEXES as BLOCKS
from argot.corpus.keyword.posting_blocks import (
    MATCH_DOCUMENT,
    RowIndex,
    delete_postings,
    insert_postings,
    match_ids,
    rebuild_postings,
    relabel_postings,
)
from argot.corpus.keyword.word_scores import Numbers, QueryVocabulary, Scores, tokenize_phrase
from argot.corpus.vector_ids import VectorKind
from argot.databases import Connection


@dataclass(frozen=True, slots=True)
class WordIndex:
    """One FTS5 table and the table whose rows it indexes. Both names are constants of Argot's, never a user's."""

    words: str
    rows: str
    texts: str
    columns: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def column_list(self) -> str:
        return ", ".join(self.columns)

    @property
    def rank(self) -> str:
        return f"bm25({self.words}, {', '.join(map(str, self.weights))})"


INDEXES: dict[VectorKind, WordIndex] = {
    "passage": WordIndex(
        "passage_words", "passages", "passage_texts", ("title", "heading", "body", "identifiers"), (2.0, 2.0, 1.0, 1.0)
    ),
    "derived": WordIndex("derived_words", "derived", "derived_searched", ("body", "identifiers"), (1.0, 1.0)),
    "triple": WordIndex("triple_words", "triples", "triple_searched", ("body", "identifiers"), (1.0, 1.0)),
}

# Without `identifiers`: that column holds hashes, and `match_expression` searches it separately.
SEARCHED_COLUMNS: dict[VectorKind, str] = {"passage": "title heading body", "derived": "body", "triple": "body"}
HELD_COLUMNS = "heading body"
"""A phrase in the title is not specific to a passage, so it does not count as contained in it."""

MERGE_PAGES = 500
"""Written in one transaction when words are deleted; others wait for it."""


class Fts5Index:
    """A `KeywordIndex`. Single words are ranked by Argot's own blocks, FTS5 finds phrases."""

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
            BLOCKS[kind],
            parse_question(query, read_languages(connection)),
            scope,
            limit,
            _build_phrase_scorer(kind),
        )

    def with_phrase(
        self, connection: Connection, phrase: str, audiences: Sequence[int] | None, limit: int
    ) -> list[tuple[str, float]]:
        phrases = list_exact_phrases(phrase, read_languages(connection))
        found = _build_phrase_scorer("passage", HELD_COLUMNS)
        return rank_rows(connection, BLOCKS["passage"], phrases, RankedScope(audiences), limit, found, held=True)

    def count_phrase(self, connection: Connection, phrase: str, audiences: Sequence[int] | None) -> int:
        # A passage is in one language, so that those with different stems are different ones.
        phrases = list_exact_phrases(phrase, read_languages(connection))
        return sum(_count_rows(connection, one, audiences) for one in phrases)

    def insert_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        self._insert(connection, kind, MATCH_DOCUMENT, document)

    def insert_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        self._insert(connection, kind, *match_ids(ids))

    def delete_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        self._delete(connection, kind, MATCH_DOCUMENT, document)

    def delete_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        self._delete(connection, kind, *match_ids(ids))

    def relabel_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        relabel_postings(connection, BLOCKS[kind], document)

    def rebuild(self, connection: Connection) -> None:
        for index in INDEXES.values():
            connection.execute(f"INSERT INTO {index.words}({index.words}) VALUES ('rebuild')")
        rebuild_postings(connection)

    def faults(self, connection: Connection) -> list[str]:
        return [
            index.words
            for kind, index in INDEXES.items()
            if _has_differing_words(connection, index) or has_differing_blocks(connection, BLOCKS[kind])
        ]

    def _insert(self, connection: Connection, kind: VectorKind, where: str, value: object) -> None:
        index = INDEXES[kind]
        connection.execute(
            f"INSERT INTO {index.words}(rowid, {index.column_list}) {_select_texts(index, where)}", {"value": value}
        )
        insert_postings(connection, BLOCKS[kind], where, value)

    def _delete(self, connection: Connection, kind: VectorKind, where: str, value: object) -> None:
        index = INDEXES[kind]
        # An FTS5 index with external content deletes by inserting 'delete' and the old texts.
        selected = _select_texts(index, where).replace("SELECT ", "SELECT 'delete', ", 1)
        connection.execute(
            f"INSERT INTO {index.words}({index.words}, rowid, {index.column_list}) {selected}", {"value": value}
        )
        delete_postings(connection, BLOCKS[kind], where, value)

    def forget_deleted(self, database: CorpusDatabase, kind: VectorKind) -> None:
        """Merge an index into one segment, in small transactions: until then it contains the words of deleted rows.

        About half a second of processor time for 50,000 passages (`fts5`, "The merge Command").
        """
        index = INDEXES[kind]
        pages = -MERGE_PAGES  # negative: all segments are merged, whatever their sizes
        done = False
        while not done:
            with database.writing() as connection:
                before = _count_changes(connection)
                connection.execute(f"INSERT INTO {index.words}({index.words}, rank) VALUES ('merge', ?)", (pages,))
                done = pages > 0 and _count_changes(connection) - before < 2  # SQLite's sign that nothing is left to do
            pages = MERGE_PAGES


def _count_rows(connection: Connection, phrase: SearchPhrase, audiences: Sequence[int] | None) -> int:
    tokens = tokenize_phrase(phrase)
    if not tokens:
        return 0
    if len(tokens) == 1:
        return count_held(connection, BLOCKS["passage"], tokens[0], audiences)
    expression = match_expression([phrase], columns=HELD_COLUMNS)
    if audiences is None:
        row = connection.execute("SELECT count(*) FROM passage_words WHERE passage_words MATCH ?", (expression,))
        return int(row.fetchone()[0])
    found = connection.execute("SELECT rowid FROM passage_words WHERE passage_words MATCH ?", (expression,))
    numbers = np.array([n for (n,) in found], np.int64)
    return count_readable(connection, BLOCKS["passage"], numbers, audiences)


def _build_phrase_scorer(kind: VectorKind, columns: str = "") -> PhraseScores:
    """Args:
    columns: those that must contain a phrase; empty: all searched ones.
    """
    words, searched = INDEXES[kind], columns or SEARCHED_COLUMNS[kind]

    def scores(
        connection: Connection,
        index: RowIndex,
        phrase: SearchPhrase,
        tokens: Sequence[str],
        vocabulary: QueryVocabulary,
    ) -> tuple[Numbers, Scores]:
        # Queried for one phrase, FTS5 returns its contribution to a score. bm25() is smaller for better matches.
        found = connection.execute(
            f"SELECT rowid, -{words.rank} FROM {words.words} WHERE {words.words} MATCH ?",
            (match_expression([phrase], columns=searched),),
        ).fetchall()
        return np.array([n for n, _ in found], np.int64), np.array([score for _, score in found], np.float64)

    return scores


# -- upkeep, inside the caller's transaction ------------------------------------------------------------------------


def _count_changes(connection: Connection) -> int:
    return int(connection.execute("SELECT total_changes()").fetchone()[0])


def _has_differing_words(connection: Connection, index: WordIndex) -> bool:
    # Rank 1 makes FTS5 compare the index with the stored texts, and not only with itself.
    try:
        connection.execute(f"INSERT INTO {index.words}({index.words}, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError:
        return True
    return False


def _select_texts(index: WordIndex, which: str) -> str:
    columns = ", ".join(f"t.{column}" for column in index.columns)
    return (
        f"SELECT t.n, {columns} FROM {index.rows} AS r JOIN {index.texts} AS t ON t.n = r.n WHERE {which} ORDER BY t.n"
    )
