"""People and groups that an identity provider has sent by SCIM, in people.db.

A group there has its own id and a name here; its members are members of the group of that name. Rows of people stay
after the provider has removed them: they cannot sign in, and only an administrator erases their data here.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from argot.clock import timestamp
from argot.databases import Connection, Database, Row
from argot.errors import Conflict, NotFound

TABLES = """
    CREATE TABLE provisioned_people (
        id TEXT PRIMARY KEY, user TEXT NOT NULL UNIQUE REFERENCES users (name) ON DELETE CASCADE,
        external_id TEXT, created_at TEXT NOT NULL, changed_at TEXT NOT NULL, inactive_at TEXT, removed_at TEXT
    );
    CREATE TABLE provisioned_groups (
        id TEXT PRIMARY KEY, display_name TEXT NOT NULL, key TEXT NOT NULL UNIQUE, group_name TEXT NOT NULL,
        external_id TEXT, created_at TEXT NOT NULL, changed_at TEXT NOT NULL
    );
    CREATE TABLE provisioned_members (
        group_id TEXT NOT NULL REFERENCES provisioned_groups (id) ON DELETE CASCADE,
        user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
        PRIMARY KEY (group_id, user)
    );
    CREATE INDEX provisioned_members_by_user ON provisioned_members (user)
"""

_PEOPLE = """
    SELECT id, user, external_id, p.created_at, changed_at, inactive_at, display_name
    FROM provisioned_people AS p JOIN users ON users.name = user WHERE removed_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class ProvisionedPerson:
    """`user` is their name here; `groups`: (id, display name) of those they are in. Times are UTC, ISO 8601.

    `inactive_at`: since then the provider has blocked them; None: it has not.
    """

    id: str
    user: str
    external_id: str | None
    created_at: str
    changed_at: str
    inactive_at: str | None
    display_name: str
    groups: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ProvisionedGroup:
    """`group_name` is its name here; `members`: (id, name here) of people."""

    id: str
    display_name: str
    group_name: str
    external_id: str | None
    created_at: str
    changed_at: str
    members: tuple[tuple[str, str], ...] = ()


