"""ZIP and TAR archives as a list of entries that are unpacked one by one, with limits on bytes and on the ratio.

Only the process of `archive_worker` calls this: the archive's author decides how long it takes. Nothing is written to
the disk, and no path of an archive is followed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import SEEK_SET
from typing import IO, Protocol, cast

FREE_UNPACKED_BYTES = 100_000_000
"""Unpacked bytes below which the ratio is not checked: short repetitive texts compress very well."""
_PIECE_BYTES = 1 << 20
_MAX_NAME_CHARS = 1000
_LONG = "a name of more than 1,000 characters"
_LINK = "a link"
_OPENERS = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Limits of one archive: its members, their unpacked size in all and each, and its ratio to the archive's size;
    processor seconds for its list and for each member, wall-clock seconds for all of it.
    """

    members: int = 100_000
    member_bytes: int = 200_000_000
    unpacked_bytes: int = 5_000_000_000
    ratio: int = 100
    list_seconds: float = 60
    member_seconds: float = 30
    clock_seconds: float = 900
    memory_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """A file in an archive. `problem` is a reason why it is not read; `stamp` is empty if the format has none."""

    path: str
    size: int
    stamp: str = ""
    problem: str = ""


class ArchiveRefused(Exception):
    """The archive exceeds a limit; the message is a clause that names it."""


class MemberRefused(Exception):
    """One member cannot be unpacked; the message is a clause with the reason."""


class OpenedFormat(Protocol):
    def entries(self) -> Iterator[ArchiveEntry]: ...

    def open_member(self, number: int) -> IO[bytes]: ...


def open_format(file: IO[bytes], packed_bytes: int, limits: ArchiveLimits) -> OpenedFormat:
    """Return the archive in a file, by its first bytes."""
    head = file.read(6)
    file.seek(0)
    if head.startswith(b"PK"):
        return _Zip(zipfile.ZipFile(file), packed_bytes, limits)
    opener = next((opener for mark, opener in _OPENERS if head.startswith(mark)), None)
    inner = cast("IO[bytes]", opener(file)) if opener else file
    return _Tar(_BoundedStream(inner, packed_bytes, limits), limits)


def check_unpacked(unpacked: int, packed_bytes: int, limits: ArchiveLimits) -> None:
    """Check the bytes that were unpacked so far against the limits.

    Raises:
        ArchiveRefused: that is too much, in all or for an archive of this size.
    """
    if unpacked > limits.unpacked_bytes:
        raise ArchiveRefused(f"it unpacks to more than {limits.unpacked_bytes // 1_000_000:,} MB in all")
    if unpacked > FREE_UNPACKED_BYTES and unpacked > limits.ratio * packed_bytes:
        raise ArchiveRefused(f"it unpacks to more than {limits.ratio} times its size")


class _Zip:
    def __init__(self, archive: zipfile.ZipFile, packed_bytes: int, limits: ArchiveLimits) -> None:
        self._archive = archive
        # Not `is_dir`, which fails for an empty name, such as one that begins with NUL.
        self._files = [one for one in archive.infolist() if not one.filename.endswith("/")]
        self._packed_bytes = packed_bytes
        self._limits = limits

    def entries(self) -> Iterator[ArchiveEntry]:
        # A larger one is refused: it is never unpacked.
        sizes = (one.file_size for one in self._files if one.file_size <= self._limits.member_bytes)
        check_unpacked(sum(sizes), self._packed_bytes, self._limits)
        for one in self._files:
            is_link = one.create_system == 3 and stat.S_ISLNK(one.external_attr >> 16)
            stamp = f"{one.CRC:08x}.{one.file_size}"
            yield _entry(one.filename, one.file_size, stamp, _LINK if is_link else "")

    def open_member(self, number: int) -> IO[bytes]:
        member = self._files[number]
        if member.flag_bits & 1:
            raise MemberRefused("encrypted: unpack the archive with its password")
        return self._archive.open(member)


class _Tar:
    def __init__(self, stream: _BoundedStream, limits: ArchiveLimits) -> None:
        self._limits = limits
        self._archive = tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:")  # noqa: SIM115
        self._files: list[tarfile.TarInfo] = []
        self._rest = self._list_files()

    def entries(self) -> Iterator[ArchiveEntry]:
        for member in self._list_files():
            yield _entry(member.name, member.size, "", _special_reason(member))

    def open_member(self, number: int) -> IO[bytes]:
        # Read on only as far as needed: each step forward unpacks the bytes in between.
        while len(self._files) <= number:
            self._files.append(next(self._rest))
        stream = self._archive.extractfile(self._files[number])
        if stream is None:
            raise MemberRefused("no file")
        return stream

    def _list_files(self) -> Iterator[tarfile.TarInfo]:
        for member in self._archive:
            if not member.isdir():
                if member.size < 0:
                    raise tarfile.ReadError("a negative size")
                yield member


def _special_reason(member: tarfile.TarInfo) -> str:
    if member.issym() or member.islnk():
        return _LINK
    return "" if member.isreg() else "a device or a pipe"


def _entry(path: str, size: int, stamp: str, problem: str) -> ArchiveEntry:
    try:
        path.encode()
    except UnicodeEncodeError:
        # Older programs wrote names in the encoding of their system.
        path = path.encode("utf-8", "surrogateescape" if _is_escaped(path) else "replace").decode("latin-1")
    if len(path) > _MAX_NAME_CHARS:
        return ArchiveEntry(path[:100] + "…", size, stamp, _LONG)
    return ArchiveEntry(path, size, stamp, problem)


def _is_escaped(path: str) -> bool:
    """Return whether all surrogates represent bytes that were no UTF-8."""
    return all(not "\ud800" <= one <= "\udfff" or "\udc80" <= one <= "\udcff" for one in path)


class _BoundedStream:
    """The unpacked bytes of a compressed TAR, which counts all unpacked bytes, including skipped ones."""

    def __init__(self, inner: IO[bytes], packed_bytes: int, limits: ArchiveLimits) -> None:
        self._inner = inner
        self._packed_bytes = packed_bytes
        self._limits = limits
        self._most_reached = 0

    def read(self, size: int = -1) -> bytes:
        data = self._inner.read(size)
        self._most_reached = max(self._most_reached, self._inner.tell())
        check_unpacked(self._most_reached, self._packed_bytes, self._limits)
        return data

    def tell(self) -> int:
        return self._inner.tell()

    def seek(self, position: int, whence: int = SEEK_SET) -> int:
        if whence != SEEK_SET:
            raise OSError("only positions from the start")
        if position < self._inner.tell():
            self._inner.seek(position)
        # Piece by piece, so that the limits are checked in between.
        while (left := position - self._inner.tell()) > 0:
            if not self.read(min(left, _PIECE_BYTES)):
                break
        return self._inner.tell()
