"""Reads files of strangers in a child process with bounds on memory and time, which is killed when it exceeds them.

One child serves many files; it is started by the interpreter's own command line and not by `multiprocessing`, which
would run the caller's main module again. What comes back is JSON: nothing of the child is unpickled.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from argot.corpus.readers import reader_protocol
from argot.corpus.readers.file_limits import ReadLimits
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

_START_SECONDS = 60.0
_FILES_PER_CHILD = 500


def read_in_child(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """One file at a time: callers in other threads wait.

    Raises:
        UnreadableDocument: as `read_document`, and when the file takes more time or memory than it may.
    """
    with _CHILD.lock:
        return _CHILD.read(data, name, limits)


class _Child:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._served = 0

    def read(self, data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
        process = self._ready()
        assert process.stdin is not None and process.stdout is not None
        try:
            reader_protocol.send(process.stdin.fileno(), json.dumps(reader_protocol.job(name, limits)).encode(), data)
            answer = _receive(process.stdout.fileno(), limits.seconds)
        except TimeoutError as error:
            self.stop()
            raise UnreadableDocument(
                name, f"took longer than {limits.seconds:g} seconds to read", "Set ARGOT_PARSE_SECONDS to allow more."
            ) from error
        except (EOFError, BrokenPipeError) as error:
            raise UnreadableDocument(name, *self._why_it_died(limits)) from error
        except BaseException:
            self.stop()
            raise
        self._served += 1
        if answer.get("exhausted") or self._served >= _FILES_PER_CHILD:
            self.stop()
        return reader_protocol.result(answer, name)

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
            _receive(self._process.stdout.fileno(), _START_SECONDS)
        return self._process

    def _why_it_died(self, limits: ReadLimits) -> tuple[str, str]:
        process = self._process
        code = process.wait() if process is not None else 0
        self.stop()
        if code in (-signal.SIGABRT, -signal.SIGKILL, -signal.SIGTRAP, -signal.SIGILL):
            return reader_protocol.memory_reason(limits)
        return f"damaged: its reader crashed (exit code {code})", "Open it in its program and save it again."


def _receive(descriptor: int, seconds: float) -> dict[str, Any]:
    """One JSON message.

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

    head, _ = reader_protocol.receive(read)
    answer: dict[str, Any] = json.loads(head)
    return answer


_CHILD = _Child()
atexit.register(_CHILD.stop)
