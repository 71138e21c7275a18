"""The keyword index in SQLite's FTS5, which implements `argot.corpus.keyword.keyword_index`.

Stemming is Porter's; k1 = 1.2 and b = 0.75 are FTS5's own. A document's title and a passage's headings count double,
as is usual for titles in a fielded BM25.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from argot.corpus.database import CorpusDatabase
from argot.corpus.keyword.index_terms import (
    exact_phrase,
    match_expression,
    question_phrases,
)
from argot.corpus.vector_ids import VectorKind
from argot.databases import Connection


@dataclass(frozen=True, slots=True)
class WordIndex:
    """One FTS5 table and the table whose rows it indexes. Both names are ours, never a user's."""

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
SEARCHED: dict[VectorKind, str] = {"passage": "title heading body", "derived": "body", "triple": "body"}
HOLDS = "heading body"
"""A phrase in the title says nothing of the single passage, so it does not count as held by it."""

MERGED_PAGES = 500
"""Written in one transaction when words are forgotten; others wait for it."""


class Fts5Index:
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
        expression = match_expression(question_phrases(query), columns=SEARCHED[kind])
        return _ranked(connection, INDEXES[kind], expression, audiences, limit, documents)

    def with_phrase(
        self, connection: Connection, phrase: str, audiences: Sequence[int] | None, limit: int
    ) -> list[tuple[str, float]]:
        return _ranked(connection, INDEXES["passage"], _held_expression(phrase), audiences, limit)

    def count_phrase(self, connection: Connection, phrase: str, audiences: Sequence[int] | None) -> int:
        expression = _held_expression(phrase)
        if expression is None:
            return 0
        # For someone who may read everything the index alone gives the count, without a join.
        if audiences is None:
            row = connection.execute("SELECT count(*) FROM passage_words WHERE passage_words MATCH ?", (expression,))
        else:
            row = connection.execute(_COUNT_READABLE, (expression, json.dumps(list(audiences))))
        return int(row.fetchone()[0])

    def insert_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        _insert(connection, INDEXES[kind], "r.document = ?", document)

    def insert_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        _insert(connection, INDEXES[kind], _IDS, json.dumps(list(ids)))

    def delete_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        _delete(connection, INDEXES[kind], "r.document = ?", document)

    def delete_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        _delete(connection, INDEXES[kind], _IDS, json.dumps(list(ids)))

    def relabel_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        """Nothing: readers stand in the indexed rows alone."""

    def rebuild(self, connection: Connection) -> None:
        for index in INDEXES.values():
            connection.execute(f"INSERT INTO {index.words}({index.words}) VALUES ('rebuild')")  # noqa: S608

    def faults(self, connection: Connection) -> list[str]:
        bad = []
        for index in INDEXES.values():
            # Rank 1 has FTS5 compare the index with the stored texts, and not only with itself.
            command = f"INSERT INTO {index.words}({index.words}, rank) VALUES ('integrity-check', 1)"  # noqa: S608
            try:
                connection.execute(command)
            except sqlite3.DatabaseError:
                bad.append(index.words)
        return bad

    def forget_deleted(self, database: CorpusDatabase, kind: VectorKind) -> None:
        """Merge an index into one piece, in small transactions: until then it keeps the words of rows taken out.

        About half a second of processor time for 50,000 passages (`fts5`, "The merge Command").
        """
        index = INDEXES[kind]
        pages = -MERGED_PAGES  # negative: all pieces are to be merged, whatever their sizes
        done = False
        while not done:
            with database.writing() as connection:
                before = _changes(connection)
                connection.execute(f"INSERT INTO {index.words}({index.words}, rank) VALUES ('merge', ?)", (pages,))  # noqa: S608
                done = pages > 0 and _changes(connection) - before < 2  # so SQLite says that nothing is left to do
            pages = MERGED_PAGES


def _held_expression(phrase: str) -> str | None:
    wanted = exact_phrase(phrase)
    return match_expression([wanted], columns=HOLDS) if wanted else None


_READABLE = "r.audience IN (SELECT value FROM json_each(?))"
_COUNT_READABLE = f"""
    SELECT count(*) FROM passage_words JOIN passages AS r ON r.n = passage_words.rowid
    WHERE passage_words MATCH ? AND {_READABLE}"""  # noqa: S608


def _ranked(  # noqa: PLR0917
    connection: Connection,
    index: WordIndex,
    expression: str | None,
    audiences: Sequence[int] | None,
    limit: int,
    documents: Collection[str] | None = None,
) -> list[tuple[str, float]]:
    if expression is None or limit < 1:
        return []
    narrowed = "" if audiences is None else f"AND {_READABLE}"
    narrowing = [] if audiences is None else [json.dumps(list(audiences))]
    if documents is not None:
        # With a plus: by the words first, not by an index of the documents, which may be many.
        narrowed += " AND +r.document IN (SELECT value FROM json_each(?))"
        narrowing.append(json.dumps(list(documents)))
    # bm25() is smaller for better matches, hence the minus; `r.n` breaks ties, so that the order is stable.
    sql = f"""
        SELECT r.id, -{index.rank} AS score
        FROM {index.words} JOIN {index.rows} AS r ON r.n = {index.words}.rowid
        WHERE {index.words} MATCH ? {narrowed}
        ORDER BY score DESC, r.n LIMIT ?"""  # noqa: S608  only our own names are put in
    return [(row_id, score) for row_id, score in connection.execute(sql, (expression, *narrowing, limit))]


# -- upkeep, inside the caller's transaction ------------------------------------------------------------------------


def _changes(connection: Connection) -> int:
    return int(connection.execute("SELECT total_changes()").fetchone()[0])


_IDS = "r.id IN (SELECT value FROM json_each(?))"


def _insert(connection: Connection, index: WordIndex, which: str, value: str) -> None:
    connection.execute(
        f"INSERT INTO {index.words}(rowid, {index.column_list}) {_texts_of(index, which)}",
        (value,),
    )


def _delete(connection: Connection, index: WordIndex, which: str, value: str) -> None:
    # An FTS5 index with external content deletes by inserting 'delete' and the old texts.
    selected = _texts_of(index, which).replace("SELECT ", "SELECT 'delete', ", 1)
    connection.execute(f"INSERT INTO {index.words}({index.words}, rowid, {index.column_list}) {selected}", (value,))


def _texts_of(index: WordIndex, which: str) -> str:
    columns = ", ".join(f"t.{column}" for column in index.columns)
    return (
        f"SELECT t.n, {columns} FROM {index.rows} AS r JOIN {index.texts} AS t ON t.n = r.n "  # noqa: S608
        f"WHERE {which} ORDER BY t.n"
    )
