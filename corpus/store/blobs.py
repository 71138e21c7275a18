"""The original bytes of every revision, stored once by their hash: in the folder, in the database, or elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from argot.errors import DamagedStore
from argot.files import NotAFile, read_bytes, write_atomically
from argot.remedies import restore_command


class Blobs(Protocol):
    """Originals by the hash of their content. Safe to use from several threads and processes.

    Every method raises `StoreUnavailable` if the storage is unavailable.
    """

    @property
    def place(self) -> str:
        """The location of the originals for messages: without a password."""

    def put(self, content_hash: str, data: bytes) -> None:
        """Store the original; durable when it returns. An existing one stays unchanged: its name identifies its
        content.
        """

    def get(self, content_hash: str) -> bytes:
        """Return the original with this hash.

        Raises:
            DamagedStore: it is missing, or has other content.
        """

    def remove(self, content_hash: str) -> None:
        """Remove the original; do nothing if there is none."""

    def __contains__(self, content_hash: str) -> bool: ...

    def __iter__(self) -> Iterator[str]:
        """Yield the hashes of all, in order. Half-written ones are not among them."""

    def remove_drafts(self) -> None:
        """Remove the drafts of a process that was killed while writing. Nobody may be writing meanwhile."""


class FolderBlobs:
    """`<root>/ab/cdef...`: the first two digits of the hash are the folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def place(self) -> str:
        return str(self.root)

    def put(self, content_hash: str, data: bytes) -> None:
        """Store it durably: a draft is written, flushed to the disk and renamed."""
        path = self._path(content_hash)
        # Files are named by their hash: an existing one has these very bytes.
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)

    def get(self, content_hash: str) -> bytes:
        try:
            return read_bytes(self._path(content_hash))
        except (FileNotFoundError, NotAFile):
            raise DamagedStore(
                f"{self._path(content_hash)} is missing. Bring back a backup with: {restore_command(self.root.parent)}"
            ) from None

    def remove(self, content_hash: str) -> None:
        path = self._path(content_hash)
        path.unlink(missing_ok=True)
        if path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()

    def __contains__(self, content_hash: str) -> bool:
        return self._path(content_hash).exists()

    def __iter__(self) -> Iterator[str]:
        # Drafts begin with a dot.
        for path in sorted(self.root.glob("??/[!.]*")):
            yield path.parent.name + path.name

    def remove_drafts(self) -> None:
        for draft in self.root.glob("??/.*"):
            draft.unlink(missing_ok=True)

    def _path(self, content_hash: str) -> Path:
        return self.root / content_hash[:2] / content_hash[2:]
