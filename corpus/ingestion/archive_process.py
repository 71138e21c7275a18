"""Lists and unpacks untrusted archives in a child process with limits on memory, time and bytes.

The service itself never opens an archive. Each thread has one archive open at most: a folder of a thousand archives is
no thousand processes.
"""

from __future__ import annotations

import io
import json
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

from argot.corpus.ingestion.archive_formats import ArchiveEntry, ArchiveLimits
from argot.corpus.ingestion.archive_protocol import (
    MAX_LIST_MESSAGE_BYTES,
    MAX_SMALL_BYTES,
    MAX_TOGETHER,
    decode_entries,
    encode_ask,
    encode_open,
    encode_read,
)
from argot.files import NotAFile
from argot.subprocesses import Child, ChildFailed

MAX_FAILURES = 3
"""Children that one archive may use up before it is given up."""
_CLOCK_FACTOR = 3
"""Wall-clock limit, in multiples of the processor seconds: other work may run beside it."""
_ANSWER_BYTES = 1000
_DIGITS = 20
"""Length of a member's size field, in an answer with several members."""
_PIECE_BYTES = 1 << 20


@dataclass(slots=True)
class ArchiveList:
    """The files of an archive. `problem`: why the list ends there, or (`is_refused`) why none of them is read."""

    entries: list[ArchiveEntry] = field(default_factory=list)
    problem: str = ""
    is_refused: bool = False


