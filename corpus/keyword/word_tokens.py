"""The tokens that FTS5 makes of texts, for other indexes that have to find and rank like FTS5.

SQLite itself makes them, in memory, so that there is no second tokenizer and stemmer that could differ.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from argot.sqlite import PerThread

TOKENIZER = "porter unicode61 remove_diacritics 2"
"""As in the FTS5 tables of corpus.db (`argot.corpus.corpus_schema`)."""
MAX_TOKEN_CHARS = 200
"""Characters. Longer ones, such as an encoded picture, are replaced by a hash: no index stores them."""

ColumnTokens = tuple[tuple[str, ...], ...]
"""For each column of a row its tokens, in order."""


def tokenize_columns(rows: Sequence[Sequence[str]]) -> list[ColumnTokens]:
    """Return the tokens of each row, all with the same number of columns (at most four)."""
    if not rows:
        return []
    return _tokenize(_CONNECTIONS.get(), rows)


# Questions repeat the same few words.
@lru_cache(maxsize=20_000)
def tokenize_words(words: str) -> tuple[str, ...]:
    return tokenize_columns([[words]])[0][0]


def _tokenize(connection: sqlite3.Connection, rows: Sequence[Sequence[str]]) -> list[ColumnTokens]:
    width = len(rows[0])
    empty = [""] * (_COLUMNS - width)
    placed: list[list[list[tuple[int, str]]]] = [[[] for _ in range(width)] for _ in rows]
    connection.executemany(
        "INSERT INTO words(rowid, c0, c1, c2, c3) VALUES (?, ?, ?, ?, ?)",
        [(n, *row, *empty) for n, row in enumerate(rows)],
    )
    for term, n, column, place in connection.execute(_FOUND):
        placed[n][column].append((place, term))
    connection.execute("INSERT INTO words(words) VALUES ('delete-all')")
    return [tuple(tuple(_shorten(term) for _, term in sorted(column)) for column in row) for row in placed]


def _shorten(token: str) -> str:
    if len(token) <= MAX_TOKEN_CHARS:
        return token
    return f"long{blake2b(token.encode(), digest_size=16).hexdigest()}"


_COLUMNS = 4
_FOUND = 'SELECT term, doc, CAST(substr(col, 2) AS INTEGER), "offset" FROM found'


def _connect() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute(f"CREATE VIRTUAL TABLE words USING fts5(c0, c1, c2, c3, content='', tokenize='{TOKENIZER}')")
    connection.execute("CREATE VIRTUAL TABLE found USING fts5vocab(words, instance)")
    return connection


_CONNECTIONS = PerThread(_connect)
