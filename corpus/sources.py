"""What is to be added: files and folders, or anything else that has a URI and bytes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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

    A file that is named itself is always tried. Inside folders, hidden files are passed over, and files of an unknown
    kind come with a reason to skip. Links to folders are not followed: they could lead in circles.

    Args:
        base_uri: the URI of the folder given (or of a file's folder); without it, `file:` URIs are made.
    """
    for path in paths:
        if path.is_dir():
            for file in _files_below(path):
                known = file.suffix.lower() in SUFFIXES
                yield _source(
                    file, path, base_uri, "" if known else f"unknown kind of file ({file.suffix or 'no suffix'})"
                )
        else:
            yield _source(path, path.parent, base_uri, "")


def _files_below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(parent) / name


def _source(file: Path, root: Path, base_uri: str | None, skip: str) -> Source:
    try:
        size = file.stat().st_size
    except OSError:
        size = -1  # `load` will say why
    return Source(_uri(file, root, base_uri), file.name, file.read_bytes, size, skip)


def _uri(file: Path, root: Path, base_uri: str | None) -> str:
    if base_uri is None:
        return Path(os.path.normpath(file.absolute())).as_uri()
    below = quote(file.relative_to(root).as_posix(), errors="surrogateescape")
    return f"{base_uri}{'' if base_uri.endswith('/') else '/'}{below}"
