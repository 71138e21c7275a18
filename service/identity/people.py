"""People, their rights, and whether they may come in at all."""

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
"""In the place of a context: all of them."""

Role: TypeAlias = Literal["asker", "manager", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
RANKS: dict[Role, int] = {role: rank for rank, role in enumerate(ROLES)}
"""Each role may do what those of a lower rank may."""

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
)

_USERS = """
    SELECT name, display_name, created_at, admin, suspended_at, password IS NOT NULL AS has_password,
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
    confirmed them, and they have to sign in there anew.
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

    @property
    def shut_out(self) -> bool:
        """True if nothing may be done on their behalf now."""
        return bool(self.suspended_at or self.lapsed_at)

    @property
    def principal(self) -> Principal:
        return Principal(self.name, frozenset(self.groups), self.admin, frozenset(self.manages))

    @property
    def role(self) -> Role:
        return role_of(self.principal)


@dataclass(frozen=True, slots=True)
class Ended:
    """Somebody's sessions or keys ended: those with these ids; None: wherever and however they are signed in."""

    user: str
    sessions: frozenset[str] | None = None


def make_local_principal() -> Principal:
    """The person at this machine, who may read the files of the stores anyway."""
    return Principal(LOCAL_NAME, sees_all=True)


def role_of(principal: Principal) -> Role:
    """Admins may do everything and read everything; managers change what they manage; askers ask."""
    if principal.sees_all:
        return "admin"
    return "manager" if principal.is_manager else "asker"


