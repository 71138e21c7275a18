"""Terms that questions used and nobody had defined: what a glossary's managers work through."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from argot.errors import InvalidInput
from argot.jargon_db.changes import is_storable
from argot.jargon_db.normalise import normalise
from argot.jargon_db.rows import select
from argot.jargon_db.statements import statement
from argot.types import Principal


@dataclass(frozen=True, slots=True)
class MissRecord:
    """An unknown term: how many questions met it, first and last time (ISO, UTC), and the questions, newest first."""

    term: str
    count: int
    first: str
    last: str
    questions: tuple[str, ...]


def record(conn: sqlite3.Connection, term: str, principal: str, question: str, *, thread: str, now: str) -> None:
    """Idempotent for one (term, thread, question), because a graph's node may run twice.

    Raises:
        InvalidInput: the term is empty or cannot be stored.
    """
    key = normalise(term)
    if not key or not all(map(is_storable, (term, principal, question, thread))):
        raise InvalidInput(f"{term!r} cannot be noted as an unknown term.")
    conn.execute("INSERT INTO misses (term, key) VALUES (?, ?) ON CONFLICT (key) DO NOTHING", (term.strip(), key))
    conn.execute(
        "INSERT INTO miss_questions (miss, question, principal, thread, asked) "
        "SELECT id, ?, ?, ?, ? FROM misses WHERE key = ? ON CONFLICT DO NOTHING",
        (question, principal, thread, now, key),
    )


def records(conn: sqlite3.Connection, principal: Principal) -> list[MissRecord]:
    """The misses in questions the principal may read, most asked first.

    A question belongs to its asker; the term it missed is a part of it. Who sees all sees all, everyone else their own.
    """
    asked: dict[str, list[tuple[str, str, str]]] = {}
    for row in select(conn, statement("misses"), {}):
        if principal.sees_all or row["principal"] == principal.name:
            asked.setdefault(row["key"], []).append((row["term"], row["question"], row["asked"]))
    found = [
        MissRecord(
            term=rows[0][0],
            count=len(rows),
            first=rows[0][2],
            last=rows[-1][2],
            questions=tuple(dict.fromkeys(question for _, question, _ in reversed(rows))),
        )
        for rows in asked.values()
    ]
    return sorted(found, key=lambda miss: (-miss.count, miss.term))
