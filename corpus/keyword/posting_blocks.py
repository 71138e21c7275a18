"""Postings for BM25 on either engine: for each word the rows that contain it, in blocks.

Each index has a vocabulary (the number of rows with each token) and blocks of 4,096 rows. A block stores one value per
word with all its postings: the row, how often the word occurs in it, and the row's length. A word of 300,000 rows is
therefore read as 250 values, and scored by numpy. Everything changes in the transaction that changes the rows. The
tables are in `argot.corpus.keyword_tables`.
"""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argot.corpus.keyword.bulk_rows import insert_many
from argot.corpus.keyword.word_tokens import ColumnTokens, tokenize_columns
from argot.corpus.vector_ids import VectorKind
from argot.databases import Connection


@dataclass(frozen=True, slots=True)
class RowIndex:
    """An indexed table: a table of rows, the SQL of its searched columns, and the prefix of Argot's tables."""

    name: str
    rows: str
    columns: str


INDEXES: dict[VectorKind, RowIndex] = {
    "passage": RowIndex("passage", "passages", "r.title, r.heading, coalesce(r.folded, r.text), r.identifiers"),
    "derived": RowIndex("derived", "derived", "'', '', coalesce(r.folded, r.text), r.identifiers"),
    "triple": RowIndex("triple", "triples", "'', '', coalesce(r.folded, r.text), r.identifiers"),
}

BLOCK_BITS = 12
BLOCK_ROWS = 1 << BLOCK_BITS
TITLE_BITS = 3
"""Bits of a posting's `counts` for the occurrences in the title; the higher ones count the others."""
MAX_TITLE_COUNT = (1 << TITLE_BITS) - 1
MAX_HELD_COUNT = (1 << 16 - TITLE_BITS) - 1
MAX_ROW_TOKENS = (1 << 16) - 1
"""Maximum of the number. BM25 hardly distinguishes that many occurrences from more, and no passage is so long."""

POSTING = np.dtype([("row", "<u2"), ("counts", "<u2"), ("length", "<u2")])
"""`row`: its position in the block. `counts`: headings count double. `length`: tokens of the row."""
AUDIENCE = np.dtype("<u4")
"""Tokens of a row; 0: there is no such row."""

MATCH_DOCUMENT = "r.document = :value"


def match_ids(ids: Iterable[str]) -> tuple[str, str]:
    """Return the condition for rows of these ids, and its value."""
    return "r.id IN (SELECT value FROM json_each(:value))", json.dumps(list(ids))


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """A row in the index. `columns`: the tokens of title, headings, text and identifiers."""

    n: int
    audience: int
    columns: ColumnTokens

    @property
    def length(self) -> int:
        return sum(map(len, self.columns))


def collect_tokens(rows: Iterable[IndexedRow]) -> set[str]:
    return set().union(*(column for row in rows for column in row.columns))


def mark_identifier(token: str) -> str:
    # No token of a text has a symbol, so those of the two kinds cannot be confused.
    return f"={token}"


# -- changes ---------------------------------------------------------------------------------------------------------


def insert_postings(connection: Connection, index: RowIndex, where: str, value: object) -> tuple[list[IndexedRow], Ids]:
    """Index the rows that a condition selects. Return them, and the ids of their tokens."""
    rows = read_rows(connection, index, where, value)
    if not rows:
        return [], {}
    _add_totals(connection, index, len(rows), sum(row.length for row in rows))
    ids = _add_to_vocabulary(connection, index, collect_tokens(rows))
    parts = build_postings(rows, ids)
    _count_words(connection, index, ids, count_rows_of_words(parts))
    _put_blocks(
        connection,
        index,
        [(*key, postings) for key, postings in parts.items()],
        # The order of postings is irrelevant, so that new ones are appended.
        f"CAST({index.name}_blocks.postings || excluded.postings AS BLOB)",
    )
    _put_audiences(connection, index, {row.n: row.audience for row in rows})
    return rows, ids


def delete_postings(connection: Connection, index: RowIndex, where: str, value: object) -> list[IndexedRow]:
    """Remove the rows, which must still be in their table, unchanged. Return them."""
    rows = read_rows(connection, index, where, value)
    if not rows:
        return []
    _add_totals(connection, index, -len(rows), -sum(row.length for row in rows))
    ids = _read_ids(connection, index, collect_tokens(rows))
    parts = build_postings(rows, ids)
    words: dict[int, list[int]] = defaultdict(list)
    for block, word in parts:
        words[block].append(word)
    for block, some in words.items():
        gone = np.array([row.n % BLOCK_ROWS for row in rows if row.n >> BLOCK_BITS == block])
        _take_out(connection, index, block, some, gone)
    _put_audiences(connection, index, dict.fromkeys((row.n for row in rows), 0))
    _count_words(connection, index, ids, {word: -count for word, count in count_rows_of_words(parts).items()})
    # The words of removed rows are deleted, too.
    connection.execute(f"DELETE FROM {index.name}_vocabulary WHERE rows <= 0")
    return rows


