"""The child process of `isolated`: reads one file after the other until its parent is gone."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from argot.corpus.readers import read_document, reader_protocol
from argot.corpus.readers.file_limits import ReadLimits
from argot.errors import UnreadableDocument

_MEGABYTE = 1 << 20


def main() -> None:
    incoming, outgoing = os.dup(0), os.dup(1)
    # A library that prints must not write into the answers.
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    reader_protocol.send(outgoing, b"{}")
    with os.fdopen(incoming, "rb") as pipe:

        def read(size: int) -> bytes:
            part = pipe.read(size)
            if len(part) < size:
                raise EOFError
            return part

        while True:
            try:
                message, data = reader_protocol.receive(read)
            except EOFError:
                return
            reader_protocol.send(outgoing, json.dumps(_answer(json.loads(message), data)).encode())


def _answer(message: dict[str, Any], data: bytes) -> dict[str, Any]:
    name, limits = message["name"], ReadLimits(**message["limits"])
    try:
        _allow(limits.memory_mb * _MEGABYTE)
        return reader_protocol.answer(read_document(data, name, limits))
    except UnreadableDocument as error:
        return {"reason": error.reason, "remedy": error.remedy}
    except MemoryError:
        reason, remedy = reader_protocol.memory_reason(limits)
        return {"reason": reason, "remedy": remedy, "exhausted": True}
    finally:
        _allow(None)


def _allow(extra: int | None) -> None:
    """Bounds what is allocated from now on, in bytes; None lifts the bound. Systems without such bounds go without."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    statm = Path("/proc/self/statm")
    used = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
    soft = hard if extra is None else used + extra
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    if sys.platform.startswith("linux"):
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    main()
