"""Opens files whose paths are untrusted, without being misled; replaces Argot's own files atomically.

Opening a pipe may wait for ever, reading a device never ends, and opening some devices has effects. A link may point to
a file that the reader may read and the link's owner may not. A file that is checked by path may be replaced before it
is opened. The opened file is therefore checked, and the path to it is walked folder by folder, by handles
(`read_below`).

`replace_atomically` and `write_atomically` write one of Argot's files so that nobody ever sees half of it.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

SYSTEM_FOLDERS = (Path("/proc"), Path("/sys"), Path("/dev"))
"""Folders whose files belong to the system and its processes: memory, environments, devices."""
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link"),
)
# Non-blocking: opening a pipe nobody writes to would otherwise wait for ever, before its kind can be checked.
_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
# macOS has no O_PATH.
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW
"""A folder may be traversable without being listable."""


_NO_FLUSH_ERRNOS = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
"""Errors of file systems that flush only files, not folders."""


class NotAFile(OSError):
    """The path is no readable file; `strerror` says what it is."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EINVAL, reason)


def read_bytes(path: Path, most: int = -1) -> bytes:
    """Return the first `most` bytes of a file (-1: all), possibly through a link.

    Raises:
        OSError: it cannot be read. NotAFile: it is a pipe, a device or similar.
    """
    # Before opening, since that alone has effects on some devices; and after it, since the file may have been replaced.
    require_file(path.stat().st_mode)
    with _open_file(path) as handle, open(handle, "rb", closefd=False) as file:
        require_file(os.fstat(handle).st_mode)
        return file.read(most)


def read_text(path: Path) -> str:
    """Return a file as UTF-8 text, with any encoding mark and line ends.

    Raises:
        OSError: as `read_bytes`. UnicodeDecodeError
    """
    # Line ends as Python's text mode reads them, which reading bytes does not do.
    return read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def read_below(root: Path, path: Path) -> bytes:
    """Read a file in a folder, or below it; links in that folder are followed if they do not leave it.

    Args:
        root: without links (`resolve_links`).

    Raises:
        OSError: it cannot be read. NotAFile: it is no file, has moved elsewhere, or belongs to the system.
    """
    found = resolve_links(path, strict=True)
    if not found.is_relative_to(root):
        raise NotAFile("a link that leaves its folder")
    # Folder by folder: a link created after `resolve_links` must not lead out of the root.
    with _walk_folders(root, found.relative_to(root).parts[:-1]) as folder:
        require_file(os.stat(found.name, dir_fd=folder, follow_symlinks=False).st_mode)
        with _open_file(found.name, os.O_NOFOLLOW, folder) as handle:
            return _read_document(handle)


def read_anywhere(path: Path) -> bytes:
    """Read a file wherever links lead, unless it belongs to the system.

    Raises:
        OSError: it cannot be read. NotAFile
    """
    found = resolve_links(path, strict=True)
    if is_system(found):
        raise NotAFile(explain_system_path(found))
    require_file(found.stat().st_mode)
    with _open_file(found) as handle:
        return _read_document(handle)


def resolve_links(path: Path, *, strict: bool = False) -> Path:
    """Return the path without links. Not `Path.resolve`, which raises RuntimeError for circular links (Python 3.11).

    Raises:
        OSError: there is nothing, or links are circular (only if `strict`).
    """
    return Path(os.path.realpath(path, strict=strict))


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that readers see the old one or the new one, even if the power fails in between.

    Only its owner can read it.
    """
    with replace_atomically(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def replace_atomically(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file beside `path`, called `.NAME.something`, which replaces it once all of it has reached the disk.

    It is removed if writing fails; a leftover one comes from a process that was killed.
    """
    # In the same folder: a rename to another file system would be a copy.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            # Before the rename: some file systems keep the new name and lose its content when the power fails.
            os.fsync(file.fileno())
        draft.replace(path)
    # Also when the process is interrupted: a leftover draft would look like a user's file.
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    # The rename itself reaches the disk only now.
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Flush a folder to the disk: files created or renamed in it. It does nothing if the system cannot flush folders.

    Raises:
        OSError: the disk could not store it.
    """
    try:
        opened = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders; others may allow writing in one that cannot be listed
        return
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in _NO_FLUSH_ERRNOS:
            raise
    finally:
        os.close(opened)


def require_file(mode: int) -> None:
    """Refuse a path that is no regular file, by its `st_mode`.

    Raises:
        NotAFile
    """
    if not stat.S_ISREG(mode):
        raise NotAFile(f"{next((name for is_kind, name in _KINDS if is_kind(mode)), 'no file')}, and no file")


def is_system(found: Path) -> bool:
    """Return whether a path without links belongs to the system: by its name, or by the file system mounted there."""
    if any(found.is_relative_to(one) for one in SYSTEM_FOLDERS):
        return True
    # An inaccessible path will fail when it is opened, with the better message.
    with suppress(OSError):
        return found.stat().st_dev in _find_system_devices()
    return False


def explain_system_path(found: Path) -> str:
    return f"{found} is the system's own, and no document"


def _read_document(handle: int) -> bytes:
    found = os.fstat(handle)
    require_file(found.st_mode)
    if found.st_dev in _find_system_devices():
        raise NotAFile("a file of the system's own, and no document")
    with open(handle, "rb", closefd=False) as file:
        return file.read()


@contextmanager
def _open_file(path: Path | str, flags: int = 0, folder: int | None = None) -> Iterator[int]:
    handle = os.open(path, _READ_FLAGS | flags, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _walk_folders(root: Path, parts: tuple[str, ...]) -> Iterator[int]:
    """Return a handle of the folder at the end of these parts below `root`; a part that is a link raises OSError."""
    handle = os.open(root, _FOLDER_FLAGS)
    try:
        for part in parts:
            inner = os.open(part, _FOLDER_FLAGS, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


@cache
def _find_system_devices() -> frozenset[int]:
    # By device: the same file system may be mounted elsewhere, too.
    found = {one.stat().st_dev for one in SYSTEM_FOLDERS if one.exists()}
    # In some containers /dev is on the root's own file system: then its number proves nothing.
    return frozenset(found - {Path("/").stat().st_dev})
