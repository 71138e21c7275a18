"""Keyword search: BM25 restricted to the rows that a principal may read before anything is counted or cut.

A title and a passage's headings count double, as is usual for titles in a fielded BM25. Each engine of a corpus has its
own index, in the same transaction; both find the same, in the same order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from argot.corpus.database import CorpusDatabase
from argot.corpus.keyword.fts5_index import Fts5Index
from argot.corpus.keyword.postgresql_index import PostgresqlIndex
from argot.corpus.keyword.posting_blocks import rebuild_postings
from argot.corpus.vector_ids import VectorKind
from argot.databases import Connection

WORDS_TO_FORGET = "words_to_forget"
"""The key in `meta` that exists while the indexes still contain words of removed documents."""

WORDS_TO_INDEX = "words_to_index"
"""The key in `meta` that exists while a store of an earlier Argot lacks the blocks that rankings read."""


class KeywordIndex(Protocol):
    """The indexes of one engine, one of each kind of row. All but the last run inside the caller's transaction."""

    def search_keywords(  # noqa: PLR0917
        self,
        connection: Connection,
        kind: VectorKind,
        query: str,
        audiences: Sequence[int] | None,
        limit: int,
        documents: Collection[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Return ids of rows with a positive score, best first; any text is a query.

        Args:
            audiences: the numbers of the audiences to search; None: all.
            documents: the ids of the only documents searched; None: all.
        """

    def with_phrase(
        self, connection: Connection, phrase: str, audiences: Sequence[int] | None, limit: int
    ) -> list[tuple[str, float]]:
        """Return ids of passages that contain these words in this order (stemmed) in headings or text, best first."""

    def count_phrase(self, connection: Connection, phrase: str, audiences: Sequence[int] | None) -> int:
        """Return how many passages contain it."""

    def insert_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        """Index all rows of a document, which must not be indexed yet."""

    def insert_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        """Index the rows of these ids, which must not be indexed yet."""

    def delete_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        """Remove all rows of a document from the index. They must still be in their table, unchanged."""

    def delete_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        """Remove the rows of these ids, which must still be in their table, unchanged, from the index."""

    def relabel_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        """Record the present readers of a document's rows."""

    def rebuild(self, connection: Connection) -> None:
        """Rebuild all indexes from the stored rows."""

    def faults(self, connection: Connection) -> list[str]:
        """Return the indexes that do not agree with the stored rows. It reads everything."""

    def forget_deleted(self, database: CorpusDatabase, kind: VectorKind) -> None:
        """Remove the words of deleted rows from the index files that Argot writes."""


def choose_keyword_index(connection: Connection) -> KeywordIndex:
    """Return the keyword index of the connection's engine."""
    return _FTS5 if isinstance(connection, sqlite3.Connection) else _POSTGRES


_FTS5, _POSTGRES = Fts5Index(), PostgresqlIndex()


def build_missing_blocks(database: CorpusDatabase) -> None:
    """Build the blocks that a store of an earlier Argot lacks: a minute or so for 100,000 passages."""
    due = "SELECT 1 FROM meta WHERE key = ?"
    if database.connection().execute(due, (WORDS_TO_INDEX,)).fetchone() is None:
        return
    with database.writing() as connection:
        if connection.execute(due, (WORDS_TO_INDEX,)).fetchone():  # otherwise another process was faster
            rebuild_postings(connection)
            connection.execute("DELETE FROM meta WHERE key = ?", (WORDS_TO_INDEX,))
