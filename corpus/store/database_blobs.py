"""Originals in a store of the database: in pieces, so that none is ever sent or stored as one large value."""

from __future__ import annotations

from collections.abc import Iterator

from argot.databases import Database, PerEngine, StoreMigration, Stores
from argot.errors import DamagedStore

STORE = "blobs"
PIECE_BYTES = 1024 * 1024
PAGE_ROWS = 1000
"""Hashes that are listed at a time."""

_TABLES = """
CREATE TABLE blobs (hash TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE blob_pieces (hash TEXT NOT NULL, piece INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (hash, piece));
"""
# Most originals are compressed by themselves (PDF, Office, pictures): PostgreSQL would compress them without gain.
_AS_THEY_ARE = "ALTER TABLE blob_pieces ALTER COLUMN data SET STORAGE EXTERNAL;"
MIGRATIONS: list[StoreMigration] = [PerEngine(sqlite=_TABLES, postgresql=_TABLES + _AS_THEY_ARE)]


class DatabaseBlobs:
    """
    Raises:
        DamagedStore, StoreUnavailable: from every method.
    """

    def __init__(self, stores: Stores) -> None:
        self._database: Database = stores.open(STORE, MIGRATIONS)

    @property
    def place(self) -> str:
        return self._database.name

    def put(self, content_hash: str, data: bytes) -> None:
        if content_hash in self:
            return
        with self._database.transaction() as connection:
            made = connection.execute(
                "INSERT INTO blobs (hash, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING", (content_hash, len(data))
            )
            if not made.rowcount:  # another process was faster
                return
            for piece, start in enumerate(range(0, len(data), PIECE_BYTES)):
                connection.execute(
                    "INSERT INTO blob_pieces (hash, piece, data) VALUES (?, ?, ?)",
                    (content_hash, piece, data[start : start + PIECE_BYTES]),
                )

    def get(self, content_hash: str) -> bytes:
        found = self._database.rows("SELECT bytes FROM blobs WHERE hash = ?", content_hash)
        whole = bytearray()
        while found and len(whole) < found[0]["bytes"]:
            sql = "SELECT data FROM blob_pieces WHERE hash = ? AND piece = ?"
            piece = self._database.rows(sql, content_hash, len(whole) // PIECE_BYTES)
            if not piece:
                break
            whole += piece[0]["data"]
        if not found or len(whole) != found[0]["bytes"]:
            raise DamagedStore(
                f"The original {content_hash} is missing from {self.place}. Bring back a backup of the database."
            )
        return bytes(whole)

    def remove(self, content_hash: str) -> None:
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM blob_pieces WHERE hash = ?", (content_hash,))
            connection.execute("DELETE FROM blobs WHERE hash = ?", (content_hash,))

    def __contains__(self, content_hash: str) -> bool:
        return bool(self._database.rows("SELECT 1 FROM blobs WHERE hash = ?", content_hash))

    def __iter__(self) -> Iterator[str]:
        after = ""
        while rows := self._database.rows(
            "SELECT hash FROM blobs WHERE hash > ? ORDER BY hash LIMIT ?", after, PAGE_ROWS
        ):
            yield from (row["hash"] for row in rows)
            after = rows[-1]["hash"]

    def remove_drafts(self) -> None:
        """There are none: an original is committed with its transaction, or not at all."""