def relabel_postings(connection: Connection, index: RowIndex, document: str) -> None:
    """Record the present audience of a document's rows."""
    rows = connection.execute(f"SELECT r.n, r.audience FROM {index.rows} AS r WHERE r.document = ?", (document,))
    _put_audiences(connection, index, dict(map(tuple, rows)))


def rebuild_postings(connection: Connection) -> None:
    """Rebuild all indexes from the stored rows, block by block, so that no value is changed twice."""
    for index in INDEXES.values():
        clear_postings(connection, index)
        for block in list_blocks(connection, index):
            insert_postings(connection, index, *match_block(block))


def clear_postings(connection: Connection, index: RowIndex) -> None:
    for table in ("vocabulary", "blocks", "readers"):
        connection.execute(f"DELETE FROM {index.name}_{table}")
    connection.execute("DELETE FROM keyword_totals WHERE name = ?", (index.name,))


def list_blocks(connection: Connection, index: RowIndex) -> list[int]:
    """Return the numbers of all blocks that the stored rows fill."""
    last = connection.execute(f"SELECT max(n) FROM {index.rows}").fetchone()[0]
    return [] if last is None else list(range((last >> BLOCK_BITS) + 1))


def match_block(block: int) -> tuple[str, int]:
    """Return the condition for rows of a block, and its value."""
    return f"r.n >= :value * {BLOCK_ROWS} AND r.n < (:value + 1) * {BLOCK_ROWS}", block


def read_rows(connection: Connection, index: RowIndex, where: str, value: object) -> list[IndexedRow]:
    rows = connection.execute(
        f"SELECT r.n, r.audience, {index.columns} FROM {index.rows} AS r WHERE {where} ORDER BY r.n", {"value": value}
    ).fetchall()
    tokens = tokenize_columns([tuple(row)[2:] for row in rows])
    return [
        IndexedRow(row[0], row[1], (*columns[:3], tuple(map(mark_identifier, columns[3]))))
        for row, columns in zip(rows, tokens, strict=True)
    ]


Ids = dict[str, int]
"""Tokens, with their ids in the vocabulary."""


_COUNTED = (1, 2 << TITLE_BITS, 1 << TITLE_BITS, 1 << TITLE_BITS)
"""Increments of a posting's counts by a token in each of the columns, for small numbers."""


def build_postings(rows: Sequence[IndexedRow], ids: Mapping[str, int]) -> dict[tuple[int, int], bytes]:
    """Build the postings by block and word, in this order."""
    words, places, added = [], [], []
    for column, weight in enumerate(_COUNTED):
        tokens = [ids[token] for row in rows for token in row.columns[column]]
        words.append(np.array(tokens, np.int64))
        places.append(np.repeat(np.arange(len(rows)), [len(row.columns[column]) for row in rows]))
        added.append(np.full(len(tokens), weight, np.int64))
    numbers = np.array([row.n for row in rows], np.int64)
    word, place, weight_of = map(np.concatenate, (words, places, added))
    block = numbers[place] >> BLOCK_BITS
    order = np.lexsort((place, word, block))
    word, place, block, weight_of = word[order], place[order], block[order], weight_of[order]
    # All tokens of a word in a row are adjacent now, and all rows of a word in a block.
    begins = _find_changes(block, word, place)
    counts = _pack(np.where(weight_of == 1, weight_of, 0), np.where(weight_of == 1, 0, weight_of), begins)
    word, place, block = word[begins], place[begins], block[begins]
    lengths = np.minimum(np.array([row.length for row in rows]), MAX_ROW_TOKENS)
    postings = np.empty(len(begins), POSTING)
    postings["row"], postings["counts"], postings["length"] = numbers[place] % BLOCK_ROWS, counts, lengths[place]
    cuts, written = _find_changes(block, word), postings.tobytes()
    ends = [*cuts[1:].tolist(), len(postings)]
    size = POSTING.itemsize
    keys = zip(block[cuts].tolist(), word[cuts].tolist(), strict=True)
    return {key: written[begin * size : end * size] for key, begin, end in zip(keys, cuts.tolist(), ends, strict=True)}


def count_rows_of_words(parts: Mapping[tuple[int, int], bytes]) -> dict[int, int]:
    """Count the rows that hold each word."""
    counted: dict[int, int] = defaultdict(int)
    for (_, word), postings in parts.items():
        counted[word] += len(postings) // POSTING.itemsize
    return counted


def _find_changes(*columns: NDArray[Any]) -> NDArray[np.intp]:
    """Return the positions at which any of the columns differs from the previous one."""
    differs = np.zeros(len(columns[0]), np.bool_)
    differs[:1] = True
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(differs)


