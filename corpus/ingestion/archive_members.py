"""Archives of documents (zip, tar): each file in one is a source of its own, named by archive and path."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from urllib.parse import quote

from argot.corpus.ingestion.source import Source
from argot.corpus.readers import SUFFIXES
from argot.document_names import ARCHIVE_SUFFIXES, leftover_kind, plain_text
from argot.files import NotAFile

MOST_BYTES = 500_000_000
"""Of an archive: it is held in memory while its files are read."""
MOST_FILES = 100_000
MOST_UNPACKED = 200_000_000
"""Bytes of one file in it: no document is longer, whatever the limit of files on the disk."""
_LARGE = "unpack it, and add the folder"


def is_archive(name: str) -> bool:
    return name.casefold().endswith(ARCHIVE_SUFFIXES)


def members_of(archive: Source) -> Iterator[Source]:
    """The files in an archive, in its order; hidden ones are passed over. What is wrong with the archive as a whole
    comes as one source that fails.
    """
    if archive.size > MOST_BYTES:
        yield _failing(archive, f"an archive of more than {MOST_BYTES // 1_000_000} MB; {_LARGE}")
        return
    try:
        data = archive.load()
        members = list((_zipped if data.startswith(b"PK") else _tarred)(data))
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError) as error:
        said = error.strerror if isinstance(error, OSError) else None
        yield _failing(archive, said or "damaged, or no archive of a known kind")
        return
    if len(members) > MOST_FILES:
        yield _failing(archive, f"an archive of more than {MOST_FILES:,} files; {_LARGE}")
        return
    places: set[str] = set()
    for path, size, load in members:
        place = _place(path)
        if place and not _is_hidden(place):
            skip = "another file in the archive has its name" if place in places else _reason(place)
            places.add(place)
            yield Source(f"{archive.uri}!/{quote(place)}", PurePosixPath(place).name, load, size, skip)


def _place(path: str) -> str:
    """Where a file lies in the archive; what its path leads to outside is left out."""
    # Some programs of Windows part folders by backslashes.
    parts = (plain_text(part) for part in path.replace("\\", "/").split("/"))
    return "/".join(part for part in parts if part.strip(". "))


_Member = tuple[str, int, Callable[[], bytes]]
"""Path, bytes, and what unpacks it."""


def _zipped(data: bytes) -> Iterator[_Member]:
    archive = zipfile.ZipFile(io.BytesIO(data))
    for member in archive.infolist():
        if not member.is_dir():
            yield member.filename, member.file_size, partial(_unzipped, archive, member)


def _unzipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.flag_bits & 1:
        raise NotAFile("encrypted: unpack the archive with its password")
    try:
        with archive.open(member) as stream:
            return _bounded(stream.read(MOST_UNPACKED + 1))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise NotAFile("damaged: it cannot be unpacked") from error


def _tarred(data: bytes) -> Iterator[_Member]:
    archive = tarfile.open(fileobj=io.BytesIO(data))  # noqa: SIM115  (its members are read one by one, later)
    # Links and devices are no documents.
    for member in archive:
        if member.isreg():
            yield member.name, member.size, partial(_untarred, archive, member)


def _untarred(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    try:
        stream = archive.extractfile(member)
        return _bounded(stream.read(MOST_UNPACKED + 1)) if stream else b""
    except (tarfile.TarError, zlib.error, EOFError) as error:
        raise NotAFile("damaged: it cannot be unpacked") from error


def _bounded(data: bytes) -> bytes:
    # The size that an archive claims for a file may be a lie.
    if len(data) > MOST_UNPACKED:
        raise NotAFile(f"it unpacks to more than {MOST_UNPACKED // 1_000_000} MB")
    return data


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in path.split("/")) or bool(leftover_kind(path))


def _reason(path: str) -> str:
    """Why a file in an archive is skipped; empty: it is not."""
    suffix = PurePosixPath(path).suffix
    if is_archive(path):
        return "an archive in an archive"
    return "" if not suffix or suffix.casefold() in SUFFIXES else f"unknown kind of file ({suffix})"


def _failing(archive: Source, reason: str) -> Source:
    def load() -> bytes:
        raise NotAFile(reason)

    return Source(archive.uri, archive.name, load)
