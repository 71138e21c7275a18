"""Small files of a knowledge base, profiles among them: in its folder, or in the database that processes share.

Names are paths below the knowledge base: `profiles/lab-notes.toml`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from argot.databases import Database, StoreMigration, Stores
from argot.files import read_bytes, write_atomically

PROFILES_FOLDER = "profiles"
STORE = "files"
MIGRATIONS: list[StoreMigration] = [
    "CREATE TABLE kept_files (name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;"
]


class KeptFiles(Protocol):
    """Safe to use from several threads and processes."""

    def locate(self, name: str) -> str:
        """Return the file's name for messages."""

    def read(self, name: str, most: int = -1) -> bytes:
        """Return the first `most` bytes (-1: all).

        Raises:
            OSError: it cannot be read.
            FileNotFoundError: it does not exist.
            DamagedStore, StoreUnavailable
        """

    def write(self, name: str, content: bytes) -> None:
        """Replace the content of the file; once this returns, it is durable."""

    def remove(self, name: str) -> None:
        """Remove the file; do nothing if there is none."""

    def names(self, folder: str, suffix: str = "") -> list[str]:
        """List the files of this folder that have this suffix, in order."""


class FolderFiles:
    def __init__(self, home: Path) -> None:
        self.home = home

    def locate(self, name: str) -> str:
        return str(self.home / name)

    def read(self, name: str, most: int = -1) -> bytes:
        return read_bytes(self.home / name, most)

    def write(self, name: str, content: bytes) -> None:
        (self.home / name).parent.mkdir(mode=0o700, exist_ok=True)
        write_atomically(self.home / name, content)

    def remove(self, name: str) -> None:
        (self.home / name).unlink(missing_ok=True)

    def names(self, folder: str, suffix: str = "") -> list[str]:
        return sorted(f"{folder}/{path.name}" for path in (self.home / folder).glob(f"*{suffix}"))


class DatabaseFiles:
    """Files in the store `files`.

    Raises:
        DamagedStore, StoreUnavailable: from every method.
    """

    def __init__(self, stores: Stores) -> None:
        self._database: Database = stores.open(STORE, MIGRATIONS)

    def locate(self, name: str) -> str:
        return f"{name} of {self._database.name}"

    def read(self, name: str, most: int = -1) -> bytes:
        found = self._database.rows("SELECT content FROM kept_files WHERE name = ?", name)
        if not found:
            raise FileNotFoundError(2, "there is none of this name", self.locate(name))
        content = bytes(found[0]["content"])
        return content if most < 0 else content[:most]

    def write(self, name: str, content: bytes) -> None:
        self._database.write(
            "INSERT INTO kept_files (name, content) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET content = excluded.content",
            name,
            content,
        )

    def remove(self, name: str) -> None:
        self._database.write("DELETE FROM kept_files WHERE name = ?", name)

    def names(self, folder: str, suffix: str = "") -> list[str]:
        rows = self._database.rows("SELECT name FROM kept_files ORDER BY name")
        there = [row["name"] for row in rows]
        return [name for name in there if name.startswith(f"{folder}/") and name.endswith(suffix)]
