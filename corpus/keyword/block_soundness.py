"""Checks that the blocks of a keyword index agree with the stored rows."""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from argot.corpus.keyword.posting_blocks import (
    AUDIENCE,
    BLOCK_ROWS,
    POSTING,
    IndexedRow,
    RowIndex,
    build_postings,
    collect_tokens,
    count_rows_of_words,
    list_blocks,
    match_block,
    read_rows,
)
from argot.databases import Connection


def has_differing_blocks(connection: Connection, index: RowIndex) -> bool:
    """Return whether an index does not agree with the stored rows. It reads everything, a block at a time."""
    words = {token: (id_, rows) for token, id_, rows in _read_vocabulary(connection, index)}
    ids = {token: id_ for token, (id_, _) in words.items()}
    counted: Counter[int] = Counter()
    rows = tokens = 0
    filled = list_blocks(connection, index)
    for block in filled:
        there = read_rows(connection, index, *match_block(block))
        rows, tokens = rows + len(there), tokens + sum(row.length for row in there)
        if not collect_tokens(there) <= ids.keys():
            return True
        wanted = build_postings(there, ids)
        counted.update(count_rows_of_words(wanted))
        if _has_differing_postings(connection, index, block, wanted) or _has_differing_audiences(
            connection, index, block, there
        ):
            return True
    if _has_others(connection, index, filled) or counted != dict(words.values()):
        return True
    totals = connection.execute("SELECT rows, tokens FROM keyword_totals WHERE name = ?", (index.name,)).fetchone()
    return (rows, tokens) != (tuple(totals) if totals else (0, 0))


def _read_vocabulary(connection: Connection, index: RowIndex) -> list[tuple[str, int, int]]:
    rows = connection.execute(f"SELECT token, id, rows FROM {index.name}_vocabulary")
    return [(token, id_, count) for token, id_, count in rows]


def _has_differing_postings(
    connection: Connection, index: RowIndex, block: int, postings: Mapping[tuple[int, int], bytes]
) -> bool:
    wanted = {word: some for (_, word), some in postings.items()}
    found = connection.execute(f"SELECT word, postings FROM {index.name}_blocks WHERE block = ?", (block,)).fetchall()
    there: dict[int, bytes] = dict(map(tuple, found))
    return there.keys() != wanted.keys() or any(
        _sort_postings(there[word]) != _sort_postings(wanted[word]) for word in wanted
    )


def _sort_postings(postings: bytes) -> bytes:
    if len(postings) % POSTING.itemsize:
        return postings
    return np.sort(np.frombuffer(postings, POSTING), order="row").tobytes()


def _has_differing_audiences(connection: Connection, index: RowIndex, block: int, rows: list[IndexedRow]) -> bool:
    wanted = np.zeros(BLOCK_ROWS, AUDIENCE)
    wanted[[row.n % BLOCK_ROWS for row in rows]] = [row.audience for row in rows]
    found = connection.execute(f"SELECT audiences FROM {index.name}_readers WHERE block = ?", (block,)).fetchone()
    return (wanted.tobytes() if rows else None) != (None if found is None else bytes(found[0]))


def _has_others(connection: Connection, index: RowIndex, filled: list[int]) -> bool:
    """Return whether there are blocks after the last row."""
    last = filled[-1] if filled else -1
    return any(
        connection.execute(f"SELECT 1 FROM {index.name}_{table} WHERE block > ? LIMIT 1", (last,)).fetchone()
        for table in ("blocks", "readers")
    )
