"""The files of an export, in a folder or in a ZIP archive: listed, limited in size, and read one by one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from argot.corpus.connectors.listing import SourceDown
from argot.corpus.ingestion.archive_formats import ArchiveLimits
from argot.corpus.ingestion.archive_process import UnpackedArchive
from argot.document_names import find_leftover_kind
from argot.files import NotAFile, is_system, read_below, resolve_links

MAX_EXPORT_FILES = 200_000
_EXPORT_LIMITS = ArchiveLimits(
    members=MAX_EXPORT_FILES, unpacked_bytes=100_000_000_000, list_seconds=120, clock_seconds=7200
)
"""Limits of an export that is a ZIP archive: a manager names it, and it may be a whole wiki."""


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """`stamp` stays the same as long as the file does."""

    path: str
    size: int
    stamp: str
    load: Callable[[], bytes]


class ExportFiles:
    """A context manager: closed when everything needed was read."""

    def __init__(self, place: Path) -> None:
        """
        Raises:
            SourceDown: it does not exist, or is no complete archive.
        """
        self._archive: UnpackedArchive | None = None
        self._members: dict[str, int] = {}
        self.place = place
        if is_system(resolve_links(place)):
            raise SourceDown(f"{place} is the system's own.")
        try:
            files = self._list_folder() if place.is_dir() else self._list_archive()
            self.files: Mapping[str, ExportedFile] = {one.path: one for one in files}
        except OSError as error:
            raise SourceDown(f"The export {place} cannot be read: {error.strerror}.") from error
        if len(self.files) > MAX_EXPORT_FILES:
            raise SourceDown(f"The export {place} holds more than {MAX_EXPORT_FILES:,} files.")

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()

    @contextmanager
    def open_file(self, path: str) -> Iterator[IO[bytes]]:
        """Open a long file, to be read piece by piece.

        Raises:
            SourceDown: it is damaged.
        """
        try:
            if self._archive is not None:
                with self._archive.stream(self._members[path]) as stream:
                    yield stream
            else:
                with (self.place / path).open("rb") as stream:
                    yield stream
        except OSError as error:
            raise SourceDown(f"{path} in the export {self.place} cannot be read: {error.strerror or error}.") from error

    def _list_folder(self) -> Iterator[ExportedFile]:
        root = resolve_links(self.place, strict=True)

        def raise_unopened(error: OSError) -> None:
            # An inaccessible part is not deleted.
            raise error

        for parent, folders, files in os.walk(root, onerror=raise_unopened):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                file = Path(parent) / name
                if name.startswith(".") or find_leftover_kind(name) or file.is_symlink() or not file.is_file():
                    continue
                found = file.stat()
                stamp = f"{found.st_mtime_ns}.{found.st_ctime_ns}.{found.st_size}.{found.st_ino}"
                path = file.relative_to(root).as_posix()
                yield ExportedFile(path, found.st_size, stamp, partial(read_below, root, file))

    def _list_archive(self) -> Iterator[ExportedFile]:
        archive = self._archive = UnpackedArchive(self.place, _EXPORT_LIMITS)
        listed = archive.list_entries()
        if listed.problem:
            raise NotAFile(listed.problem if listed.is_refused else "damaged or cut off: not a whole ZIP archive")
        for number, entry in enumerate(listed.entries):
            if not entry.problem and not find_leftover_kind(entry.path):
                # Two files of one name: the last one counts, as in every unpacking program.
                self._members[entry.path] = number
                yield ExportedFile(entry.path, entry.size, entry.stamp, partial(archive.read, number))


def read_place_mark(place: Path) -> str:
    """Return a mark of a ZIP archive's state on the disk; empty for a folder, whose files must be listed.

    Raises:
        SourceDown: it does not exist.
    """
    try:
        found = place.stat()
    except OSError as error:
        raise SourceDown(f"The export {place} cannot be read: {error.strerror}.") from error
    if place.is_dir():
        return ""
    return f"{found.st_mtime_ns}.{found.st_ctime_ns}.{found.st_size}.{found.st_ino}"
