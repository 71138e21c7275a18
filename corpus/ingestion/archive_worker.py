"""The child process of `archive_process`: lists and unpacks one archive until its parent ends."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

from argot.corpus.ingestion.archive_formats import (
    ArchiveEntry,
    ArchiveLimits,
    ArchiveRefused,
    MemberRefused,
    OpenedFormat,
    open_format,
)
from argot.corpus.ingestion.archive_protocol import ENTRIES_PER_MESSAGE, MAX_SMALL_BYTES, encode_entries
from argot.subprocesses import Parent, limit_resources

NICE = 10
"""Questions take precedence."""
_TOGETHER_SECONDS = 0.5
_DAMAGED = "damaged: it cannot be unpacked"
_UNKNOWN = "damaged, or no archive of a known kind"


def main() -> None:
    parent = Parent(NICE)
    worker = _Worker(parent.send)
    for message, data in parent.messages():
        worker.answer(json.loads(message), data)


class _Worker:
    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send
        self._limits = ArchiveLimits()
        self._file: IO[bytes] = io.BytesIO()
        self._packed_bytes = 0
        self._archive: OpenedFormat | None = None
        self._stream: tuple[int, IO[bytes]] | None = None

    def answer(self, request: dict[str, Any], data: bytes) -> None:
        match request["ask"]:
            case "open":
                self._open(request, data)
            case "list":
                self._list()
            case "read":
                self._read_together(request["members"])
            case "piece":
                self._answer_with(lambda: self._read_piece(request["member"], request["offset"], request["size"]))

    def _open(self, request: dict[str, Any], data: bytes) -> None:
        self._limits = ArchiveLimits(**request["limits"])
        try:
            self._file = Path(request["path"]).open("rb") if request["path"] else io.BytesIO(data)  # noqa: SIM115
            self._packed_bytes = self._file.seek(0, io.SEEK_END)
            self._file.seek(0)
            self._say()
        except OSError as error:
            self._say(error.strerror or _UNKNOWN)

    def _open_archive(self) -> OpenedFormat:
        if self._archive is None:
            self._file.seek(0)
            self._archive = open_format(self._file, self._packed_bytes, self._limits)
        return self._archive

    def _list(self) -> None:
        count, problem, refused = 0, "", False
        try:
            with limit_resources(self._limits.list_seconds, self._limits.memory_bytes):
                entries = self._open_archive().entries()
                while some := list(_until_damaged(islice(entries, ENTRIES_PER_MESSAGE))):
                    count += sum(isinstance(one, ArchiveEntry) for one in some)
                    if count > self._limits.members:
                        raise ArchiveRefused(f"it holds more than {self._limits.members:,} files")
                    self._send(encode_entries(one for one in some if isinstance(one, ArchiveEntry)))
                    for one in some:
                        if isinstance(one, Exception):
                            raise one
        except ArchiveRefused as error:
            problem, refused = str(error), True
        except MemoryError:
            problem, refused = "it takes too much memory to be listed", True
        # Parsers of untrusted data may raise any error.
        except Exception:
            problem = f"damaged behind its first {count:,} files" if count else _UNKNOWN
        # Unpacking restarts, so that a list that failed half-way does not disturb it.
        self._archive = None
        self._send(json.dumps({"problem": problem, "refused": refused}).encode())

    def _read_together(self, members: list[int]) -> None:
        """Answer with the first member, and with the following ones if they are quick, small and intact."""
        problem, first = self._unpack_within_bounds(lambda: self._read(members[0]))
        parts, end = [first], time.monotonic() + _TOGETHER_SECONDS
        for member in members[1:] if not problem else ():
            fault, data = self._unpack_within_bounds(partial(self._read, member))
            if fault or len(data) > MAX_SMALL_BYTES:
                break
            parts.append(data)
            if time.monotonic() > end:
                break
        self._send(json.dumps({"problem": problem, "sizes": list(map(len, parts))}).encode(), b"".join(parts))

    def _answer_with(self, unpack: Callable[[], bytes]) -> None:
        self._say(*self._unpack_within_bounds(unpack))

    def _unpack_within_bounds(self, unpack: Callable[[], bytes]) -> tuple[str, bytes]:
        try:
            with limit_resources(self._limits.member_seconds, self._limits.memory_bytes):
                return "", unpack()
        except (MemberRefused, ArchiveRefused) as error:
            return str(error), b""
        except MemoryError:
            return "it takes too much memory to be unpacked", b""
        except Exception:
            return _DAMAGED, b""

    def _read(self, member: int) -> bytes:
        most = self._limits.member_bytes
        with self._open_archive().open_member(member) as stream:
            data = stream.read(most + 1)
        # The size that an archive claims for a file may be a lie.
        if len(data) > most:
            raise MemberRefused(f"it unpacks to more than {most // 1_000_000} MB")
        return data

    def _read_piece(self, member: int, offset: int, size: int) -> bytes:
        if self._stream is None or self._stream[0] != member:
            self._stream = member, self._open_archive().open_member(member)
        stream = self._stream[1]
        if stream.tell() != offset:
            stream.seek(offset)
        return stream.read(size)

    def _say(self, problem: str = "", data: bytes = b"") -> None:
        self._send(json.dumps({"problem": problem}).encode(), data)


def _until_damaged(entries: Iterator[ArchiveEntry]) -> Iterator[ArchiveEntry | Exception]:
    """Yield the entries and, in place of the rest, the error that ends them: those before it are intact."""
    try:
        yield from entries
    except MemoryError:
        raise
    except Exception as error:
        yield error


if __name__ == "__main__":
    main()
