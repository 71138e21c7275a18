"""The data that the glossary stores about one person, to be exported or erased.

Questions that met an unknown term belong to their asker, and are deleted. The history is append-only and stays: its
person's name becomes `ERASED`, also on senses and proposals they owned, made or decided, and on answers that they
verified.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.writing_connection import WritingConnection

ERASED = "erased person"

_ASKED = """
SELECT misses.term, miss_questions.question, miss_questions.thread, miss_questions.asked, miss_questions.shared
FROM misses JOIN miss_questions ON miss_questions.miss = misses.id
WHERE miss_questions.principal = :name ORDER BY miss_questions.asked, miss_questions.id
"""
_CHANGED = "SELECT id, at, kind, name, why, rows FROM changes WHERE who = :name ORDER BY id"
_OWNED = (
    "SELECT id, spelling AS term, context_name AS context, expansion FROM sense_rows WHERE owner = :name ORDER BY id"
)
_PROPOSED = "SELECT id, term, expansion, status, created FROM proposals WHERE created_by = :name ORDER BY id"
_VOICES = """
SELECT proposals.term, proposal_voices.kind, proposal_voices.words, proposal_voices.at
FROM proposal_voices JOIN proposals ON proposals.id = proposal_voices.proposal
WHERE proposal_voices.person = :name ORDER BY proposal_voices.id
"""
_VERIFIED = "SELECT id, question, at FROM verified_answers WHERE owner = :name ORDER BY id"
_COMMENTED = "DELETE FROM proposal_voices WHERE person = :name AND kind = 'comment'"
_NAMES = (
    "UPDATE changes SET who = :erased WHERE who = :name",
    # In the JSON that `snapshots` writes: within a text of it, the quotation marks would be escaped.
    "UPDATE history SET before = replace(before, :owned, :unowned) WHERE replace(before, :owned, :unowned) <> before",
    "UPDATE history SET after = replace(after, :owned, :unowned) WHERE replace(after, :owned, :unowned) <> after",
    "UPDATE senses SET owner = :erased WHERE owner = :name",
    "UPDATE proposals SET created_by = :erased WHERE created_by = :name",
    "UPDATE proposals SET decided_by = :erased WHERE decided_by = :name",
    "UPDATE proposals SET reviewer = :erased WHERE reviewer = :name",
    "UPDATE proposal_voices SET person = :erased, words = '' WHERE person = :name",
    # Nobody vouches for these any more, so they are given to nobody (`argot.graph.verified_answers`).
    "UPDATE verified_answers SET owner = :erased, owner_name = '' WHERE owner = :name",
    "UPDATE misses SET dismissed_by = :erased WHERE dismissed_by = :name",
)
_TRIGGERS = (("changes", "changes_are_not_updated"), ("history", "history_is_not_updated"))
_UNWORDED = """
UPDATE miss_questions SET question = '', principal = '', thread = 'erased ' || id, shared = 0
WHERE (asked < :before OR thread = :thread) AND question != ''
"""


class Privacy:
    """One glossary's data about a person, to be exported or erased."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def kept_of(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """Return questions that met unknown terms, changes, senses owned, meanings proposed, what was said about
        proposals, and answers verified under this name.
        """
        asked = {
            "questions": _ASKED,
            "changes": _CHANGED,
            "owned_senses": _OWNED,
            "proposals": _PROPOSED,
            "voices": _VOICES,
            "verified_answers": _VERIFIED,
        }
        found = {key: [dict(row) for row in self._connections.select(sql, name=name)] for key, sql in asked.items()}
        return {key: rows for key, rows in found.items() if rows}

    def erase_person(self, names: Sequence[str]) -> int:
        """Delete the questions of these names, with terms that nobody else asked for, and replace the names by `ERASED`
        elsewhere; return how many questions there were.
        """
        gone = 0
        with self._connections.writing() as connection:
            # Within the transaction: if anything fails, the triggers are restored with everything else.
            with _unlock_history(connection):
                for name in names:
                    # Questions are deleted with their wording, which is personal; elsewhere only the name is.
                    gone += connection.execute("DELETE FROM miss_questions WHERE principal = ?", (name,)).rowcount
                    values = {
                        "name": name,
                        "erased": ERASED,
                        "owned": _build_owner_json(name),
                        "unowned": _build_owner_json(ERASED),
                    }
                    # Before their author's name is: a comment without an author is not kept.
                    connection.execute(_COMMENTED, {"name": name})
                    for sql in _NAMES:
                        connection.execute(sql, values)
            connection.execute(
                "DELETE FROM misses WHERE dismissed IS NULL AND id NOT IN (SELECT miss FROM miss_questions)"
            )
        return gone

    def erase_questions(self, before: str | None = None, *, thread: str | None = None) -> int:
        """Remove wording, asker and thread from questions that met an unknown term before this moment (ISO, UTC), or
        were asked in this thread.

        They still count: the queue shows how often a term was asked for.
        """
        with self._connections.writing() as connection:
            return connection.execute(_UNWORDED, {"before": before, "thread": thread}).rowcount

    def scrub(self) -> bool:
        """Remove deleted data from the write-ahead log as well; return False if a reader still uses an earlier
        state.
        """
        return self._connections.scrub()


def _build_owner_json(name: str) -> str:
    return f'"owner":{json.dumps(name)}'


@contextmanager
def _unlock_history(connection: WritingConnection) -> Iterator[None]:
    """Allow updates of the append-only tables within this transaction, by removing their triggers meanwhile."""
    if connection.dialect.engine == "postgresql":
        with _disable_triggers(connection):
            yield
        return
    sql = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%not_updated'"
    triggers = connection.execute(sql).fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    yield
    for _, text in triggers:
        connection.execute(text)


@contextmanager
def _disable_triggers(connection: WritingConnection) -> Iterator[None]:
    for table, trigger in _TRIGGERS:
        connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
    yield
    for table, trigger in _TRIGGERS:
        connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER {trigger}")
