"""Whether the blocks of a keyword index agree with the stored rows."""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from argot.corpus.keyword.posting_blocks import (
    AUDIENCE,
    IN_BLOCK,
    POSTING,
    IndexedRow,
    RowIndex,
    blocks_of_rows,
    indexed_rows,
    of_block,
    postings_of,
    rows_of_words,
    tokens_in,
)
from argot.databases import Connection


def blocks_differ(connection: Connection, index: RowIndex) -> bool:
    """Whether an index does not agree with the stored rows. Reads everything, a block at a time."""
    words = {token: (id_, rows) for token, id_, rows in _vocabulary(connection, index)}
    ids = {token: id_ for token, (id_, _) in words.items()}
    counted: Counter[int] = Counter()
    rows = tokens = 0
    filled = blocks_of_rows(connection, index)
    for block in filled:
        there = indexed_rows(connection, index, *of_block(block))
        rows, tokens = rows + len(there), tokens + sum(row.length for row in there)
        if not tokens_in(there) <= ids.keys():
            return True
        wanted = postings_of(there, ids)
        counted.update(rows_of_words(wanted))
        if _postings_differ(connection, index, block, wanted) or _audiences_differ(connection, index, block, there):
            return True
    if _has_others(connection, index, filled) or counted != dict(words.values()):
        return True
    totals = connection.execute("SELECT rows, tokens FROM keyword_totals WHERE name = ?", (index.name,)).fetchone()
    return (rows, tokens) != (tuple(totals) if totals else (0, 0))


def _vocabulary(connection: Connection, index: RowIndex) -> list[tuple[str, int, int]]:
    rows = connection.execute(f"SELECT token, id, rows FROM {index.name}_vocabulary")
    return [(token, id_, count) for token, id_, count in rows]


def _postings_differ(
    connection: Connection, index: RowIndex, block: int, postings: Mapping[tuple[int, int], bytes]
) -> bool:
    wanted = {word: some for (_, word), some in postings.items()}
    found = connection.execute(f"SELECT word, postings FROM {index.name}_blocks WHERE block = ?", (block,)).fetchall()
    there: dict[int, bytes] = dict(map(tuple, found))
    return there.keys() != wanted.keys() or any(_sorted(there[word]) != _sorted(wanted[word]) for word in wanted)


def _sorted(postings: bytes) -> bytes:
    if len(postings) % POSTING.itemsize:
        return postings
    return np.sort(np.frombuffer(postings, POSTING), order="row").tobytes()


def _audiences_differ(connection: Connection, index: RowIndex, block: int, rows: list[IndexedRow]) -> bool:
    wanted = np.zeros(IN_BLOCK, AUDIENCE)
    wanted[[row.n % IN_BLOCK for row in rows]] = [row.audience for row in rows]
    found = connection.execute(f"SELECT audiences FROM {index.name}_readers WHERE block = ?", (block,)).fetchone()
    return (wanted.tobytes() if rows else None) != (None if found is None else bytes(found[0]))


def _has_others(connection: Connection, index: RowIndex, filled: list[int]) -> bool:
    """Whether something is kept of blocks behind the last row."""
    last = filled[-1] if filled else -1
    return any(
        connection.execute(f"SELECT 1 FROM {index.name}_{table} WHERE block > ? LIMIT 1", (last,)).fetchone()
        for table in ("blocks", "readers")
    )
