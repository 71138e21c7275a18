"""Links of people to their accounts at the OpenID Connect provider, and its statements about them, in people.db.

An account is identified by its issuer and subject, never its name: names there change owners. A membership that the
provider named is marked as its own, whoever added it before, and ends when the provider no longer names it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from argot.clock import timestamp
from argot.databases import Connection, Database
from argot.errors import Conflict

TABLES = """
    CREATE TABLE provider_links (
        user TEXT PRIMARY KEY REFERENCES users (name) ON DELETE CASCADE,
        issuer TEXT NOT NULL, subject TEXT NOT NULL, linked_at TEXT NOT NULL,
        confirmed_at TEXT, lapsed_at TEXT, refresh_token TEXT
    );
    CREATE UNIQUE INDEX provider_links_by_account ON provider_links (issuer, subject) WHERE subject != '';
    ALTER TABLE memberships ADD COLUMN by_provider INTEGER NOT NULL DEFAULT 0
"""


@dataclass(frozen=True, slots=True)
class ProviderLink:
    """Somebody's account at the provider. Times are UTC, ISO 8601.

    `subject` is empty until somebody has signed in under this user's name. `confirmed_at`: when the provider last
    confirmed them; `refresh_token`: for asking it again, if it issued one.
    """

    user: str
    issuer: str
    subject: str
    linked_at: str
    confirmed_at: str | None
    lapsed_at: str | None
    refresh_token: str | None


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Confirmation of a person by the provider. `admin` None: it does not say who is an administrator.

    `issued_at`: when the provider made this statement, UTC, ISO 8601; None: just now, in answer to Argot.
    """

    groups: frozenset[str]
    admin: bool | None
    refresh_token: str | None
    issued_at: str | None = None


class ProviderLinks:
    """The table of links."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, issuer: str, subject: str) -> ProviderLink | None:
        """Return the link of this account."""
        rows = self._database.rows(
            "SELECT * FROM provider_links WHERE issuer = ? AND subject = ? AND subject != ''", issuer, subject
        )
        return _link(rows[0]) if rows else None

    def of(self, user: str) -> ProviderLink | None:
        rows = self._database.rows("SELECT * FROM provider_links WHERE user = ?", user)
        return _link(rows[0]) if rows else None

    def in_force(self) -> list[ProviderLink]:
        """Return the links of everybody whom the provider still confirms."""
        return [
            _link(row)
            for row in self._database.rows(
                "SELECT * FROM provider_links WHERE confirmed_at IS NOT NULL AND lapsed_at IS NULL"
                " ORDER BY confirmed_at"
            )
        ]

    def link(self, user: str, issuer: str, subject: str) -> None:
        """
        Raises:
            Conflict: the account is linked with somebody else.
        """
        with self._database.transaction() as connection:
            other = connection.execute(
                "SELECT user FROM provider_links WHERE issuer = ? AND subject = ? AND subject != '' AND user != ?",
                (issuer, subject, user),
            ).fetchone()
            if other:
                raise Conflict(f"That account is linked with {other[0]}. Undo it first: argot user unlink {other[0]}")
            _forget_said(connection, user)
            # Confirmations of another account are deleted with it.
            connection.execute("DELETE FROM provider_links WHERE user = ?", (user,))
            connection.execute(
                "INSERT INTO provider_links (user, issuer, subject, linked_at) VALUES (?, ?, ?, ?)",
                (user, issuer, subject, timestamp()),
            )
            connection.execute("UPDATE users SET password = NULL WHERE name = ?", (user,))

    def unlink(self, user: str) -> None:
        with self._database.transaction() as connection:
            _forget_said(connection, user)
            connection.execute("DELETE FROM provider_links WHERE user = ?", (user,))

    def confirm(self, link: ProviderLink, said: Confirmed) -> bool:
        """Replace the provider's previous statements about a person by the new ones.

        Return False, and change nothing, if they signed in, lapsed or were unlinked since `link` was read.
        """
        with self._database.transaction() as connection:
            present = _find_link(connection, link.user)
            # The answer to a refresh token must be kept, which is spent: an access token that came meanwhile is older.
            if said.issued_at is None and present is not None and link.refresh_token:
                present = replace(present, confirmed_at=link.confirmed_at)
            if present != link:
                return False
            connection.execute(
                "UPDATE provider_links SET confirmed_at = ?, lapsed_at = NULL, refresh_token = ? WHERE user = ?",
                (said.issued_at or timestamp(), said.refresh_token, link.user),
            )
            _take_groups(connection, link.user, said.groups)
            if said.admin is not None:
                connection.execute("UPDATE users SET admin = ? WHERE name = ?", (said.admin, link.user))
        return True

    def list_groups(self, user: str) -> frozenset[str]:
        """Return the groups that a provider or proxy has named, without those added here."""
        rows = self._database.rows("SELECT group_name FROM memberships WHERE user = ? AND by_provider = 1", user)
        return frozenset(str(row[0]) for row in rows)

    def take_groups(self, user: str, groups: frozenset[str]) -> None:
        """Replace a proxy's previous groups by the new ones."""
        with self._database.transaction() as connection:
            _take_groups(connection, user, groups)

    def lapse(self, link: ProviderLink) -> bool:
        """Delete the groups and the token; return False if the link is no longer this one."""
        with self._database.transaction() as connection:
            if _find_link(connection, link.user) != link:
                return False
            _forget_said(connection, link.user)
            connection.execute(
                "UPDATE provider_links SET lapsed_at = ?, refresh_token = NULL WHERE user = ?",
                (timestamp(), link.user),
            )
        return True


def _take_groups(connection: Connection, user: str, groups: frozenset[str]) -> None:
    _forget_said(connection, user)
    connection.executemany(
        # A group added here that the provider names too is its own from now on, and ends with its statement.
        "INSERT INTO memberships (user, group_name, by_provider) VALUES (?, ?, 1)"
        " ON CONFLICT (user, group_name) DO UPDATE SET by_provider = 1",
        [(user, group) for group in sorted(groups)],
    )


def _forget_said(connection: Connection, user: str) -> None:
    connection.execute("DELETE FROM memberships WHERE user = ? AND by_provider = 1", (user,))


def _find_link(connection: Connection, user: str) -> ProviderLink | None:
    row = connection.execute("SELECT * FROM provider_links WHERE user = ?", (user,)).fetchone()
    return None if row is None else _link(row)


def _link(row: Iterable[object]) -> ProviderLink:
    return ProviderLink(*row)  # type: ignore[arg-type]  # columns in their order