class Provisioned:
    """The tables of the data that the provider sent."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- people --------------------------------------------------------------------------------------------------------

    def people(self) -> list[ProvisionedPerson]:
        """Return everybody whom the provider sent and has not removed, in order of arrival."""
        with self._database.reader() as connection:
            rows = connection.execute(f"{_PEOPLE} ORDER BY p.created_at, id").fetchall()
            groups: dict[str, list[tuple[str, str]]] = {}
            for user, id_, name in connection.execute(
                "SELECT user, id, display_name FROM provisioned_members JOIN provisioned_groups ON id = group_id"
                " ORDER BY display_name"
            ):
                groups.setdefault(user, []).append((id_, name))
        return [_read_person(row, groups.get(row["user"], ())) for row in rows]

    def person(self, id_: str) -> ProvisionedPerson:
        """
        Raises:
            NotFound
        """
        with self._database.reader() as connection:
            row = connection.execute(f"{_PEOPLE} AND id = ?", (id_,)).fetchone()
            if row is None:
                raise NotFound(f"There is no person with the id '{id_}'.")
            groups = connection.execute(
                "SELECT id, display_name FROM provisioned_members JOIN provisioned_groups ON id = group_id"
                " WHERE user = ? ORDER BY display_name",
                (row["user"],),
            ).fetchall()
        return _read_person(row, [(one[0], one[1]) for one in groups])

    def take_person(self, user: str, external_id: str | None) -> str:
        """Record that the provider manages this user from now on; return the id. A person it had blocked stays blocked.

        Raises:
            Conflict: it does already.
        """
        now = timestamp()
        with self._database.transaction() as connection:
            row = connection.execute(
                "SELECT id, inactive_at, removed_at FROM provisioned_people WHERE user = ?", (user,)
            ).fetchone()
            if row is not None and row["removed_at"] is None:
                raise Conflict(f"There is a person '{user}' already, with the id '{row['id']}'.")
            # Ids are never reused: a returning person is a new one to the provider.
            id_ = str(uuid.uuid4())
            connection.execute("DELETE FROM provisioned_people WHERE user = ?", (user,))
            connection.execute(
                "INSERT INTO provisioned_people (id, user, external_id, created_at, changed_at, inactive_at)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (id_, user, external_id, now, now, row and row["inactive_at"]),
            )
        return id_

    def change_person(self, id_: str, external_id: str | None, display_name: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE provisioned_people SET external_id = ?, changed_at = ? WHERE id = ?",
                (external_id, timestamp(), id_),
            )
            connection.execute(
                "UPDATE users SET display_name = ? WHERE name = (SELECT user FROM provisioned_people WHERE id = ?)",
                (display_name, id_),
            )

    def set_inactive(self, id_: str, since: str | None) -> None:
        self._database.write(
            "UPDATE provisioned_people SET inactive_at = ?, changed_at = ? WHERE id = ?", since, timestamp(), id_
        )

    def remove_person(self, id_: str) -> None:
        """Remove a person from all groups that were sent, and record that the provider no longer knows them."""
        with self._database.transaction() as connection:
            (user,) = connection.execute("SELECT user FROM provisioned_people WHERE id = ?", (id_,)).fetchone()
            groups = connection.execute("SELECT group_id FROM provisioned_members WHERE user = ?", (user,)).fetchall()
            for (group,) in groups:
                _take_out(connection, group, [user])
            connection.execute("UPDATE provisioned_people SET removed_at = ? WHERE id = ?", (timestamp(), id_))

    # -- groups --------------------------------------------------------------------------------------------------------

    def groups(self) -> list[ProvisionedGroup]:
        with self._database.reader() as connection:
            rows = connection.execute("SELECT * FROM provisioned_groups ORDER BY created_at, id").fetchall()
            return [_group(connection, row) for row in rows]

    def group(self, id_: str) -> ProvisionedGroup:
        """
        Raises:
            NotFound
        """
        with self._database.reader() as connection:
            row = connection.execute("SELECT * FROM provisioned_groups WHERE id = ?", (id_,)).fetchone()
            if row is None:
                raise NotFound(f"There is no group with the id '{id_}'.")
            return _group(connection, row)

    def put_group(
        self, id_: str | None, display_name: str, group_name: str, external_id: str | None, members: Sequence[str]
    ) -> str:
        """Create a group (no id), or replace the existing one; return the id.

        Args:
            display_name: its name there.
            group_name: its name here.
            members: ids of people.

        Raises:
            NotFound: a member was never sent by the provider.
            Conflict: another group has this name there.
        """
        now = timestamp()
        with self._database.transaction() as connection:
            users = _list_users(connection, members)
            key = display_name.casefold()
            other = connection.execute("SELECT id FROM provisioned_groups WHERE key = ?", (key,)).fetchone()
            if other and other["id"] != id_:
                raise Conflict(f"There is a group '{display_name}' already, with the id '{other['id']}'.")
            if id_ is None:
                id_ = str(uuid.uuid4())
                connection.execute(
                    "INSERT INTO provisioned_groups VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (id_, display_name, key, group_name, external_id, now, now),
                )
            else:
                stay = set(users) if group_name == _name_group(connection, id_) else set()
                # If its name here changes, all members leave; those who stay are added again below, under the new one.
                _take_out(connection, id_, [one for one in _list_members(connection, id_) if one not in stay])
                connection.execute(
                    "UPDATE provisioned_groups SET display_name = ?, key = ?, group_name = ?, external_id = ?,"
                    " changed_at = ? WHERE id = ?",
                    (display_name, key, group_name, external_id, now, id_),
                )
            connection.executemany(
                "INSERT INTO provisioned_members VALUES (?, ?) ON CONFLICT DO NOTHING", [(id_, one) for one in users]
            )
            connection.executemany(
                "INSERT INTO memberships (user, group_name) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [(one, group_name) for one in users],
            )
        return id_

    def remove_group(self, id_: str) -> None:
        """Remove a group, and all its members from the group of its name here."""
        with self._database.transaction() as connection:
            _take_out(connection, id_, _list_members(connection, id_))
            connection.execute("DELETE FROM provisioned_groups WHERE id = ?", (id_,))


def _take_out(connection: Connection, group: str, users: Iterable[str]) -> None:
    """Remove users from a group, unless another group that was sent has the same name here, and contains them."""
    here = _name_group(connection, group)
    for user in users:
        connection.execute("DELETE FROM provisioned_members WHERE group_id = ? AND user = ?", (group, user))
        connection.execute(
            "DELETE FROM memberships WHERE user = ? AND group_name = ? AND NOT EXISTS ("
            " SELECT 1 FROM provisioned_members AS m JOIN provisioned_groups AS g ON g.id = m.group_id"
            " WHERE m.user = memberships.user AND g.group_name = memberships.group_name)",
            (user, here),
        )


def _name_group(connection: Connection, group: str) -> str:
    row = connection.execute("SELECT group_name FROM provisioned_groups WHERE id = ?", (group,)).fetchone()
    return str(row[0])


def _list_members(connection: Connection, group: str) -> list[str]:
    found = connection.execute("SELECT user FROM provisioned_members WHERE group_id = ?", (group,))
    return [str(row[0]) for row in found]


def _list_users(connection: Connection, ids: Iterable[str]) -> list[str]:
    found = []
    for id_ in dict.fromkeys(ids):
        row = connection.execute(
            "SELECT user FROM provisioned_people WHERE id = ? AND removed_at IS NULL", (id_,)
        ).fetchone()
        if row is None:
            raise NotFound(f"There is no person with the id '{id_}'. Send people before their groups.")
        found.append(str(row[0]))
    return found


def _read_person(row: Row, groups: Sequence[tuple[str, str]]) -> ProvisionedPerson:
    return ProvisionedPerson(
        row["id"], row["user"], row["external_id"], row["created_at"], row["changed_at"], row["inactive_at"],
        row["display_name"], tuple(groups),
    )  # fmt: skip


def _group(connection: Connection, row: Row) -> ProvisionedGroup:
    members = connection.execute(
        "SELECT p.id, p.user FROM provisioned_members AS m JOIN provisioned_people AS p ON p.user = m.user"
        " WHERE group_id = ? AND removed_at IS NULL ORDER BY p.user",
        (row["id"],),
    )
    return ProvisionedGroup(
        row["id"], row["display_name"], row["group_name"], row["external_id"], row["created_at"], row["changed_at"],
        tuple((one[0], one[1]) for one in members),
    )  # fmt: skip
