"""Links by which people share conversations: of each only a digest of its secret is stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from argot.clock import timestamp
from argot.errors import NotFound
from argot.languages.catalogues import translate
from argot.service.threads.thread_database import ThreadDatabase

SECRET_BYTES = 32
MAX_LINKS = 1000
"""Links of one person."""
SHARED_LINKS = """
CREATE TABLE shared_links (
    id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE,
    thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    last_turn INTEGER NOT NULL, at TEXT NOT NULL
);
CREATE INDEX shared_links_by_thread ON shared_links (thread)
"""
"""A migration of threads.db. Turns after `last_turn` are not shared: they were asked later."""


@dataclass(frozen=True, slots=True)
class SharedLink:
    """A link to a conversation as it was at a moment (`at`, ISO, UTC): its questions up to `last_turn`, from 0."""

    id: str
    thread: str
    title: str
    last_turn: int
    at: str


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """A link as it was opened, with the owner of its conversation."""

    link: SharedLink
    owner: str


class SharedLinks:
    """The links of one knowledge base's conversations. A link ends with its conversation."""

    def __init__(self, database: ThreadDatabase) -> None:
        self._database = database

    async def make(self, thread: str, last_turn: int) -> tuple[SharedLink, str]:
        """Make a link to a thread, and return it with its secret, which is stored nowhere. The caller checks the
        owner.
        """
        secret = secrets.token_urlsafe(SECRET_BYTES)
        id_ = f"l{secrets.token_hex(8)}"
        await self._database.write(
            "INSERT INTO shared_links (id, digest, thread, last_turn, at) VALUES (?, ?, ?, ?, ?)",
            (id_, _digest(secret), thread, last_turn, timestamp()),
        )
        (row,) = await self._database.rows(f"{_SELECT} WHERE links.id = ?", (id_,))
        return _read_link(row).link, secret

    async def of(self, owner: str) -> list[SharedLink]:
        """Return the links to this person's conversations, the newest first."""
        rows = await self._database.rows(f"{_SELECT} WHERE threads.owner = ? ORDER BY links.at DESC", (owner,))
        return [_read_link(row).link for row in rows]

    async def find(self, secret: str) -> OpenedLink:
        """Return the link with this secret.

        Raises:
            NotFound: there is none, or it was withdrawn.
        """
        # The digest is looked up and the secret never compared, so that no time tells how much of a guess is right.
        rows = await self._database.rows(f"{_SELECT} WHERE links.digest = ?", (_digest(secret),))
        if not rows:
            raise NotFound(
                translate("This link leads nowhere: it was withdrawn, or is misspelt. Ask its sender for another.")
            )
        return _read_link(rows[0])

    async def withdraw(self, owner: str, link: str) -> SharedLink:
        """Withdraw a link of this person's own: from now on it leads nowhere.

        Raises:
            NotFound: there is none, or it is somebody else's.
        """
        found = next((one for one in await self.of(owner) if one.id == link), None)
        if found is None:
            raise NotFound(f"There is no link '{link}' of yours. See them with: argot threads links")
        await self._database.write("DELETE FROM shared_links WHERE id = ?", (link,))
        return found


_SELECT = (
    "SELECT links.id, links.thread, threads.title, links.last_turn, links.at, threads.owner"
    " FROM shared_links AS links JOIN threads ON threads.id = links.thread"
)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _read_link(row: Sequence[Any]) -> OpenedLink:
    id_, thread, title, last_turn, at, owner = row
    return OpenedLink(SharedLink(id_, thread, title, last_turn, at), owner)
