"""The files of folders and archives, as sources to be added."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from argot.corpus.ingestion.archive_members import is_archive, list_members
from argot.corpus.ingestion.source import Source
from argot.corpus.readers import SUFFIXES, is_readable
from argot.document_names import find_leftover_kind
from argot.files import NotAFile, explain_system_path, is_system, read_anywhere, read_below, require_file, resolve_links

_HEAD_BYTES = 4096
FOLLOW_REMEDY = "name what it leads to, or give --follow-links"


def list_sources(paths: Sequence[Path], base_uri: str | None = None, *, follow_links: bool = False) -> Iterator[Source]:
    """Yield the files at these paths, folders recursively, in a fixed order; for an archive, the files in it.

    A file that is named directly is always tried. Inside folders, hidden files are skipped, and temporary ones that
    programs leave beside documents; a file of unknown kind, a non-file (a pipe, a socket), a link that leaves the
    folder, or a link to a folder is yielded with a reason to skip. A folder that cannot be opened, and a named path
    that must not be added, are yielded as sources that fail.

    A link is read only if its target is in the same folder: a person who can write there must not be able to add the
    reader's own secrets. The system's own files (`/proc`, `/sys`, `/dev`) are never added.

    Args:
        base_uri: the URI of the given folder (or of a file's folder); without it, `file:` URIs are used.
        follow_links: links are followed anywhere, including those to folders; each folder is walked once.
    """
    for path in paths:
        walk = FolderWalk(path if path.is_dir() else path.parent, base_uri, follow_links)
        if refusal := walk.refusal(path):
            yield walk.failing(path, refusal)
            continue
        for source in walk.sources() if path.is_dir() else (walk.source(path),):
            if is_archive(source.name) and not source.skip:
                yield from list_members(source)
            else:
                yield source


def _read_head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(_HEAD_BYTES)


class FolderWalk:
    """One folder that was named, or the folder of one named file."""

    def __init__(self, folder: Path, base_uri: str | None, follow_links: bool) -> None:
        self._folder = folder
        self._real = resolve_links(folder)
        self._base_uri = base_uri
        self._follow = follow_links
        self._walked: set[tuple[int, int]] = set()

    def refusal(self, named: Path) -> str:
        """Return why the named path itself must not be added; empty: it may be."""
        found = resolve_links(named)
        if is_system(found):
            return explain_system_path(found)
        if named.is_symlink() and not self._follow and not found.is_relative_to(resolve_links(named.parent)):
            return f"a link that leaves its folder, to {found}; {FOLLOW_REMEDY}"
        return ""

    def sources(self) -> Iterator[Source]:
        for path, reason in self.entries():
            yield self.source(path, self.explain_skip(path) if reason is None else reason)

    def entries(self) -> Iterator[tuple[Path, str | None]]:
        """Yield the entries of the folder, each with the reason to skip it; None: a file that is not yet checked."""
        unopened: list[OSError] = []
        # The root counts as walked too: a link inside may lead back to it.
        self._is_new(self._folder)
        for parent, folders, files in os.walk(self._folder, onerror=unopened.append, followlinks=self._follow):
            below = Path(parent)
            for name in sorted(files):
                if not name.startswith(".") and not find_leftover_kind(name):
                    yield below / name, None
            reasons = {
                name: self._explain_folder_skip(below / name) for name in sorted(folders) if not name.startswith(".")
            }
            # os.walk goes into the folders that are left in this list.
            folders[:] = [name for name, reason in reasons.items() if not reason]
            yield from ((below / name, reason) for name, reason in reasons.items() if reason)
        # Without a reason: loading them fails, so that they are reported with the others.
        yield from ((Path(error.filename), "") for error in unopened)

    def source(self, file: Path, skip: str = "") -> Source:
        try:
            size = file.stat().st_size
        except OSError:
            size = -1  # loading it will report the reason
        load = partial(read_anywhere, file) if self._follow else partial(read_below, self._real, file)
        return Source(self.uri(file), file.name, load, size, skip)

    def failing(self, named: Path, reason: str) -> Source:
        def load() -> bytes:
            raise NotAFile(reason)

        return Source(self.uri(named), named.name, load)

    def explain_skip(self, file: Path, *, known: bool = False) -> str:
        """Return why a file in the folder is skipped; empty if it is not. A file `known` to be text is not read for
        it.
        """
        if file.suffix and file.suffix.lower() not in SUFFIXES and not is_archive(file.name):
            return f"unknown kind of file ({file.suffix})"
        try:
            found = resolve_links(file, strict=True)
            if is_system(found):
                return explain_system_path(found)
            if not self._follow and not found.is_relative_to(self._real):
                return f"a link that leaves the folder, to {found}; {FOLLOW_REMEDY}"
            require_file(found.stat().st_mode)
            readable = known or file.suffix or is_readable(_read_head(found))
            return "" if readable else "unknown kind of file (no suffix, and no text)"
        except NotAFile as error:
            return str(error.strerror)
        except OSError:
            return ""  # loading it will report the reason

    def _explain_folder_skip(self, folder: Path) -> str:
        """Return why a subfolder is not walked; empty if it is."""
        found = resolve_links(folder)
        if is_system(found):
            return explain_system_path(found)
        if folder.is_symlink():
            if not self._follow:
                return f"a link to a folder; {FOLLOW_REMEDY}"
            if found.is_relative_to(self._real):
                return "a link to a folder that is added anyhow"
        return "" if self._is_new(folder) else "a folder that is added already; a link leads there"

    def _is_new(self, folder: Path) -> bool:
        try:
            found = folder.stat()
        except OSError:
            return True  # opening it will report the reason
        # Through links a folder can have several paths and can even contain itself.
        known = (found.st_dev, found.st_ino) in self._walked
        self._walked.add((found.st_dev, found.st_ino))
        return not known

    def uri(self, file: Path) -> str:
        if self._base_uri is None:
            # Without `..`, so that a file has one URI however its path was written.
            return Path(os.path.normpath(file.absolute())).as_uri()
        # Bytes of a name that are not valid UTF-8 are percent-encoded as they are on the disk.
        below = quote(file.relative_to(self._folder).as_posix(), errors="surrogateescape")
        return f"{self._base_uri}{'' if self._base_uri.endswith('/') else '/'}{below}"
