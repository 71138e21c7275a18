"""Who there is and which groups they belong to. Passwords, keys and sessions will live here too."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from pathlib import Path

from argot.errors import InvalidInput, NotFound
from argot.service.home import now
from argot.service.sqlite import damage_named, open_database
from argot.types import Principal

LOCAL_NAME = "local"
"""The name of the person at this machine: the command line, and the chat window of an unshared installation."""

MANAGERS = "managers"
"""Members of this group may change documents and the glossary."""

_NAME = re.compile(r"[\w][\w.\-@ ]{0,63}")

MIGRATIONS = (
    """
    CREATE TABLE users (name TEXT PRIMARY KEY, display_name TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL);
    CREATE TABLE memberships (
        user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
        group_name TEXT NOT NULL,
        PRIMARY KEY (user, group_name)
    )
    """,
)


@dataclass(frozen=True, slots=True)
class User:
    name: str
    display_name: str
    groups: tuple[str, ...]
    created_at: str


def local_principal() -> Principal:
    """The person at this machine, who may read the files of the stores anyway."""
    return Principal(LOCAL_NAME, sees_all=True)


class People:
    """Users and their groups, in people.db."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.Lock()
        self._connection = open_database(path, MIGRATIONS)

    def close(self) -> None:
        self._connection.close()

    def add(self, name: str, groups: tuple[str, ...] = (), display_name: str = "") -> User:
        """Make a user, or give an existing one these groups as well. Idempotent.

        Raises:
            InvalidInput: the name or a group cannot be one.
        """
        require_name("user", name)
        for group in groups:
            require_name("group", group)
        if name == LOCAL_NAME:
            raise InvalidInput(f"'{LOCAL_NAME}' is the person at this machine. Choose another user name.")
        with self._guard, damage_named(self.path), self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "INSERT INTO users (name, display_name, created_at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
                " SET display_name = iif(excluded.display_name = '', display_name, excluded.display_name)",
                (name, display_name, now()),
            )
            connection.executemany(
                "INSERT OR IGNORE INTO memberships (user, group_name) VALUES (?, ?)",
                [(name, group) for group in groups],
            )
        return self.user(name)

    def user(self, name: str) -> User:
        for user in self.users():
            if user.name == name:
                return user
        raise NotFound(f"There is no user '{name}'. Make one with: argot user add {name} --group GROUP")

    def users(self) -> list[User]:
        with self._guard, damage_named(self.path):
            rows = self._connection.execute(
                "SELECT name, display_name, created_at, coalesce(group_concat(group_name, char(31)), '') AS groups"
                " FROM users LEFT JOIN memberships ON user = name GROUP BY name ORDER BY name"
            ).fetchall()
        return [
            User(
                row["name"],
                row["display_name"],
                tuple(sorted(filter(None, row["groups"].split("\x1f")))),
                row["created_at"],
            )
            for row in rows
        ]

    def principal(self, name: str) -> Principal:
        """What a user may read and do.

        Raises:
            NotFound: there is no such user.
        """
        return Principal(name, frozenset(self.user(name).groups))


def require_name(kind: str, name: str) -> None:
    """Refuse what cannot be the name of a user or group.

    Raises:
        InvalidInput
    """
    if not _NAME.fullmatch(name) or name.startswith("@") or name != name.strip():
        raise InvalidInput(
            f"{name!r} cannot be the name of a {kind}. Use 1 to 64 letters, digits, '.', '-', '_', '@' or inner spaces,"
            " beginning with a letter or digit."
        )
