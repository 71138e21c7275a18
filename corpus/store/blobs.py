"""The original bytes of every revision, stored once by their hash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from argot.errors import DamagedStore
from argot.files import NotAFile, read_bytes, write_atomically
from argot.remedies import restore_command


class Blobs:
    """`<root>/ab/cdef...`: the first two digits of the hash are the folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, content_hash: str, data: bytes) -> None:
        """Durable when it returns: a draft is written, flushed to the disk and renamed."""
        path = self._path(content_hash)
        # Files are named by their hash: one that exists holds these very bytes.
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)

    def get(self, content_hash: str) -> bytes:
        """
        Raises:
            DamagedStore: the file is gone, or something else lies in its place.
        """
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
        """Drafts are left by a process that was killed while writing."""
        for draft in self.root.glob("??/.*"):
            draft.unlink(missing_ok=True)

    def _path(self, content_hash: str) -> Path:
        return self.root / content_hash[:2] / content_hash[2:]
