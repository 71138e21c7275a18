"""Sessions: who is signed in, from where and for how long.

A session is a token in a cookie. It ends after some time without use, at the latest after a fixed time, and whenever
somebody ends it.

Times are seconds since 1970 by the machine's clock, which may be wrong: a session that seems to begin in the future is
treated as beginning now, so that none outlives its time by as much as the clock was ahead.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from argot.databases import Connection, Database, Row
from argot.service.identity.secret_tokens import hash_token, make_token

HOUR = 3600
DAY = 24 * HOUR
MOST_PER_USER = 50
"""Maximum sessions of one person; the least recently used one is removed."""
NOTED_SECONDS = 300
"""A use is recorded at most this often."""
SKEW_SECONDS = 60
"""Seconds by which a session may seem to begin in the future before the clock counts as wrong."""
KEPT_SECONDS = 7 * DAY
"""Expired sessions are deleted this much later, because the clock may be wrong today."""
MAX_AGENT = 200
FRAME_PREFIX = "frame."
"""The beginning of the token of a session in a frame of another site: it is hashed with the rest, so that no such token
becomes one of an ordinary session.
"""


@dataclass(frozen=True, slots=True)
class Session:
    """`id` identifies it in lists and commands, and cannot be used for signing in."""

    id: str
    user: str
    created_at: int
    seen_at: int
    address: str
    agent: str


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Seconds: how long a session lives unused, and at most."""

    idle: float = 72 * HOUR
    most: float = 30 * DAY


class Sessions:
    """The sessions in people.db.

    Args:
        database: people.db.
        ended: called with the person's name and the ids of ended sessions.
    """

    def __init__(
        self,
        database: Database,
        *,
        ended: Callable[[str, frozenset[str]], None],
        lifetimes: Lifetimes = Lifetimes(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._began = database.dialect.least("created_at", "?")
        self.lifetimes = lifetimes
        self.clock = clock
        self._ended = ended

    def begin(self, user: str, address: str = "", agent: str = "", *, framed: bool = False) -> str:
        """Begin a new session of this person; return its token, which is shown only once."""
        token, at = f"{FRAME_PREFIX * framed}{make_token()}", int(self.clock())
        with self._database.transaction() as connection:
            self._forget(connection, user, at)
            connection.execute(
                "INSERT INTO sessions (hash, id, user, created_at, seen_at, address, agent)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (hash_token(token), f"s{secrets.token_hex(6)}", user, at, at, address, agent[:MAX_AGENT]),
            )
        return token

    def find(self, token: str) -> Session | None:
        """Return the valid session of this token. Quick enough (some 50 µs) for the event loop."""
        if not token:
            return None
        # Looked up by its hash, so that the time of the comparison reveals nothing of the token.
        row = self._database.rows("SELECT * FROM sessions WHERE hash = ?", hash_token(token))
        return self._read_living(row[0]) if row else None

    def find_session(self, session_id: str) -> Session | None:
        """Return the valid session with this id."""
        row = self._database.rows("SELECT * FROM sessions WHERE id = ?", session_id)
        return self._read_living(row[0]) if row else None

    def of(self, user: str) -> list[Session]:
        """Return the person's valid sessions, the most recently used first."""
        rows = self._database.rows("SELECT * FROM sessions WHERE user = ? ORDER BY seen_at DESC, id", user)
        return [found for row in rows if (found := self._read_living(row))]

    def due(self, session: Session) -> bool:
        """Return whether the present use of the session should be recorded."""
        # `abs`: a clock that was ahead when the use was recorded must not stop the recording.
        return abs(self.clock() - session.seen_at) > NOTED_SECONDS

    def note(self, session: Session) -> None:
        """Record that it is in use, and restart it if the clock was ahead when it began."""
        at = int(self.clock())
        # The minimum: a beginning in the future would let the session outlive its time.
        sql = f"UPDATE sessions SET seen_at = ?, created_at = {self._began} WHERE id = ?"  # noqa: S608
        self._database.write(sql, at, at, session.id)

    def end(self, user: str, *, only: str | None = None) -> int:
        """End the person's sessions, or only the one with this id; return how many there were."""
        rows = self._database.write_returning(
            "DELETE FROM sessions WHERE user = ? AND (CAST(? AS TEXT) IS NULL OR id = ?) RETURNING id", user, only, only
        )
        gone = frozenset(str(row["id"]) for row in rows)
        if gone:
            self._ended(user, gone)
        return len(gone)

    def _read_living(self, row: Row) -> Session | None:
        now = self.clock()
        session = Session(*(row[name] for name in Session.__slots__))
        # Expired ones are only skipped here; `_forget` deletes them later, because the clock may be wrong today.
        if now - session.seen_at > self.lifetimes.idle or now - session.created_at > self.lifetimes.most:
            return None
        if session.created_at > now + SKEW_SECONDS:
            self.note(session)
        return session

    def _forget(self, connection: Connection, user: str, at: int) -> None:
        """Delete sessions that expired long ago, and the oldest of a person with very many."""
        idle, most = at - self.lifetimes.idle - KEPT_SECONDS, at - self.lifetimes.most - KEPT_SECONDS
        # Done at sign-in, so that it needs no job of its own.
        connection.execute("DELETE FROM sessions WHERE seen_at < ? OR created_at < ?", (idle, most))
        connection.execute(
            "DELETE FROM sessions WHERE user = ? AND id NOT IN"
            " (SELECT id FROM sessions WHERE user = ? ORDER BY seen_at DESC LIMIT ?)",
            # One fewer than the maximum, for the one that is about to begin.
            (user, user, MOST_PER_USER - 1),
        )
