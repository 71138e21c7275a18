"""Keys for the API, in people.db: each belongs to one person, is shown once, stored as a hash, and can be revoked or
expire.

It begins with "argot_", by which scanners for leaked secrets can recognise it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from argot.clock import format_utc, timestamp, utc_now
from argot.databases import Database, Row
from argot.errors import InvalidInput, NotFound
from argot.service.identity.secret_tokens import hash_token, make_token

TABLES = """
    CREATE TABLE keys (
        id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, user TEXT NOT NULL, name TEXT NOT NULL,
        created_at TEXT NOT NULL, used_at TEXT, revoked_at TEXT
    );
    CREATE INDEX keys_by_user ON keys (user)
"""
ENDS = "ALTER TABLE keys ADD COLUMN ends_at TEXT"
PREFIX = "argot_"
LONGEST_NAME = 80
MOST_PER_USER = 50
"""Maximum valid keys of one person."""
MOST_DAYS = 3650
"""The longest validity of a key, in days; without one it is valid until revoked."""
NOTED_SECONDS = 60
"""A use is recorded at most this often."""


@dataclass(frozen=True, slots=True)
class Key:
    """`id` identifies it in lists and commands, and grants no access. The key grants access until it is revoked or
    expires.

    Times are UTC, ISO 8601; `ends_at` None: it does not expire.
    """

    id: str
    user: str
    name: str
    created_at: str
    used_at: str | None = None
    revoked_at: str | None = None
    ends_at: str | None = None

    @property
    def has_ended(self) -> bool:
        return self.ends_at is not None and datetime.fromisoformat(self.ends_at) <= utc_now()


class Keys:
    """The table of keys.

    Args:
        database: people.db.
        ended: called with the person's name and the ids of revoked keys.
    """

    def __init__(
        self,
        database: Database,
        *,
        ended: Callable[[str, frozenset[str]], None],
    ) -> None:
        self._database = database
        self._ended = ended

    def make(self, user: str, name: str, days: int | None = None) -> tuple[Key, str]:
        """Create a new key of this person; return it and the secret, which is shown only once.

        Args:
            days: until it expires; None: valid until revoked.

        Raises:
            InvalidInput: the name is empty or too long, the days are too few or many, or the person has too many keys.
        """
        # On one line, because lists show it.
        name = " ".join(name.split())
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise InvalidInput(f"Give the key a name of 1 to {LONGEST_NAME} printable characters: what will use it.")
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise InvalidInput(
                f"A key can end after 1 to {MOST_DAYS} days, not after {days}. Without a number of days it does not "
                "end."
            )
        token = PREFIX + make_token()
        key = Key(f"k{secrets.token_hex(6)}", user, name, timestamp(), ends_at=_add_days(days))
        # Count and insert in one transaction, so that two concurrent calls cannot exceed the limit.
        with self._database.transaction() as connection:
            living = connection.execute(
                "SELECT count(*) FROM keys WHERE user = ? AND revoked_at IS NULL AND (ends_at IS NULL OR ends_at > ?)",
                (user, key.created_at),
            )
            if living.fetchone()[0] >= MOST_PER_USER:
                raise InvalidInput(f"{user} has {MOST_PER_USER} keys, the most there can be. Revoke one first.")
            connection.execute(
                "INSERT INTO keys (id, hash, user, name, created_at, ends_at) VALUES (?, ?, ?, ?, ?, ?)",
                (key.id, hash_token(token), user, name, key.created_at, key.ends_at),
            )
        return key, token

    def find(self, token: str) -> Key | None:
        """Return the key with this secret, unless it is revoked; it may have expired. Takes some 50 µs: suitable for
        the event loop.
        """
        # Other bearer tokens cost no look-up in the store.
        if not token.startswith(PREFIX):
            return None
        rows = self._database.rows("SELECT * FROM keys WHERE hash = ? AND revoked_at IS NULL", hash_token(token))
        return _read_key(rows[0]) if rows else None

    def of(self, user: str | None = None) -> list[Key]:
        """Return the unrevoked keys of a person, or of everybody, the newest first."""
        rows = self._database.rows(
            "SELECT * FROM keys WHERE revoked_at IS NULL AND (CAST(? AS TEXT) IS NULL OR user = ?)"
            " ORDER BY created_at DESC, id",
            user,
            user,
        )
        return [_read_key(row) for row in rows]

    def due(self, key: Key) -> bool:
        """Return whether the present use of the key should be recorded."""
        if key.used_at is None:
            return True
        # `abs`: a clock that was ahead when the use was recorded must not stop the recording.
        return abs((utc_now() - datetime.fromisoformat(key.used_at)).total_seconds()) > NOTED_SECONDS

    def note(self, key: Key) -> None:
        """Record that it is in use."""
        self._database.write("UPDATE keys SET used_at = ? WHERE id = ?", timestamp(), key.id)

    def revoke(self, key_id: str, *, user: str | None = None) -> Key:
        """Revoke a key at once; with `user` only if it is this person's.

        Raises:
            NotFound: there is no such valid key.
        """
        rows = self._database.write_returning(
            "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
            " AND (CAST(? AS TEXT) IS NULL OR user = ?) RETURNING *",
            timestamp(),
            key_id,
            user,
            user,
        )
        if not rows:
            raise NotFound(f"There is no key '{key_id}'. See them with: argot key list")
        found = _read_key(rows[0])
        # Only after it is stored: an open connection that is cut off must not return.
        self._ended(found.user, frozenset({found.id}))
        return found

    def end(self, user: str) -> int:
        """Revoke all keys of a person; return how many there were."""
        rows = self._database.write_returning(
            "UPDATE keys SET revoked_at = ? WHERE user = ? AND revoked_at IS NULL RETURNING id", timestamp(), user
        )
        gone = frozenset(str(row["id"]) for row in rows)
        if gone:
            self._ended(user, gone)
        return len(gone)

    def erase(self, user: str) -> int:
        """Delete every trace of a person's keys, including revoked ones; return how many there were."""
        # Revoked before they are deleted, so that their open connections are cut off.
        self.end(user)
        return self._database.write("DELETE FROM keys WHERE user = ?", user)


def _add_days(days: int | None) -> str | None:
    return None if days is None else format_utc(utc_now() + timedelta(days=days))


def _read_key(row: Row) -> Key:
    return Key(*(row[name] for name in Key.__slots__))
