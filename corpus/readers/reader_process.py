"""Reads files of strangers in child processes with bounds on memory and time, which are killed when they exceed them.

All formats go there, plain text too: lines made for it cost a reader hundreds of bytes for each of theirs. The child
also cuts the passages. There is one for each lane, so that a file that somebody put into a conversation never makes a
manager's wait, and one for what is small of those, so that a large one does not make everybody's wait. One serves many
files; it is started by the interpreter's own command line and not by `multiprocessing`, which would run the caller's
main module again. What comes back is text and JSON: nothing is unpickled.
"""

from __future__ import annotations

import atexit
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import get_args

from argot.corpus.read_limits import Lane, ReadLimits
from argot.corpus.readers import reader_protocol
from argot.errors import UnreadableDocument

SMALL_BYTES = 100_000
"""Of an attachment that does not wait behind larger ones."""
_START_SECONDS = 60.0
_FILES_PER_CHILD = 500
_PATIENCE = 3
"""A file may take so many times its seconds of the processor's time by the clock, where others work beside it."""
_MOST_KEPT = 400 << 20
"""Bytes of memory with which a child goes on; one that has more is replaced, for what it needed once it keeps."""


def read_in_child(
    data: bytes, name: str, limits: ReadLimits, cutting: reader_protocol.Cutting
) -> reader_protocol.CutDocument:
    """One file of a lane at a time: callers in other threads wait.

    Raises:
        UnreadableDocument: as `read_document`; and when the file gives more passages, or takes more time or memory,
            than the limits allow.
    """
    limits.check_size(len(data), name)
    child = child_for(limits.lane, len(data))
    with child.lock:
        return child.read(data, name, limits, cutting)


def child_for(lane: Lane, size: int) -> _Child:
    """The child that reads a file of so many bytes."""
    return _SMALL_ATTACHMENTS if lane == "attachments" and size <= SMALL_BYTES else _CHILDREN[lane]


class _Child:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._served = 0

    def read(
        self, data: bytes, name: str, limits: ReadLimits, cutting: reader_protocol.Cutting
    ) -> reader_protocol.CutDocument:
        process = self._ready()
        assert process.stdin is not None and process.stdout is not None
        try:
            reader_protocol.send(process.stdin.fileno(), reader_protocol.job(name, limits, cutting), data)
            message, markdown = _receive(process.stdout.fileno(), _PATIENCE * limits.seconds, limits.max_answer_bytes)
        except TimeoutError as error:
            self.stop()
            raise limits.too_slow(name) from error
        except OverflowError as error:
            self.stop()
            reason = f"too much text: what was read takes more than {limits.max_answer_bytes:,} bytes"
            raise UnreadableDocument(name, reason, limits.remedy("MAX_TEXT_CHARS")) from error
        except (EOFError, BrokenPipeError) as error:
            raise self._why_it_died(name, limits) from error
        except BaseException:
            self.stop()
            raise
        self._served += 1
        if self._served >= _FILES_PER_CHILD or _resident(process.pid) > _MOST_KEPT:
            self.stop()
        return reader_protocol.decoded_answer(message, markdown, name)

    def stop(self) -> None:
        process, self._process, self._served = self._process, None, 0
        if process is not None:
            process.kill()
            process.communicate()

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.stop()
            # -P: a file named like a library, in the folder Argot is started in, must not be imported.
            command = [sys.executable, "-P", "-m", "argot.corpus.readers.reader_worker"]
            self._process = subprocess.Popen(  # noqa: S603  (no shell, nothing of the user's in it)
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
            )
            assert self._process.stdout is not None
            _receive(self._process.stdout.fileno(), _START_SECONDS, 100)
        return self._process

    def _why_it_died(self, name: str, limits: ReadLimits) -> UnreadableDocument:
        process = self._process
        code = process.wait() if process is not None else 0
        self.stop()
        if code == -signal.SIGPROF:
            return limits.too_slow(name)
        if code in (-signal.SIGABRT, -signal.SIGKILL, -signal.SIGTRAP, -signal.SIGILL):
            return limits.too_much_memory(name)
        return UnreadableDocument(
            name, f"damaged: its reader crashed (exit code {code})", "Open it in its program and save it again."
        )


def _resident(pid: int) -> int:
    """Bytes; 0 where the system does not say."""
    statm = Path(f"/proc/{pid}/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def _receive(descriptor: int, seconds: float, most: int) -> tuple[bytes, bytes]:
    """One message of at most so many bytes.

    Raises:
        TimeoutError: it did not come in time. EOFError: it will never come.
    """
    deadline = time.monotonic() + seconds

    def read(size: int) -> bytes:
        parts, left = [], size
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while left:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                part = os.read(descriptor, min(left, 1 << 20))
                if not part:
                    raise EOFError
                parts.append(part)
                left -= len(part)
        return b"".join(parts)

    return reader_protocol.receive(read, most)


_CHILDREN: dict[Lane, _Child] = {lane: _Child() for lane in get_args(Lane)}
_SMALL_ATTACHMENTS = _Child()
for _each in (*_CHILDREN.values(), _SMALL_ATTACHMENTS):
    atexit.register(_each.stop)
