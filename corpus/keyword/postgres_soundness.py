"""Whether the keyword index on PostgreSQL agrees with the stored rows."""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

from argot.corpus.keyword.postgres_postings import (
    LONGEST_ROW,
    MOST_HELD,
    MOST_IN_TITLE,
    ROWS_AT_ONCE,
    TITLE_BITS,
    RowIndex,
    indexed_tokens,
    row_sequence,
)
from argot.databases import Connection


def postings_differ(connection: Connection, index: RowIndex) -> bool:
    """Whether an index does not agree with the stored rows. Reads everything."""
    said = (_POSTINGS, _ROWS_OF_WORDS, _TOTALS)
    if any(connection.execute(sql.format(name=index.name, rows=index.rows)).fetchone() for sql in said):
        return True
    ids = dict(map(tuple, connection.execute(f"SELECT token, id FROM {index.name}_vocabulary")))
    numbers = [n for (n,) in connection.execute(f"SELECT n FROM {index.rows} ORDER BY n")]
    batches = (numbers[start : start + ROWS_AT_ONCE] for start in range(0, len(numbers), ROWS_AT_ONCE))
    return any(_sequences_differ(connection, index, ids, batch) for batch in batches)


def _sequences_differ(connection: Connection, index: RowIndex, ids: dict[str, int], numbers: list[int]) -> bool:
    """Whether these rows have other tokens than the index knows of them."""
    rows = connection.execute(
        f"SELECT s.title, s.heading, s.body, s.identifiers, {index.columns} "
        f"FROM {index.rows} AS r LEFT JOIN {index.name}_sequences AS s ON s.n = r.n WHERE r.n = ANY(CAST(? AS int[]))",
        (numbers,),
    ).fetchall()
    for row, columns in zip(rows, indexed_tokens([tuple(row)[4:] for row in rows]), strict=True):
        unknown = any(token not in ids for column in columns for token in column)
        if unknown or tuple(row)[:4] != tuple(row_sequence(column, ids) for column in columns):
            return True
    return False


_COUNTED = f"""
    SELECT CAST(w.word AS int) AS word, s.n, r.audience, CAST(
        least(sum(w.held), {MOST_HELD}) * {2**TITLE_BITS} + least(sum(w.title), {MOST_IN_TITLE}) AS int) AS counts,
        least(s.length, {LONGEST_ROW}) AS length
    FROM {{rows}} AS r JOIN {{name}}_sequences AS s ON s.n = r.n, LATERAL (
        SELECT unnest(string_to_array(s.title, ' ')), 1, 0
        UNION ALL SELECT unnest(string_to_array(s.heading, ' ')), 0, 2
        UNION ALL SELECT unnest(string_to_array(s.body || s.identifiers, ' ')), 0, 1
    ) AS w(word, title, held)
    WHERE w.word <> '' GROUP BY w.word, s.n, r.audience, s.length
"""
_STORED = "SELECT word, n, audience, counts, length FROM {name}_postings"
_POSTINGS = f"(({_COUNTED}) EXCEPT ({_STORED})) UNION ALL (({_STORED}) EXCEPT ({_COUNTED})) LIMIT 1"
_ROWS_OF_WORDS = """
    SELECT 1 FROM {name}_vocabulary AS v FULL JOIN (
        SELECT word, count(*) AS rows FROM {name}_postings GROUP BY word
    ) AS p ON p.word = v.id
    WHERE v.rows IS DISTINCT FROM p.rows LIMIT 1
"""
_TOTALS = """
    SELECT 1 FROM (SELECT count(*) AS rows, coalesce(sum(length), 0) AS tokens FROM {name}_sequences) AS s
    LEFT JOIN keyword_totals AS t ON t.name = '{name}'
    WHERE coalesce(t.rows, 0) <> s.rows OR coalesce(t.tokens, 0) <> s.tokens
"""
