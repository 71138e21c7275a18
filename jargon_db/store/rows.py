"""Rows as values, and the one place that decides which rows a principal may read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from argot.databases import Connection, Dialect
from argot.jargon_db.store.details import load_details
from argot.types import Audience, Context, Principal, Sense

Row = dict[str, Any]

# Jumps from one audience to the next by the index, and so never reads every sense.
_DISTINCT = """
WITH RECURSIVE seen (mark) AS (
    SELECT min({mark}) FROM senses
    UNION ALL SELECT (SELECT min({mark}) FROM senses WHERE {mark} > seen.mark) FROM seen WHERE seen.mark IS NOT NULL
)
SELECT (SELECT audience FROM senses WHERE {mark} = seen.mark LIMIT 1) AS audience FROM seen WHERE mark IS NOT NULL
UNION SELECT audience FROM contexts
"""
# The indexed expression: on PostgreSQL an index accepts no long texts.
_DISTINCT_BY = {
    "sqlite": _DISTINCT.format(mark="audience"),
    "postgresql": _DISTINCT.format(mark="md5(audience)"),
}


def next_number(table: str) -> str:
    """Return SQL for the number of a new row of a table, one more than the highest, as SQLite itself counts: only one
    transaction writes at a time.
    """
    return f"(SELECT coalesce(max(id), 0) + 1 FROM {table})"  # noqa: S608


def select(conn: Connection, sql: str, values: dict[str, Any]) -> Iterator[Row]:
    """Return the rows of a statement, as dictionaries."""
    cursor = conn.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


def readable(rows: Iterable[Row], principal: Principal) -> Iterator[Row]:
    """Yield the sense rows whose sense and context the principal may both read. What is not approved is for those who
    manage the context, and for its owner.
    """
    return (
        row
        for row in rows
        if may_read(principal, row["audience"], row["context_audience"])
        and may_read_status(principal, row["status"], row["context_name"], row["owner"])
    )


def may_read_status(principal: Principal, status: str, context: str, owner: str) -> bool:
    """Return whether a sense with this status is for the principal, if its audience includes them."""
    return status == "approved" or principal.may_manage(context) or owner == principal.name


def may_read(principal: Principal, *audiences: str) -> bool:
    """Return whether all of these stored audiences include the principal."""
    return all(principal.may_read(read_audience(stored)) for stored in audiences)


def passable_audiences(conn: Connection, dialect: Dialect, principal: Principal) -> str | None:
    """Return the stored audiences that include the principal, as JSON, for SQL to exclude the others early; None:
    all.
    """
    # This does not open rows of a conversation: `may_read` decides afterwards.
    if principal.sees_all:
        return None
    stored = (row[0] for row in conn.execute(_DISTINCT_BY[dialect.engine]))
    return json.dumps([audience for audience in stored if may_read(principal, audience)])


def list_managed_contexts(principal: Principal) -> str | None:
    """Return the contexts of which the principal may read drafts, as JSON for SQL; None: all."""
    return None if principal.manages_all else json.dumps(sorted(principal.manages))


def read_sense(row: Row) -> Sense:
    return Sense(
        id=row["id"],
        term=row["spelling"],
        context=row["context_name"],
        expansion=row["expansion"],
        description=row["description"],
        notes=row["notes"],
        aliases=read_aliases(row["aliases"]),
        owner=row["owner"],
        status=row["status"],
        audience=read_audience(row["audience"]),
        version=row["version"],
        review_by=row["review_by"],
        # A row from before senses had details, which a migration may read, has none.
        **(load_details(kept) if (kept := row.get("details")) else {}),
    )


def read_context(row: Row) -> Context:
    """A row from before contexts had versions, which a migration may read, has version 1."""
    audience = read_audience(row["audience"])
    return Context(row["id"], row["name"], row["description"], row["contact"], audience, row.get("version", 1))


def read_aliases(stored: str) -> tuple[str, ...]:
    """Return spellings from the view's JSON list of hexadecimal UTF-8 (SQLite's JSON ends a text at NUL)."""
    if stored == "[]":
        return ()
    return tuple(bytes.fromhex(spelling).decode() for spelling in json.loads(stored))


@lru_cache(maxsize=4096)
def read_audience(stored: str) -> Audience:
    return frozenset(json.loads(stored))


@lru_cache(maxsize=4096)
def store_audience(audience: Audience) -> str:
    return json.dumps(sorted(audience))


def encode_keys(keys: Sequence[tuple[int, int, str]]) -> str:
    """Return the `:keys` of look_up.sql. Normalised keys contain neither NUL nor lone surrogates, which JSON in SQLite
    loses.
    """
    return encode_list([list(key) for key in keys])


def encode_list(texts: Sequence[Any]) -> str:
    """Return a list to be bound for `json_each`. Its characters are not escaped: PostgreSQL needs some escaped
    (`nul_texts`).
    """
    return json.dumps(texts, ensure_ascii=False)
