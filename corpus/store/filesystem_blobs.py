"""Originals wherever fsspec reaches: above all in a bucket of an S3-compatible store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from argot.corpus.store.blobs import Blobs, FolderBlobs
from argot.errors import DamagedStore, InvalidSettings, MissingExtra, StoreUnavailable

WHOLE_AT_ONCE = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "az", "memory"})
"""Protocols that show a new file only when it is complete."""


def open_blobs(url: str) -> Blobs:
    """Return the store of original files at this address.

    Args:
        url: the setting 'blob_url': `file:///FOLDER`, or a URL for fsspec, such as `s3://BUCKET/PREFIX`.

    Raises:
        InvalidSettings: it is invalid.
        MissingExtra: fsspec is not installed.
    """
    scheme, separator, _ = url.partition("://")
    if not separator:
        raise InvalidSettings("The setting 'blob_url' is no address. Give it as s3://BUCKET/PREFIX or file:///FOLDER.")
    if scheme == "file":
        return FolderBlobs(Path(unquote(urlsplit(url).path)))
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtra("Originals elsewhere (setting 'blob_url')", "objects") from error
    try:
        # Another process may have stored an original there since this one listed them.
        filesystem, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        raise InvalidSettings(f"The setting 'blob_url' ({scheme}://) needs another package: {error}.") from error
    except ValueError as error:
        raise InvalidSettings(
            f"The setting 'blob_url' begins with {scheme}://, which fsspec does not know. "
            "Give it as s3://BUCKET/PREFIX or file:///FOLDER."
        ) from error
    return FilesystemBlobs(filesystem, root, whole_at_once=scheme in WHOLE_AT_ONCE)


class FilesystemBlobs:
    """`<root>/ab/cdef...`, as `FolderBlobs` has them.

    Args:
        filesystem: an `fsspec.AbstractFileSystem`.
        whole_at_once: half-written files cannot be seen; otherwise each is written under another name first.
    """

    def __init__(self, filesystem: Any, root: str, *, whole_at_once: bool) -> None:
        self._files = filesystem
        self._root = root.rstrip("/")
        self._whole_at_once = whole_at_once

    @property
    def place(self) -> str:
        protocol = self._files.protocol
        return f"{protocol if isinstance(protocol, str) else protocol[0]}://{self._root.lstrip('/')}"

    def put(self, content_hash: str, data: bytes) -> None:
        if content_hash in self:
            return
        path = self._path(content_hash)
        with self._convert_errors():
            if self._whole_at_once:
                # No folder is created: buckets have none, and a misspelt one would otherwise be created.
                self._files.pipe_file(path, data)
            else:
                folder = path.rpartition("/")[0]
                self._files.makedirs(folder, exist_ok=True)
                # Each has its own draft: several may store the same original at once.
                draft = f"{folder}/.{uuid4().hex}"
                self._files.pipe_file(draft, data)
                self._files.mv(draft, path)

    def get(self, content_hash: str) -> bytes:
        with self._convert_errors(), suppress(FileNotFoundError):
            return bytes(self._files.cat_file(self._path(content_hash)))
        raise DamagedStore(
            f"The original {content_hash} is missing from {self.place}. Bring it back from a backup of that."
        )

    def remove(self, content_hash: str) -> None:
        with self._convert_errors(), suppress(FileNotFoundError):
            self._files.rm_file(self._path(content_hash))

    def __contains__(self, content_hash: str) -> bool:
        with self._convert_errors():
            return bool(self._files.exists(self._path(content_hash)))

    def __iter__(self) -> Iterator[str]:
        with self._convert_errors():
            found = [path[len(self._root) + 1 :] for path in self._list_files()]
        yield from sorted(name.replace("/", "") for name in found if "/." not in name)

    def remove_drafts(self) -> None:
        with self._convert_errors():
            for path in self._list_files():
                if path.rpartition("/")[2].startswith("."):
                    self._files.rm_file(path)

    def _list_files(self) -> list[str]:
        try:
            return [str(path) for path in self._files.find(self._root)]
        except FileNotFoundError:
            return []

    def _path(self, content_hash: str) -> str:
        return f"{self._root}/{content_hash[:2]}/{content_hash[2:]}"

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Each package behind fsspec has its own errors."""
        try:
            yield
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise StoreUnavailable(
                f"The originals at {self.place} cannot be read or written: {reason}. See that this machine reaches it "
                "and may write there, and try again.",
                "See that Argot reaches what keeps its original files",
            ) from error
