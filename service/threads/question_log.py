"""Outcome of each question, as one row of measures in threads.db, for the managers of the knowledge base.

A row does not contain the asker. It contains the thread, so the words of an unanswered question belong to its asker:
when the thread is deleted, by anyone, a trigger removes words, vector, thread and time of day from the row. The rest
counts one question on a day.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argot.service.threads.thread_store import Threads

UNANSWERED = ("abstained", "query_miss")
FAILED = ("error", "stopped")
WEAK = "weak"
"""The recorded status of an answer with a line that says that it may not be what was meant."""

# If the thread was deleted in the meantime, no words are stored.
_NOTE = """
INSERT INTO asked (
    thread, turn, at, day, surface, status, asked_back, seconds, first_word, calls, failed_calls, sent, received,
    question, terms, embedder, vector
)
SELECT
    t.id, CASE WHEN t.id IS NULL THEN NULL ELSE CAST(:turn AS INTEGER) END,
    CASE WHEN t.id IS NULL THEN substr(:at, 1, 10) ELSE :at END, substr(:at, 1, 10), :surface, :status, :asked_back,
    :seconds, CAST(:first_word AS DOUBLE PRECISION), :calls, :failed_calls, :sent, :received,
    CASE WHEN t.id IS NULL THEN '' ELSE :question END, CASE WHEN t.id IS NULL THEN '[]' ELSE :terms END,
    CASE WHEN t.id IS NULL THEN '' ELSE :embedder END, CASE WHEN t.id IS NULL THEN NULL ELSE CAST(:vector AS BLOB) END
FROM (SELECT 1) AS one LEFT JOIN threads AS t ON t.id = :thread WHERE true
ON CONFLICT (thread, turn) DO UPDATE SET
    status = excluded.status,
    asked_back = CASE WHEN asked.asked_back = 1 THEN 1 ELSE excluded.asked_back END,
    seconds = asked.seconds + excluded.seconds, first_word = coalesce(asked.first_word, excluded.first_word),
    calls = excluded.calls, failed_calls = excluded.failed_calls, sent = excluded.sent, received = excluded.received,
    question = excluded.question, terms = excluded.terms, embedder = excluded.embedder, vector = excluded.vector
"""
_OF = """
SELECT thread, turn, at, surface, status, seconds, first_word, calls, question, terms FROM asked
WHERE thread IN (SELECT id FROM threads WHERE owner = ?) ORDER BY at, id
"""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question, as recorded when it has ended. `thread` empty: its conversation is not stored.

    `seconds`: to its end, `first_word`: to its first word. `calls`: to the language model, `failed_calls` of them
    failed; `sent`, `received`: tokens. The other fields are for questions without an answer: its words, the terms read
    in it, and its vector (float16) by the embedder of this fingerprint.
    """

    thread: str
    turn: int
    at: str
    surface: str
    status: str
    seconds: float
    first_word: float | None = None
    calls: int = 0
    failed_calls: int = 0
    sent: int = 0
    received: int = 0
    question: str = ""
    terms: Sequence[str] = ()
    embedder: str = ""
    vector: bytes | None = None


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """Record of one question of a person's, for them to read. `question` only if it had no answer."""

    thread: str
    turn: int
    at: str
    surface: str
    status: str
    seconds: float
    first_word: float | None
    calls: int
    question: str
    terms: list[str]


async def note_question(threads: Threads, question: AskedQuestion) -> None:
    """Record the outcome of a question; one that needed a choice and was then answered is one question."""
    row: dict[str, Any] = {name: getattr(question, name) for name in AskedQuestion.__slots__}
    row |= {"asked_back": int(question.status == "needs_choice"), "terms": json.dumps(list(question.terms))}
    # Not flushed: this row is not promised to anybody, and the checkpoints after it flush it.
    await threads.note(_NOTE, row)


async def list_kept_questions(threads: Threads, owner: str) -> list[KeptQuestion]:
    """Return the records of this person's questions, the oldest first."""
    rows = await threads.read(_OF, (owner,))
    names = KeptQuestion.__slots__
    return [KeptQuestion(**{**dict(zip(names, row, strict=True)), "terms": json.loads(row[-1])}) for row in rows]