def _pack(in_title: NDArray[Any], held: NDArray[Any], begins: NDArray[np.intp]) -> NDArray[Any]:
    if not len(begins):
        return begins
    titles = np.minimum(np.add.reduceat(in_title, begins), MAX_TITLE_COUNT)
    rest = np.minimum(np.add.reduceat(held, begins), MAX_HELD_COUNT << TITLE_BITS)
    packed: NDArray[Any] = titles | rest
    return packed


# -- parts -----------------------------------------------------------------------------------------------------------


def _add_totals(connection: Connection, index: RowIndex, rows: int, tokens: int) -> None:
    # First in each change of an index: it makes writers wait for each other here, where they cannot deadlock.
    connection.execute(
        "INSERT INTO keyword_totals (name, rows, tokens) VALUES (?, ?, ?) ON CONFLICT (name) "
        "DO UPDATE SET rows = keyword_totals.rows + excluded.rows, tokens = keyword_totals.tokens + excluded.tokens",
        (index.name, rows, tokens),
    )


def _add_to_vocabulary(connection: Connection, index: RowIndex, tokens: AbstractSet[str]) -> Ids:
    """Return the ids of these tokens; a new one gets one, with no row yet."""
    ids = _read_ids(connection, index, tokens)
    fresh = [(token, 0) for token in sorted(tokens - ids.keys())]
    insert_many(connection, f"{index.name}_vocabulary", {"token": "text", "rows": "bigint"}, fresh)
    return ids | _read_ids(connection, index, [token for token, _ in fresh]) if fresh else ids


def _count_words(connection: Connection, index: RowIndex, ids: Ids, added: Mapping[int, int]) -> None:
    """Add to the numbers of rows that contain words."""
    insert_many(
        connection,
        f"{index.name}_vocabulary",
        {"id": "bigint", "token": "text", "rows": "bigint"},
        [(id_, token, added[id_]) for token, id_ in sorted(ids.items(), key=itemgetter(1))],
        f"(id) DO UPDATE SET rows = {index.name}_vocabulary.rows + excluded.rows",
    )


def _put_blocks(
    connection: Connection, index: RowIndex, blocks: Sequence[tuple[int, int, bytes]], where_known: str
) -> None:
    insert_many(
        connection,
        f"{index.name}_blocks",
        {"block": "bigint", "word": "bigint", "postings": "bytea"},
        blocks,
        f"(block, word) DO UPDATE SET postings = {where_known}",
    )


def _read_ids(connection: Connection, index: RowIndex, tokens: Iterable[str]) -> Ids:
    found = connection.execute(
        f"SELECT token, id FROM {index.name}_vocabulary WHERE token IN (SELECT value FROM json_each(?))",
        (json.dumps(list(tokens)),),
    )
    return dict(map(tuple, found))


def _take_out(connection: Connection, index: RowIndex, block: int, words: Iterable[int], gone: NDArray[Any]) -> None:
    listed = json.dumps(list(words))
    found = connection.execute(
        f"SELECT word, postings FROM {index.name}_blocks WHERE block = ? AND {_WORDS}", (block, listed)
    ).fetchall()
    left, empty = [], []
    for word, postings in found:
        known = np.frombuffer(postings, POSTING)
        kept = known[~np.isin(known["row"], gone)]
        if len(kept):
            left.append((block, word, kept.tobytes()))
        else:
            empty.append(word)
    _put_blocks(connection, index, left, "excluded.postings")
    connection.execute(f"DELETE FROM {index.name}_blocks WHERE block = ? AND {_WORDS}", (block, json.dumps(empty)))


_WORDS = "word IN (SELECT CAST(value AS INTEGER) FROM json_each(?))"


def _put_audiences(connection: Connection, index: RowIndex, audiences: Mapping[int, int]) -> None:
    """Store the audiences by the numbers of rows; 0: the row is deleted."""
    blocks: dict[int, list[int]] = defaultdict(list)
    for n in audiences:
        blocks[n >> BLOCK_BITS].append(n)
    for block, numbers in blocks.items():
        row = connection.execute(f"SELECT audiences FROM {index.name}_readers WHERE block = ?", (block,)).fetchone()
        known = np.zeros(BLOCK_ROWS, AUDIENCE) if row is None else np.frombuffer(row[0], AUDIENCE).copy()
        known[np.array(numbers) % BLOCK_ROWS] = [audiences[n] for n in numbers]
        if known.any():
            connection.execute(
                f"INSERT INTO {index.name}_readers (block, audiences) VALUES (?, ?) "
                "ON CONFLICT (block) DO UPDATE SET audiences = excluded.audiences",
                (block, known.tobytes()),
            )
        else:
            connection.execute(f"DELETE FROM {index.name}_readers WHERE block = ?", (block,))