class People:
    """Users, their groups, roles and sessions, in the store `people`."""

    def __init__(self, stores: Stores, lifetimes: Lifetimes = Lifetimes()) -> None:  # noqa: B008  frozen
        self.watchers: list[Callable[[Ended], None]] = []
        """Told, in whatever thread it happens, when sessions have ended, so that open connections can be cut."""
        self.tell_others: Callable[[Ended], None] | None = None
        """Told the same, to pass it on to other services on the same stores."""
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
        """Make a user, or give an existing one these groups as well. Idempotent.

        Raises:
            InvalidInput: the name or a group cannot be one.
        """
        require_name("user", name)
        for group in groups:
            require_name("group", group)
        # A user of this name would be taken for who may do everything.
        if name.casefold() == LOCAL_NAME:
            raise InvalidInput(f"'{LOCAL_NAME}' is the person at this machine. Choose another user name.")
        # Nobody is to be taken for somebody else whose name differs in capitals alone.
        alike = [one.name for one in self.users() if one.name.casefold() == name.casefold()]
        if alike and name not in alike:
            raise InvalidInput(f"There is a user '{alike[0]}' already. '{name}' differs from it only in capitals.")
        with self.database.transaction() as connection:
            connection.execute(
                # In one statement, so that adding a user again, also at the same time, keeps what is there.
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
            NotFound: there is no such user; the message names the command that makes one.
        """
        found = self.find(name)
        if found is None:
            raise NotFound(f"There is no user '{name}'. Make one with: argot user add {name} --group GROUP")
        return found

    def find(self, name: str) -> User | None:
        rows = self.database.rows(f"{self._users} WHERE name = ?", name)
        return _read_user(rows[0]) if rows else None

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
        """Give a role, in the place of the one before. A manager without contexts manages all of them.

        The group `managers`, which also makes one, is left when the new role is less.
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
            # Its members manage all contexts: left in it, the smaller role would change nothing.
            if contexts != {EVERY_CONTEXT}:
                connection.execute("DELETE FROM memberships WHERE user = ? AND group_name = ?", (name, MANAGERS))
        return self.user(name)

    def leave(self, name: str, groups: Sequence[str]) -> User:
        """Take a user out of these groups."""
        self.user(name)
        with self.database.transaction() as connection:
            connection.executemany(
                "DELETE FROM memberships WHERE user = ? AND group_name = ?", [(name, group) for group in groups]
            )
        return self.user(name)

    def suspend(self, name: str) -> User:
        """Shut somebody out at once, everywhere, until `restore`."""
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

    # -- passwords -----------------------------------------------------------------------------------------------------

    def set_password(self, name: str, password: str) -> User:
        """Give a password, and end every session that another one began. Takes some 0.1 s.

        With the first password there is, everybody has to sign in: the person at this machine too.

        Raises:
            InvalidInput: it would be guessed, or they sign in at the provider.
        """
        # Whom the provider shuts out must not come back by a password.
        if self.user(name).linked:
            raise InvalidInput(f"{name} signs in at the provider. For a password first: argot user unlink {name}")
        passwords.require_password(name, password)
        # From the first password on everybody has to sign in, so whoever is connected without is cut off.
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
        """The user whose password this is, suspended or not. Takes some 0.1 s and 64 MiB, whoever is named."""
        # A name may have been stored composed, and be typed decomposed, as some systems do.
        spellings = dict.fromkeys((name, unicodedata.normalize("NFC", name)))
        user = next((found for one in spellings if (found := self.find(one))), None)
        rows = self.database.rows("SELECT password FROM users WHERE name = ?", user.name if user else "")
        kept: str | None = rows[0]["password"] if rows else None
        # The password is hashed whether there is such a user or not, so that the time tells nobody.
        if not passwords.verify_password(kept, password) or user is None or kept is None:
            return None
        if passwords.is_outdated(kept):
            # Only here is the password at hand with which today's parameters can be taken.
            renewed = passwords.hash_password(password)
            # Only if it is still the one that was checked: it may have been changed meanwhile.
            self.database.write(
                "UPDATE users SET password = ? WHERE name = ? AND password = ?", renewed, user.name, kept
            )
        return user

    # -- the provider --------------------------------------------------------------------------------------------------

    def link(self, name: str, issuer: str, subject: str = "") -> User:
        """Have somebody sign in at the provider from now on, and nowhere else: their password here is forgotten.

        Args:
            subject: which account there; empty: the one that comes next under this very name.

        Raises:
            Conflict: that account is somebody else's already.
        """
        self.user(name)
        self.links.link(name, issuer, subject)
        self.sessions.end(name)
        return self.user(name)

    def unlink(self, name: str) -> User:
        """They no longer sign in at the provider: its groups end, and all sessions and keys."""
        self.user(name)
        self.links.unlink(name)
        self.sessions.end(name)
        # Whom the provider has shut out would come in by a key again.
        self.keys.end(name)
        return self.user(name)

    def lapse(self, name: str, *, expecting: provider_links.ProviderLink) -> bool:
        """The provider no longer answers for somebody: out at once, keys too, until they sign in there anew.

        Unless they did so meanwhile: the link is then no longer the one expected, and False is returned.
        """
        if not self.links.lapse(expecting):
            return False
        self.sessions.end(name)
        self._tell(Ended(name))
        return True

    # -- what is kept of them ------------------------------------------------------------------------------------------

    def kept_of(self, names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """Every row of these names, by table, without what is secret."""
        with self.database.reader() as connection:
            return personal_rows.list_personal_rows(connection, self.database.dialect, names)

    def erase(self, names: Sequence[str]) -> int:
        """Delete every row of these names. Whoever is still connected under one of them is cut off."""
        with self.database.transaction() as connection:
            gone = personal_rows.erase(connection, self.database.dialect, names)
        for name in names:
            self._tell(Ended(name))
        return gone

    def scrub(self) -> bool:
        """Take what was deleted out of the write-ahead log as well; whether that could be done."""
        return self.database.scrub()

    def _tell_of_some(self, user: str, ended: frozenset[str]) -> None:
        self._tell(Ended(user, ended))

    def apply_ended(self, ended: Ended) -> None:
        """Another service says that sessions have ended."""
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
    )


def require_name(kind: str, name: str) -> None:
    """Refuse what cannot be the name of a user or group.

    Raises:
        InvalidInput
    """
    # `@name` stands for one person where groups are listed.
    if not _NAME.fullmatch(name) or name.startswith("@") or name != name.strip():
        raise InvalidInput(
            f"{name!r} cannot be the name of a {kind}. Use 1 to 64 letters, digits, '.', '-', '_', '@' or inner spaces,"
            " beginning with a letter or digit."
        )
