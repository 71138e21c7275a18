"""People, their rights, and whether they may sign in at all."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from argot.clock import timestamp
from argot.databases import Row, StoreMigration, Stores
from argot.errors import InvalidInput, NotAllowed, NotFound
from argot.service.identity import keys, passwords, personal_rows, provider_links, provisioned, slack_tables
from argot.service.identity.notices import Notices
from argot.service.identity.sessions import Lifetimes, Sessions
from argot.types import LOCAL_NAME, MANAGERS, Principal

EVERY_CONTEXT = "*"
"""Means all contexts, in place of a name."""

Role: TypeAlias = Literal["asker", "manager", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
RANKS: dict[Role, int] = {role: rank for rank, role in enumerate(ROLES)}
"""Each role includes the rights of the lower ones."""

SUSPENDED = "Your account is suspended. Ask an administrator to restore it."

_NAME = re.compile(r"[\w][\w.\-@ ]{0,63}")

MIGRATIONS: tuple[StoreMigration, ...] = (
    """
    CREATE TABLE users (name TEXT PRIMARY KEY, display_name TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL);
    CREATE TABLE memberships (
        user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
        group_name TEXT NOT NULL,
        PRIMARY KEY (user, group_name)
    )
    """,
    """
    ALTER TABLE users ADD COLUMN password TEXT;
    ALTER TABLE users ADD COLUMN admin INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE users ADD COLUMN suspended_at TEXT;
    CREATE TABLE managed (
        user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
        context TEXT NOT NULL,
        PRIMARY KEY (user, context)
    );
    CREATE TABLE sessions (
        hash BLOB PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
        created_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, address TEXT NOT NULL, agent TEXT NOT NULL
    );
    CREATE INDEX sessions_by_user ON sessions (user, seen_at)
    """,
    """
    CREATE TABLE notices (
        person TEXT NOT NULL, thread TEXT NOT NULL, subject TEXT NOT NULL, told_at TEXT NOT NULL,
        PRIMARY KEY (person, thread, subject)
    ) WITHOUT ROWID
    """,
    keys.TABLES,
    slack_tables.TABLES,
    keys.ENDS,
    provider_links.TABLES,
    provisioned.TABLES,
    "ALTER TABLE users ADD COLUMN language TEXT NOT NULL DEFAULT ''",
)

_USERS = """
    SELECT name, display_name, created_at, admin, suspended_at, language, password IS NOT NULL AS has_password,
        (SELECT coalesce({groups}, '') FROM memberships WHERE user = name) AS groups,
        (SELECT coalesce({contexts}, '') FROM managed WHERE user = name) AS managed,
        EXISTS (SELECT 1 FROM provider_links WHERE user = name) AS linked,
        (SELECT lapsed_at FROM provider_links WHERE user = name) AS lapsed_at
    FROM users
