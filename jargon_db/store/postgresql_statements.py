"""The statements of a glossary in PostgreSQL's dialect: lists that are bound as JSON, and other table names."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = (
    # A list of texts as a table with the one column `value`.
    (re.compile(r"json_each\((:\w+)\) AS (\w+)"), r"jsonb_array_elements_text(CAST(\1 AS jsonb)) AS \2 (value)"),
    # A member of a list within such a list.
    (re.compile(r"json_extract\(([\w.]+), '\$\[(\d)\]'\)"), r"(CAST(\1 AS jsonb) ->> \2)"),
    # Tells SQLite the join order; PostgreSQL determines it.
    (re.compile(r"\bCROSS JOIN\b"), "JOIN"),
    (re.compile(r"\bmeta\b"), "glossary_meta"),
)


@lru_cache(maxsize=256)
def translate_statement(sql: str) -> str:
    """Return a statement in PostgreSQL's dialect. Its placeholders are unchanged."""
    for ours, theirs in _WORDS:
        sql = ours.sub(theirs, sql)
    return sql
