"""What is to be added: files and folders, or anything else that has a URI and bytes."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from argot.corpus.readers import SUFFIXES


@dataclass(frozen=True, slots=True)
class Source:
    """One document to add. `load` is called when its turn comes; `size` is in bytes, -1 when not known before.

    `skip` holds a reason where it is not to be added at all, so that nothing is passed over in silence.
    """

    uri: str
    name: str
    load: Callable[[], bytes]
    size: int = -1
    skip: str = ""


def sources_in(paths: Sequence[Path], base_uri: str | None = None) -> Iterator[Source]:
    """The files at these paths, folders recursively, in a fixed order.

    A file that is named itself is always tried. Inside folders, hidden files are passed over; what is of an unknown
    kind, no file (a pipe, a socket) or a link to a folder (it could lead in circles) comes with a reason to skip. A
    folder that cannot be opened comes as a source that fails.

    Args:
        base_uri: the URI of the folder given (or of a file's folder); without it, `file:` URIs are made.
    """
    for path in paths:
        if path.is_dir():
            for found, skip in _below(path):
                yield _source(found, path, base_uri, skip)
        else:
            yield _source(path, path.parent, base_uri, "")


def _below(folder: Path) -> Iterator[tuple[Path, str]]:
    """What lies below a folder, each with the reason to skip it."""
    unopened: list[OSError] = []
    for parent, folders, files in os.walk(folder, onerror=unopened.append):
        below = Path(parent)
        for name in sorted(files):
            if not name.startswith("."):
                yield below / name, _reason_to_skip(below / name)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links = [below / name for name in folders if (below / name).is_symlink()]
        yield from ((link, "a link to a folder: name it to add it") for link in links)
    yield from ((Path(error.filename), "") for error in unopened)


def _reason_to_skip(file: Path) -> str:
    if file.suffix.lower() not in SUFFIXES:
        return f"unknown kind of file ({file.suffix or 'no suffix'})"
    try:
        return "" if stat.S_ISREG(file.stat().st_mode) else "no regular file"
    except OSError:
        return ""  # loading it will say why


def _source(file: Path, root: Path, base_uri: str | None, skip: str) -> Source:
    try:
        size = file.stat().st_size
    except OSError:
        size = -1  # loading it will say why
    return Source(_uri(file, root, base_uri), file.name, partial(_load, file), size, skip)


def _load(file: Path) -> bytes:
    """The bytes of a regular file; opening a pipe or a device could wait for ever, and reading it never end.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    with open(file, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise OSError(errno.EINVAL, "no regular file")
        return opened.read()


def _uri(file: Path, root: Path, base_uri: str | None) -> str:
    if base_uri is None:
        return Path(os.path.normpath(file.absolute())).as_uri()
    below = quote(file.relative_to(root).as_posix(), errors="surrogateescape")
    return f"{base_uri}{'' if base_uri.endswith('/') else '/'}{below}"