"""


@dataclass(frozen=True, slots=True)
class User:
    """`manages` names contexts, `*` all of them. `suspended_at` is None for people who may sign in.

    `linked`: they sign in at the OpenID Connect provider, and nowhere else. `lapsed_at`: since then it has not
    confirmed them, and they have to sign in there again. `language`: of the pages (ISO 639-1); empty: their browser's.
    """

    name: str
    display_name: str
    groups: tuple[str, ...]
    created_at: str
    manages: tuple[str, ...] = ()
    admin: bool = False
    has_password: bool = False
    suspended_at: str | None = None
    linked: bool = False
    lapsed_at: str | None = None
    language: str = ""

    @property
    def shut_out(self) -> bool:
        """True if no action may be done on their behalf now."""
        return bool(self.suspended_at or self.lapsed_at)

    @property
    def principal(self) -> Principal:
        return Principal(self.name, frozenset(self.groups), self.admin, frozenset(self.manages))

    @property
    def role(self) -> Role:
        return role_of(self.principal)


@dataclass(frozen=True, slots=True)
class Ended:
    """Sessions or keys of a person ended: those with these ids; None: all of them."""

    user: str
    sessions: frozenset[str] | None = None


def make_local_principal() -> Principal:
    """Return the local user, who may read the files of the stores anyway."""
    return Principal(LOCAL_NAME, sees_all=True)


def role_of(principal: Principal) -> Role:
    """Return the role: admins may do everything and read everything; managers change the contexts they manage; askers
    ask.
    """
    if principal.sees_all:
        return "admin"
    return "manager" if principal.is_manager else "asker"


class People:
    """Users, their groups, roles and sessions, in the store `people`."""

    def __init__(self, stores: Stores, lifetimes: Lifetimes = Lifetimes()) -> None:  # noqa: B008  frozen
        self.watchers: list[Callable[[Ended], None]] = []
        """Called, in any thread, when sessions have ended, so that open connections can be cut."""
        self.tell_others: Callable[[Ended], None] | None = None
        """Called as well, to inform other services on the same stores."""
        self.database = stores.open("people", MIGRATIONS)
        said = self.database.dialect
        self._users = _USERS.format(groups=said.joined("group_name"), contexts=said.joined("context"))
        self.sessions = Sessions(self.database, ended=self._tell_of_some, lifetimes=lifetimes)
        self.keys = keys.Keys(self.database, ended=self._tell_of_some)
        self.notices = Notices(self.database)
        self.links = provider_links.ProviderLinks(self.database)
        self.provisioned = provisioned.Provisioned(self.database)

    def close(self) -> None:
        self.database.close()

    # -- who there is --------------------------------------------------------------------------------------------------

    def add(self, name: str, groups: tuple[str, ...] = (), display_name: str = "") -> User:
        """Create a user, or add an existing one to these groups as well. Idempotent.

        Raises:
            InvalidInput: the name or a group cannot be one.
        """
        require_name("user", name)
        for group in groups:
            require_name("group", group)
        # A user of this name would be confused with the local user, who may do everything.
        if name.casefold() == LOCAL_NAME:
            raise InvalidInput(f"'{LOCAL_NAME}' is the person at this machine. Choose another user name.")
        # Nobody may be confused with somebody else whose name differs only in capitals.
        alike = [one.name for one in self.users() if one.name.casefold() == name.casefold()]
        if alike and name not in alike:
            raise InvalidInput(f"There is a user '{alike[0]}' already. '{name}' differs from it only in capitals.")
        with self.database.transaction() as connection:
            connection.execute(
                # In one statement, so that adding a user again, even concurrently, keeps existing values.
                "INSERT INTO users (name, display_name, created_at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
                " SET display_name = CASE excluded.display_name WHEN '' THEN users.display_name"
                " ELSE excluded.display_name END",
                (name, display_name, timestamp()),
            )
            connection.executemany(
                "INSERT INTO memberships (user, group_name) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [(name, group) for group in groups],
            )
        return self.user(name)

    def user(self, name: str) -> User:
        """
        Raises:
            NotFound: there is no such user; the message names the command that creates one.
        """
        found = self.find(name)
        if found is None:
            raise NotFound(f"There is no user '{name}'. Make one with: argot user add {name} --group GROUP")
        return found

    def find(self, name: str) -> User | None:
        rows = self.database.rows(f"{self._users} WHERE name = ?", name)
        return _read_user(rows[0]) if rows else None

    def is_shut_out(self, name: str) -> bool:
        """Tell whether a user is suspended or lapsed; the person at the machine, who is no user, is not."""
        found = self.find(name)
        return found is not None and found.shut_out

    def users(self) -> list[User]:
        return [_read_user(row) for row in self.database.rows(f"{self._users} ORDER BY name")]

    def principal(self, name: str) -> Principal:
        """Return the rights of a user to read and to act.

        Raises:
            NotFound: there is no such user.
            NotAllowed: the user is suspended, or no longer confirmed by the provider.
        """
        user = self.user(name)
        if user.suspended_at:
            raise NotAllowed(f"{name} is suspended. An administrator can undo it: argot user restore {name}")
        if user.lapsed_at:
            raise NotAllowed(f"{name} is no longer confirmed by the provider, and has to sign in again.")
        return user.principal

    # -- what they may do ----------------------------------------------------------------------------------------------

    def set_role(self, name: str, role: Role, manages: Sequence[str] = ()) -> User:
        """Give a role, in place of the previous one. A manager without contexts manages all of them.

        The group `managers`, which also grants that role, is left if the new role is lower.
        """
        self.user(name)
        if role != "manager" and manages:
            raise InvalidInput(f"The role '{role}' does not take contexts. Leave them out, or give the role 'manager'.")
        contexts = (set(manages) or {EVERY_CONTEXT}) if role == "manager" else set()
        # All of them and some of them is all of them.
        if EVERY_CONTEXT in contexts:
            contexts = {EVERY_CONTEXT}
        with self.database.transaction() as connection:
            connection.execute("UPDATE users SET admin = ? WHERE name = ?", (role == "admin", name))
            connection.execute("DELETE FROM managed WHERE user = ?", (name,))
            connection.executemany("INSERT INTO managed VALUES (?, ?)", [(name, one) for one in sorted(contexts)])
            # Its members manage all contexts: as a member, the lower role would have no effect.
            if contexts != {EVERY_CONTEXT}:
                connection.execute("DELETE FROM memberships WHERE user = ? AND group_name = ?", (name, MANAGERS))
        return self.user(name)

    def leave(self, name: str, groups: Sequence[str]) -> User:
        """Remove a user from these groups."""
        self.user(name)
        with self.database.transaction() as connection:
            connection.executemany(
                "DELETE FROM memberships WHERE user = ? AND group_name = ?", [(name, group) for group in groups]
            )
        return self.user(name)

    def suspend(self, name: str) -> User:
        """Block a person at once, everywhere, until `restore`."""
        self.user(name)
        self.database.write("UPDATE users SET suspended_at = ? WHERE name = ?", timestamp(), name)
        self.sessions.end(name)
        self.keys.end(name)
        self._tell(Ended(name))
        return self.user(name)

    def restore(self, name: str) -> User:
        self.user(name)
        self.database.write("UPDATE users SET suspended_at = NULL WHERE name = ?", name)
        return self.user(name)

    def set_language(self, name: str, language: str) -> None:
        """Set the language of a person's pages (ISO 639-1); empty: the browser's."""
        self.database.write("UPDATE users SET language = ? WHERE name = ?", language, name)

    # -- passwords -----------------------------------------------------------------------------------------------------

    def set_password(self, name: str, password: str) -> User:
        """Set a password, and end every session that the previous one began. Takes some 0.1 s.

        With the first password of any user, everybody has to sign in, including the local user.

        Raises:
            InvalidInput: it would be guessed, or they sign in at the provider.
        """
        # A person blocked by the provider must not return by a password.
        if self.user(name).linked:
            raise InvalidInput(f"{name} signs in at the provider. For a password first: argot user unlink {name}")
        passwords.require_password(name, password)
        # From the first password on everybody has to sign in, so connections without are cut off.
        first = not self.has_passwords()
        self.database.write("UPDATE users SET password = ? WHERE name = ?", passwords.hash_password(password), name)
        self.sessions.end(name)
        if first:
            self._tell(Ended(LOCAL_NAME))
        return self.user(name)

    def has_passwords(self) -> bool:
        """Return whether anybody signs in with a password, suspended or not."""
        return bool(self.database.rows("SELECT 1 FROM users WHERE password IS NOT NULL LIMIT 1"))

    def check_password(self, name: str, password: str) -> User | None:
        """Return the user with this password, suspended or not. It takes some 0.1 s and 64 MiB, whatever the name."""
        # A name may have been stored composed, and be typed decomposed, as some systems do.
        spellings = dict.fromkeys((name, unicodedata.normalize("NFC", name)))
        user = next((found for one in spellings if (found := self.find(one))), None)
        rows = self.database.rows("SELECT password FROM users WHERE name = ?", user.name if user else "")
        kept: str | None = rows[0]["password"] if rows else None
        # The password is hashed whether or not there is such a user, so that the time reveals nothing.
        if not passwords.verify_password(kept, password) or user is None or kept is None:
            return None
        if passwords.is_outdated(kept):
            # Only here is the password available for rehashing with current parameters.
            renewed = passwords.hash_password(password)
            # Only if it is still the one that was checked: it may have been changed meanwhile.
            self.database.write(
                "UPDATE users SET password = ? WHERE name = ? AND password = ?", renewed, user.name, kept
            )
        return user

    # -- the provider --------------------------------------------------------------------------------------------------

    def link(self, name: str, issuer: str, subject: str = "") -> User:
        """Make a person sign in at the provider from now on, and nowhere else: their password here is deleted.

        Args:
            subject: the account there; empty: the next one that signs in under this very name.

        Raises:
            Conflict: that account is somebody else's already.
        """
        self.user(name)
        self.links.link(name, issuer, subject)
        self.sessions.end(name)
        return self.user(name)

    def unlink(self, name: str) -> User:
        """End their sign-in at the provider: its groups end, and all sessions and keys."""
        self.user(name)
        self.links.unlink(name)
        self.sessions.end(name)
        # A person blocked by the provider would return with a key.
        self.keys.end(name)
        return self.user(name)

    def lapse(self, name: str, *, expecting: provider_links.ProviderLink) -> bool:
        """Block a person whom the provider no longer confirms, including keys, until they sign in there again.

        If they did so meanwhile, the link is no longer the expected one, and False is returned.
        """
        if not self.links.lapse(expecting):
            return False
        self.sessions.end(name)
        self._tell(Ended(name))
        return True

    # -- what is kept of them ------------------------------------------------------------------------------------------

    def kept_of(self, names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """Return every row of these names, by table, without secrets."""
        with self.database.reader() as connection:
            return personal_rows.list_personal_rows(connection, self.database.dialect, names)

    def erase(self, names: Sequence[str]) -> int:
        """Delete every row of these names. Open connections under one of them are cut off."""
        with self.database.transaction() as connection:
            gone = personal_rows.erase(connection, self.database.dialect, names)
        for name in names:
            self._tell(Ended(name))
        return gone

    def scrub(self) -> bool:
        """Remove deleted data from the write-ahead log as well; return whether that was done."""
        return self.database.scrub()

    def _tell_of_some(self, user: str, ended: frozenset[str]) -> None:
        self._tell(Ended(user, ended))

    def apply_ended(self, ended: Ended) -> None:
        """Apply another service's report that sessions have ended."""
        # A copy: another thread may add a watcher meanwhile.
        for watcher in list(self.watchers):
            watcher(ended)

    def _tell(self, ended: Ended) -> None:
        self.apply_ended(ended)
        if self.tell_others:
            self.tell_others(ended)


def _read_user(row: Row) -> User:
    return User(
        row["name"],
        row["display_name"],
        tuple(sorted(filter(None, row["groups"].split("\x1f")))),
        row["created_at"],
        tuple(sorted(filter(None, row["managed"].split("\x1f")))),
        bool(row["admin"]),
        bool(row["has_password"]),
        row["suspended_at"],
        bool(row["linked"]),
        row["lapsed_at"],
        row["language"],
    )


def require_name(kind: str, name: str) -> None:
    """Refuse an invalid name of a user or group.

    Raises:
        InvalidInput
    """
    # `@name` means one person in lists of groups.
    if not _NAME.fullmatch(name) or name.startswith("@") or name != name.strip():
        raise InvalidInput(
            f"{name!r} cannot be the name of a {kind}. Use 1 to 64 letters, digits, '.', '-', '_', '@' or inner spaces,"
            " beginning with a letter or digit."
        )
