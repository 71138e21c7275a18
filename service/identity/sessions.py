"""Sessions: who is signed in, from where and for how long.

A session is a token in a cookie. It ends when it was not used for a while, at the latest after a fixed time, and
whenever somebody ends it.

Times are seconds since 1970 by the machine's clock, which may be wrong: a session that seems to begin later than now
is taken to begin now, so that none outlives its time by as much as the clock was ahead.
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
"""Sessions of one person; the one that was not used for longest makes room."""
NOTED_SECONDS = 300
"""A use is written down at most this often."""
SKEW_SECONDS = 60
"""A session may seem to begin this much later than now before the clock is thought to have been wrong."""
KEPT_SECONDS = 7 * DAY
"""Sessions that ran out are forgotten so much later: the clock may be wrong today."""
MAX_AGENT = 200


@dataclass(frozen=True, slots=True)
class Session:
    """`id` names it in lists and commands, and is of no use for signing in."""

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
        ended: called with the person's name and the ids of sessions that were ended.
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

    def begin(self, user: str, address: str = "", agent: str = "") -> str:
        """A new session of this person; the token that proves it, which is told this once."""
        token, at = make_token(), int(self.clock())
        with self._database.transaction() as connection:
            self._forget(connection, user, at)
            connection.execute(
                "INSERT INTO sessions (hash, id, user, created_at, seen_at, address, agent)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (hash_token(token), f"s{secrets.token_hex(6)}", user, at, at, address, agent[:MAX_AGENT]),
            )
        return token

    def find(self, token: str) -> Session | None:
        """The living session that this token proves. Quick enough (some 50 µs) for the event loop."""
        if not token:
            return None
        # Looked up by its hash: how long a comparison takes tells nothing of the token.
        row = self._database.rows("SELECT * FROM sessions WHERE hash = ?", hash_token(token))
        return self._read_living(row[0]) if row else None

    def find_session(self, session_id: str) -> Session | None:
        """The living session with this id."""
        row = self._database.rows("SELECT * FROM sessions WHERE id = ?", session_id)
        return self._read_living(row[0]) if row else None

    def of(self, user: str) -> list[Session]:
        """The person's living sessions, the last used first."""
        rows = self._database.rows("SELECT * FROM sessions WHERE user = ? ORDER BY seen_at DESC, id", user)
        return [found for row in rows if (found := self._read_living(row))]

    def due(self, session: Session) -> bool:
        """Return whether the present use of the session should be noted."""
        # `abs`: a clock that was ahead when the use was noted must not stop the noting.
        return abs(self.clock() - session.seen_at) > NOTED_SECONDS

    def note(self, session: Session) -> None:
        """Write down that it is in use, and begin it anew if the clock was ahead when it began."""
        at = int(self.clock())
        # The least: a beginning in the future would let the session outlive its time.
        sql = f"UPDATE sessions SET seen_at = ?, created_at = {self._began} WHERE id = ?"  # noqa: S608
        self._database.write(sql, at, at, session.id)

    def end(self, user: str, *, only: str | None = None) -> int:
        """End the person's sessions, or only the one with this id; how many there were."""
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
        # What has run out is only passed over here; `_forget` drops it later, for the clock may be wrong today.
        if now - session.seen_at > self.lifetimes.idle or now - session.created_at > self.lifetimes.most:
            return None
        if session.created_at > now + SKEW_SECONDS:
            self.note(session)
        return session

    def _forget(self, connection: Connection, user: str, at: int) -> None:
        """Drop what ran out long ago, and the oldest of somebody who has very many."""
        idle, most = at - self.lifetimes.idle - KEPT_SECONDS, at - self.lifetimes.most - KEPT_SECONDS
        # When somebody signs in, so that it takes no job of its own.
        connection.execute("DELETE FROM sessions WHERE seen_at < ? OR created_at < ?", (idle, most))
        connection.execute(
            "DELETE FROM sessions WHERE user = ? AND id NOT IN"
            " (SELECT id FROM sessions WHERE user = ? ORDER BY seen_at DESC LIMIT ?)",
            # One fewer than the most, for the one that is about to begin.
            (user, user, MOST_PER_USER - 1),
        )
