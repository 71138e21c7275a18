"""The table of `question_log.py`, a migration of threads.db."""

from __future__ import annotations

from argot.databases import PerEngine

_TABLE = """
CREATE TABLE asked (
    id INTEGER PRIMARY KEY,
    thread TEXT, turn INTEGER,
    at TEXT NOT NULL, day TEXT NOT NULL, surface TEXT NOT NULL, status TEXT NOT NULL, asked_back INTEGER NOT NULL,
    seconds REAL NOT NULL, first_word REAL,
    calls INTEGER NOT NULL, failed_calls INTEGER NOT NULL, sent INTEGER NOT NULL, received INTEGER NOT NULL,
    question TEXT NOT NULL DEFAULT '', terms TEXT NOT NULL DEFAULT '[]',
    embedder TEXT NOT NULL DEFAULT '', vector BLOB
);
CREATE UNIQUE INDEX asked_turns ON asked (thread, turn);
-- Holds all that is added up, so that no row with its words and vector is read for it.
CREATE INDEX asked_by_day ON asked (
    day, surface, status, asked_back, calls, failed_calls, sent, received, seconds, first_word
);
CREATE INDEX asked_in_words ON asked (day) WHERE question != '';
CREATE INDEX feedback_by_time ON feedback (at, value, shared);
"""
"""`day` and `at` are UTC. `thread` NULL: the conversation was never stored, or is erased. `first_word`: seconds; NULL:
none came. `sent`, `received`: tokens. Only for questions without an answer: `question`, its `terms` (JSON), and its
`vector` (float16) by `embedder`.
"""
_FORGET = """
    UPDATE asked SET thread = NULL, turn = NULL, at = day, question = '', terms = '[]', embedder = '', vector = NULL
    WHERE thread = OLD.id;
"""
ASKED = PerEngine(
    sqlite=f"{_TABLE} CREATE TRIGGER asked_no_more BEFORE DELETE ON threads BEGIN {_FORGET} END",
    postgresql=f"""{_TABLE}
CREATE FUNCTION forget_asked() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    {_FORGET}
    RETURN OLD;
END $$;
CREATE TRIGGER asked_no_more BEFORE DELETE ON threads FOR EACH ROW EXECUTE FUNCTION forget_asked()
""",
)
"""The table, and the trigger for deleted threads."""
