"""What the keyword index on PostgreSQL keeps, changed in the transaction that changes the rows.

Per index there are a vocabulary (in how many rows a token stands), postings (in which, and how often), and each row's
tokens in their order, for phrases. The tables are in `argot.corpus.keyword_tables`.
"""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from argot.corpus.keyword.word_tokens import ColumnTokens, column_tokens
from argot.corpus.vector_ids import VectorKind
from argot.databases import Connection


@dataclass(frozen=True, slots=True)
class RowIndex:
    """What is indexed: a table of rows, the SQL of its searched columns, and what our own tables are called after."""

    name: str
    rows: str
    columns: str


INDEXES: dict[VectorKind, RowIndex] = {
    "passage": RowIndex("passage", "passages", "r.title, r.heading, coalesce(r.folded, r.text), r.identifiers"),
    "derived": RowIndex("derived", "derived", "'', '', coalesce(r.folded, r.text), r.identifiers"),
    "triple": RowIndex("triple", "triples", "'', '', coalesce(r.folded, r.text), r.identifiers"),
}

ROWS_AT_ONCE = 1_000
"""Whose tokens are held in memory when an index is built again."""
TITLE_BITS = 3
"""Of a posting's `counts` that say how often the word stands in the title; those above, how often in the rest."""
MOST_IN_TITLE = 2**TITLE_BITS - 1
MOST_HELD = 2 ** (15 - TITLE_BITS) - 1
LONGEST_ROW = 2**15 - 1
"""What a smallint holds. BM25 hardly tells so many occurrences from more, and no passage is so long."""


def identifier_of(token: str) -> str:
    # No token of a text has a symbol, so those of the two kinds cannot be confused.
    return f"={token}"


IDS = "r.id = ANY(CAST(:value AS text[]))"
_NUMBERS = "r.n = ANY(CAST(:value AS int[]))"
OF_DOCUMENT = "r.document = :value"


def relabel_postings(connection: Connection, index: RowIndex, document: str) -> None:
    """Give the postings of a document the audience that its rows have now."""
    connection.execute(
        f"UPDATE {index.name}_postings AS p SET audience = w.audience FROM ({_words_of(index, OF_DOCUMENT)}) AS w "
        "WHERE p.word = w.word AND p.n = w.n",
        {"value": document},
    )


def rebuild_postings(connection: Connection, index: RowIndex) -> None:
    """Build an index again from the stored rows."""
    connection.execute(f"TRUNCATE {index.name}_postings, {index.name}_vocabulary, {index.name}_sequences")
    connection.execute("DELETE FROM keyword_totals WHERE name = ?", (index.name,))
    numbers = [n for (n,) in connection.execute(f"SELECT n FROM {index.rows} ORDER BY n")]
    for start in range(0, len(numbers), ROWS_AT_ONCE):
        insert_postings(connection, index, _NUMBERS, numbers[start : start + ROWS_AT_ONCE])


def insert_postings(connection: Connection, index: RowIndex, where: str, value: object) -> None:
    rows = connection.execute(
        f"SELECT r.n, r.audience, {index.columns} FROM {index.rows} AS r WHERE {where} ORDER BY r.n",
        {"value": value},
    ).fetchall()
    if not rows:
        return
    indexed = indexed_tokens([tuple(row)[2:] for row in rows])
    _add_totals(connection, index, len(rows), sum(len(column) for row in indexed for column in row))
    ids = _add_words(connection, index, Counter(token for row in indexed for token in set().union(*row)))
    postings = [
        (word, n, audience, *counts)
        for (n, audience, *_), tokens in zip(rows, indexed, strict=True)
        for word, *counts in row_postings(tokens, ids)
    ]
    connection.execute(
        f"INSERT INTO {index.name}_postings (word, n, audience, counts, length) SELECT * FROM unnest("
        + ", ".join(["CAST(? AS int[])"] * 5)
        + ")",
        [[posting[place] for posting in postings] for place in range(5)],
    )
    connection.executemany(
        f"INSERT INTO {index.name}_sequences (n, length, title, heading, body, identifiers) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (row[0], sum(map(len, tokens)), *(row_sequence(column, ids) for column in tokens))
            for row, tokens in zip(rows, indexed, strict=True)
        ],
    )