class UnpackedArchive:
    """An archive in a child process, which is started on demand and stopped with the last reference.

    Args:
        place: a path, or a function that returns the archive's bytes each time it is opened.
    """

    def __init__(self, place: Path | Callable[[], bytes], limits: ArchiveLimits | None = None) -> None:
        self._place = place
        self._limits = limits or ArchiveLimits()
        self._child = Child("argot.corpus.ingestion.archive_worker")
        self._lock = threading.RLock()
        self._is_open = False
        self._failures = 0
        self._spent_seconds = 0.0
        self._sizes: list[int] = []
        self._read_ahead: dict[int, bytes] = {}
        weakref.finalize(self, self._child.stop)

    def close(self) -> None:
        with self._lock:
            self._is_open = False
            self._read_ahead = {}
            self._child.stop()

    def list_entries(self) -> ArchiveList:
        """Return the list of the archive's entries.

        Raises:
            NotAFile: the archive's own bytes are unavailable.
        """
        found = ArchiveList()
        with self._lock:
            try:
                self._open()
                self._child.send(encode_ask("list"), seconds=self._patience(self._limits.list_seconds))
                begin = time.monotonic()
                while "entries" in (reply := json.loads(self._child.receive(MAX_LIST_MESSAGE_BYTES)[0])):
                    found.entries += decode_entries(reply)
                    # JSON blocks other threads: after each part they get a moment.
                    time.sleep(0)
                self._spent_seconds += time.monotonic() - begin
            except ChildFailed as failure:
                self._is_open = False
                return ArchiveList([], self._explain_failure(failure, self._limits.list_seconds), True)
        self._sizes = [one.size for one in found.entries]
        found.problem, found.is_refused = reply["problem"], reply["refused"]
        return ArchiveList([], found.problem, True) if found.is_refused else found

    def read(self, member: int) -> bytes:
        """Return the bytes of the member with this index in the list.

        Raises:
            NotAFile: it cannot be unpacked within the limits.
        """
        with self._lock:
            if member not in self._read_ahead:
                self._read_ahead = self._read_together([member, *self._list_small_after(member)])
            return self._read_ahead.pop(member)

    def _read_together(self, members: list[int]) -> dict[int, bytes]:
        """Return the first of these members, and those after it that came in the same answer."""
        most = self._limits.member_bytes + len(members) * (MAX_SMALL_BYTES + _DIGITS)
        try:
            reply, data = self._ask(encode_read(members), most)
        except NotAFile:
            # The child may have failed because of another member: only now is the first one known to be the cause.
            if len(members) > 1 and self._failures:
                return self._read_together(members[:1])
            raise
        ends = list(accumulate(reply["sizes"]))
        return {one: data[start:end] for one, start, end in zip(members, [0, *ends], ends, strict=False)}

    def _list_small_after(self, member: int) -> list[int]:
        """Return the members that are read with this one, wanted or not, since they cost next to nothing."""
        if self._failures or not self._sizes or self._sizes[member] > MAX_SMALL_BYTES:
            return []
        after = range(member + 1, min(len(self._sizes), member + MAX_TOGETHER))
        return list(takewhile(lambda one: 0 <= self._sizes[one] <= MAX_SMALL_BYTES, after))

    def stream(self, member: int) -> io.BufferedReader:
        """Return a long member as a stream. Reading raises NotAFile."""
        return io.BufferedReader(_MemberStream(self, member), _PIECE_BYTES)

    def read_piece(self, member: int, offset: int, size: int) -> bytes:
        return self._ask(encode_ask("piece", member=member, offset=offset, size=size), size)[1]

    def _ask(self, message: bytes, most: int) -> tuple[dict[str, Any], bytes]:
        with self._lock:
            if self._failures >= MAX_FAILURES:
                raise NotAFile(f"the archive was given up: unpacking it failed {MAX_FAILURES} times")
            begin = time.monotonic()
            try:
                self._open()
                self._child.send(message, seconds=self._patience(self._limits.member_seconds))
                reply, data = self._child.receive(most + _ANSWER_BYTES)
            except ChildFailed as failure:
                self._is_open = False
                self._failures += 1
                raise NotAFile(self._explain_failure(failure, self._limits.member_seconds)) from failure
            finally:
                self._spent_seconds += time.monotonic() - begin
        answer: dict[str, Any] = json.loads(reply)
        if answer["problem"]:
            raise NotAFile(answer["problem"])
        return answer, data

    def _open(self) -> None:
        process = self._child.process
        # A child that was ended meanwhile, for example when memory is short, is replaced by one without an open
        # archive.
        if self._is_open and process is not None and process.poll() is None:
            return
        _close_other_archive(self)
        path = str(self._place) if isinstance(self._place, Path) else ""
        data = b"" if isinstance(self._place, Path) else self._place()
        self._child.start()
        self._child.send(encode_open(self._limits, path), data, seconds=self._patience(self._limits.member_seconds))
        problem = json.loads(self._child.receive(_ANSWER_BYTES)[0])["problem"]
        if problem:
            self._child.stop()
            raise NotAFile(problem)
        self._is_open = True

    def _patience(self, seconds: float) -> float:
        left = self._limits.clock_seconds - self._spent_seconds
        if left <= 0:
            raise NotAFile(f"unpacking the archive took more than {self._limits.clock_seconds:g} seconds in all")
        return min(left, _CLOCK_FACTOR * seconds)

    def _explain_failure(self, failure: ChildFailed, seconds: float) -> str:
        if failure.how == "time":
            return f"it takes more than {seconds:g} seconds to unpack"
        if failure.how == "memory":
            return f"it takes more than {self._limits.memory_bytes >> 20:,} MB of memory to unpack"
        return f"it cannot be unpacked: {failure}"


class _MemberStream(io.RawIOBase):
    def __init__(self, archive: UnpackedArchive, member: int) -> None:
        self._archive = archive
        self._member = member
        self._offset = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        data = self._archive.read_piece(self._member, self._offset, len(view))
        view[: len(data)] = data
        self._offset += len(data)
        return len(data)


_OF_THREAD: Any = threading.local()


def _close_other_archive(archive: UnpackedArchive) -> None:
    """Make this archive the only one that its thread has open."""
    before: UnpackedArchive | None = getattr(_OF_THREAD, "archive", lambda: None)()
    if before is not None and before is not archive:
        before.close()
    _OF_THREAD.archive = weakref.ref(archive)
