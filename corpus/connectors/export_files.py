"""The files of an export, in a folder or in a ZIP archive: named, bounded, and read one by one."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from argot.corpus.connectors.listing import SourceDown
from argot.document_names import leftover_kind
from argot.files import NotAFile, is_system, read_below, resolved

MOST_FILES = 200_000
MOST_UNPACKED = 200_000_000
"""Bytes of one file of a ZIP archive, where no other bound is given."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What unpacking raises: `RuntimeError` for what is encrypted."""


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """`stamp` stays the same as long as the file does."""

    path: str
    size: int
    stamp: str
    load: Callable[[], bytes]


class ExportFiles:
    """A context manager: closed when all that is wanted of it was read."""

    def __init__(self, place: Path) -> None:
        """
        Raises:
            SourceDown: it is not there, or no whole archive.
        """
        self._archive: zipfile.ZipFile | None = None
        self.place = place
        if is_system(resolved(place)):
            raise SourceDown(f"{place} is the system's own.")
        try:
            files = self._in_folder() if place.is_dir() else self._in_archive()
            self.files: Mapping[str, ExportedFile] = {one.path: one for one in files}
        except (OSError, *_DAMAGED) as error:
            said = error.strerror if isinstance(error, OSError) else "damaged or cut off: not a whole ZIP archive"
            raise SourceDown(f"The export {place} cannot be read: {said}.") from error
        if len(self.files) > MOST_FILES:
            raise SourceDown(f"The export {place} holds more than {MOST_FILES:,} files.")

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()

    @contextmanager
    def opened(self, path: str) -> Iterator[IO[bytes]]:
        """A long file, to be read piece by piece.

        Raises:
            SourceDown: it is damaged.
        """
        try:
            if self._archive is not None:
                with self._archive.open(path) as stream:
                    yield stream
            else:
                with (self.place / path).open("rb") as stream:
                    yield stream
        except (OSError, *_DAMAGED) as error:
            raise SourceDown(f"{path} in the export {self.place} cannot be read: {error}.") from error

    def _in_folder(self) -> Iterator[ExportedFile]:
        root = resolved(self.place, strict=True)

        def unopened(error: OSError) -> None:
            # A part that cannot be seen is not gone.
            raise error

        for parent, folders, files in os.walk(root, onerror=unopened):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                file = Path(parent) / name
                if name.startswith(".") or leftover_kind(name) or file.is_symlink() or not file.is_file():
                    continue
                found = file.stat()
                stamp = f"{found.st_mtime_ns}.{found.st_ctime_ns}.{found.st_size}.{found.st_ino}"
                path = file.relative_to(root).as_posix()
                yield ExportedFile(path, found.st_size, stamp, partial(read_below, root, file))

    def _in_archive(self) -> Iterator[ExportedFile]:
        self._archive = zipfile.ZipFile(self.place)
        for member in self._archive.infolist():
            # Two files of one name: the last one counts, as for every program that unpacks them.
            if not member.is_dir() and not leftover_kind(member.filename):
                stamp = f"{member.CRC:08x}.{member.file_size}"
                yield ExportedFile(member.filename, member.file_size, stamp, partial(self._unpacked, member))

    def _unpacked(self, member: zipfile.ZipInfo) -> bytes:
        assert self._archive is not None
        try:
            with self._archive.open(member) as stream:
                data = stream.read(MOST_UNPACKED + 1)
        except _DAMAGED as error:
            encrypted = member.flag_bits & 1
            raise NotAFile("encrypted" if encrypted else "damaged: it cannot be unpacked") from error
        if len(data) > MOST_UNPACKED:
            raise NotAFile(f"it unpacks to more than {MOST_UNPACKED // 1_000_000} MB")
        return data


def place_mark(place: Path) -> str:
    """Stands for a ZIP archive as it is on the disk; empty for a folder, which only a look into it tells.

    Raises:
        SourceDown: it is not there.
    """
    try:
        found = place.stat()
    except OSError as error:
        raise SourceDown(f"The export {place} cannot be read: {error.strerror}.") from error
    if place.is_dir():
        return ""
    return f"{found.st_mtime_ns}.{found.st_ctime_ns}.{found.st_size}.{found.st_ino}"