def indexed_tokens(rows: Sequence[Sequence[str]]) -> list[ColumnTokens]:
    """The tokens of rows' columns, as the vocabulary knows them."""
    return [(*tokens[:3], tuple(map(identifier_of, tokens[3]))) for tokens in column_tokens(rows)]


def row_postings(columns: ColumnTokens, ids: dict[str, int]) -> Iterable[tuple[int, int, int]]:
    """Of each token its id, its counts (headings count double), and the row's length."""
    title, heading, body, identifiers = map(Counter, columns)
    length = min(sum(map(len, columns)), LONGEST_ROW)
    for token in title.keys() | heading.keys() | body.keys() | identifiers.keys():
        held = min(2 * heading[token] + body[token] + identifiers[token], MOST_HELD)
        yield ids[token], held << TITLE_BITS | min(title[token], MOST_IN_TITLE), length


def row_sequence(tokens: Sequence[str], ids: dict[str, int]) -> str:
    return "".join(f" {ids[token]}" for token in tokens) + " "


def _add_totals(connection: Connection, index: RowIndex, rows: int, tokens: int) -> None:
    # Comes first in each change of an index: it makes writers wait for each other here, where they cannot deadlock.
    connection.execute(
        "INSERT INTO keyword_totals AS t (name, rows, tokens) VALUES (?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET rows = t.rows + excluded.rows, tokens = t.tokens + excluded.tokens",
        (index.name, rows, tokens),
    )


def _add_words(connection: Connection, index: RowIndex, rows: Counter[str]) -> dict[str, int]:
    """Count the rows that a token newly stands in, and give each token its id."""
    counted = connection.execute(
        f"UPDATE {index.name}_vocabulary AS v SET rows = v.rows + w.rows "
        "FROM unnest(CAST(? AS text[]), CAST(? AS int[])) AS w(token, rows) "
        "WHERE v.token = w.token RETURNING v.token, v.id",
        (list(rows), list(rows.values())),
    )
    ids: dict[str, int] = dict(map(tuple, counted))
    fresh = [token for token in rows if token not in ids]
    # Not all at once with "on conflict": that takes an id out of the sequence for every token that is known already.
    added = connection.execute(
        f"INSERT INTO {index.name}_vocabulary (token, rows) "
        "SELECT * FROM unnest(CAST(? AS text[]), CAST(? AS int[])) RETURNING token, id",
        (fresh, [rows[token] for token in fresh]),
    )
    return {**ids, **dict(map(tuple, added))}


def delete_postings(connection: Connection, index: RowIndex, where: str, value: object) -> None:
    _add_totals(connection, index, 0, 0)
    connection.execute(
        f"""WITH gone AS (
            DELETE FROM {index.name}_postings AS p USING ({_words_of(index, where)}) AS w
            WHERE p.word = w.word AND p.n = w.n RETURNING p.word
        )
        UPDATE {index.name}_vocabulary AS v SET rows = v.rows - g.rows
        FROM (SELECT word, count(*) AS rows FROM gone GROUP BY word) AS g WHERE v.id = g.word""",
        {"value": value},
    )
    connection.execute(
        f"""WITH gone AS (
            DELETE FROM {index.name}_sequences AS s USING {index.rows} AS r WHERE r.n = s.n AND {where}
            RETURNING s.length
        )
        UPDATE keyword_totals AS t SET rows = t.rows - s.rows, tokens = t.tokens - s.tokens
        FROM (SELECT count(*) AS rows, coalesce(sum(length), 0) AS tokens FROM gone) AS s WHERE t.name = :name""",
        {"value": value, "name": index.name},
    )
    # The words of what was removed are forgotten, too.
    connection.execute(f"DELETE FROM {index.name}_vocabulary WHERE rows <= 0")


def _words_of(index: RowIndex, where: str) -> str:
    """SQL for the ids of the tokens of rows."""
    return (
        "SELECT DISTINCT r.n, r.audience, CAST(w.word AS int) AS word "
        f"FROM {index.rows} AS r JOIN {index.name}_sequences AS s ON s.n = r.n, "
        "unnest(string_to_array(s.title || s.heading || s.body || s.identifiers, ' ')) AS w(word) "
        f"WHERE {where} AND w.word <> ''"
    )
