"""The pointer to the live generation of the vectors, and the id by which a server knows the knowledge base.

Both are in a folder, or in the database if several processes share that.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Protocol

from argot.corpus.database import CorpusDatabase
from argot.corpus.index import generations
from argot.corpus.store.upserts import upsert
from argot.files import write_atomically

OWN_ID = "SERVER_ID"
LIVE = "live_generation"
SERVER_ID = "server_id"
"""Rows of the table `meta`."""
_ID = re.compile(r"[0-9a-f]{16}")


class LivePointer(Protocol):
    def read_name(self) -> str | None:
        """Return the live generation; None if no index was ever made.

        Raises:
            DamagedStore: the stored value is no name.
        """

    def point(self, generation: str) -> None:
        """Make this generation live for every process, durably: a crash after this returns changes nothing."""

    def own_id(self) -> str:
        """Return the id, created on first use: 16 hexadecimal digits."""


class FolderPointer:
    """`CURRENT` and `SERVER_ID` in the folder of the vectors. The id is beside the pointer and not in corpus.db, so
    that a backup restored elsewhere gets its own.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def read_name(self) -> str | None:
        return generations.read_pointer(self._root)

    def point(self, generation: str) -> None:
        generations.make_current(self._root, generation)

    def own_id(self) -> str:
        path = self._root / OWN_ID
        found = path.read_text("utf-8", "replace").strip() if path.exists() else ""
        if _ID.fullmatch(found):
            return found
        self._root.mkdir(parents=True, exist_ok=True)
        made = secrets.token_hex(8)
        write_atomically(path, made)
        return made


class DatabasePointer:
    """Rows of the corpus itself, which all processes see."""

    def __init__(self, database: CorpusDatabase) -> None:
        self._database = database

    def read_name(self) -> str | None:
        return self._value(LIVE)

    def point(self, generation: str) -> None:
        with self._database.writing() as connection:
            connection.execute(upsert("meta", ("key", "value"), ("key",)), (LIVE, generation))

    def own_id(self) -> str:
        if found := self._value(SERVER_ID):
            return found
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING", (SERVER_ID, secrets.token_hex(8))
            )
        return self._value(SERVER_ID) or ""

    def _value(self, key: str) -> str | None:
        row = self._database.connection().execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])
