"""Notices that people received automatically, in people.db, so that nobody gets one twice.

`subject` is their subject: the normalised key of a term that now has a meaning.
"""

from __future__ import annotations

from argot.clock import timestamp
from argot.databases import Database

_CLAIM = "INSERT INTO notices (person, thread, subject, told_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"


class Notices:
    """The table of notices."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, person: str, thread: str, subject: str) -> bool:
        """Claim a notice for this person in this thread; return True once, and the caller must give it."""
        # One statement both checks and records: of two concurrent calls, only one inserts the row.
        return self._database.write(_CLAIM, person, thread, subject, timestamp()) == 1

    def forget(self, person: str, thread: str) -> None:
        """Delete the notices of a deleted thread."""
        self._database.write("DELETE FROM notices WHERE person = ? AND thread = ?", person, thread)
