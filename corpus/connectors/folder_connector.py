"""A folder as a source: a file is read only if its time, size or identity on the disk has changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from argot.corpus.connectors.listing import ListedDocument, Patterns, SourceDown
from argot.corpus.ingestion.archive_members import is_archive, list_members
from argot.corpus.ingestion.source import Source
from argot.corpus.ingestion.sources import FolderWalk
from argot.files import NotAFile

UNSETTLED_NANOSECONDS = 20_000_000
"""A file that was changed this shortly before the check may change again without a new time: clocks of file systems
tick every 4 ms or so."""
MAX_READ_ATTEMPTS = 3


class FolderConnector:
    """Files below a folder, as `sources_in` finds them; for an archive, the files in it."""

    def __init__(
        self, folder: Path, patterns: Patterns, base_uri: str | None = None, *, follow_links: bool = False
    ) -> None:
        self._folder = folder
        self._patterns = patterns
        self._base_uri = base_uri
        self._follow_links = follow_links

    def close(self) -> None:
        """Nothing is open."""

    def mark(self) -> str:
        return ""

    def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument]:
        try:
            # Listed and not only checked: an unmounted folder may exist and yet not be readable.
            with os.scandir(self._folder):
                pass
        except OSError as error:
            raise SourceDown(f"The folder {self._folder} cannot be read: {error.strerror}.") from error
        walk = FolderWalk(self._folder, self._base_uri, self._follow_links)
        if refusal := walk.refusal(self._folder):
            raise SourceDown(f"The folder {self._folder} is not read: {refusal}.")
        members = _group_members(known)
        for path, reason in walk.entries():
            if not self._patterns.accept(path.relative_to(self._folder).as_posix()):
                continue
            yield from _list_path(walk, path, reason, known, members)


def _list_path(
    walk: FolderWalk, path: Path, reason: str | None, known: Mapping[str, str], members: Mapping[str, list[str]]
) -> Iterator[ListedDocument]:
    uri = walk.uri(path)
    try:
        stamp = _make_stamp(path.stat())
    except FileNotFoundError:
        if not path.is_symlink():  # gone since the folder was listed
            return
        stamp = ""
    except OSError as error:
        yield ListedDocument(walk.source(path), "", error.strerror or "it cannot be looked at")
        return
    if reason is None:
        reason = walk.explain_skip(path, known=bool(stamp) and known.get(uri) == stamp)
    elif not reason:
        yield ListedDocument(walk.source(path), "", "the folder cannot be opened")
        return
    source = walk.source(path, reason)
    if is_archive(path.name) and not reason:
        yield from _list_members(source, stamp, known, members.get(uri, []))
    else:
        yield ListedDocument(replace(source, load=_load_steadily(path, source.load)), stamp)


def _list_members(
    archive: Source, stamp: str, known: Mapping[str, str], members: list[str]
) -> Iterator[ListedDocument]:
    """Yield the files in an archive, which is opened only if one of its files has another stamp."""
    if stamp and members and all(known[uri] == stamp for uri in members):
        for uri in members:
            # The name as in the archive: its suffix selects the reader.
            name = unquote(uri.rsplit("/", 1)[-1])
            yield ListedDocument(Source(uri, name, partial(_load_member, archive, uri)), stamp)
        return
    for member in list_members(archive):
        # A damaged archive is itself a source, which fails when it is loaded.
        yield ListedDocument(member, stamp, _describe_problem(member) if member.uri == archive.uri else "")


def _load_member(archive: Source, uri: str) -> bytes:
    for member in list_members(archive):
        if member.uri == uri:
            return member.load()
    raise NotAFile("it is not in the archive any more")


def _describe_problem(archive: Source) -> str:
    try:
        archive.load()
    except OSError as error:
        return error.strerror or "it cannot be read"
    return "it cannot be unpacked"


def _group_members(known: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the known URIs within each archive."""
    found: dict[str, list[str]] = {}
    for uri in known:
        archive, inside, _ = uri.partition("!/")
        if inside:
            found.setdefault(archive, []).append(uri)
    return found


def _make_stamp(found: os.stat_result) -> str:
    """Return the stamp of a file; empty if it may change again unnoticed: it is then read the next time as well."""
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    # A time in the future is unreliable.
    if 0 <= time.time_ns() - changed < UNSETTLED_NANOSECONDS:
        return ""
    return f"{found.st_mtime_ns}.{found.st_ctime_ns}.{found.st_size}.{found.st_ino}"


def _load_steadily(path: Path, load: Callable[[], bytes]) -> Callable[[], bytes]:
    """Return a function that loads the bytes of a file that did not change while it was read.

    Raises:
        NotAFile: it keeps changing.
    """

    def load_stable() -> bytes:
        for _ in range(MAX_READ_ATTEMPTS):
            before = _read_version(path)
            data = load()
            if _read_version(path) == before:
                return data
        raise NotAFile("it changes while it is read; it is tried again the next time")

    return load_stable


def _read_version(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino
