"""The child process of `isolated`: reads and cuts one file after the other until its parent is gone."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from argot.corpus.chunking.passages import cuts_of
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document, reader_protocol
from argot.errors import UnreadableDocument

NICE = 10
"""Whoever asks a question goes first."""
_MEGABYTE = 1 << 20


def main() -> None:
    incoming, outgoing = os.dup(0), os.dup(1)
    # A library that prints must not write into the answers.
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    os.nice(NICE)
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
            reader_protocol.send(outgoing, *_answer(data, *reader_protocol.decoded_job(message)))


def _answer(data: bytes, name: str, limits: ReadLimits, cutting: reader_protocol.Cutting) -> tuple[bytes, bytes]:
    try:
        with _timed(limits.seconds), _bounded(limits.memory_mb * _MEGABYTE):
            parsed = read_document(data, name, limits)
            chars, neighbours = cutting.max_chars, cutting.neighbour_chars
            cuts = cuts_of(parsed, max_chars=chars, neighbour_chars=neighbours, limits=limits, name=name)
            if not cuts:
                raise UnreadableDocument(name, "no text in it")
            return reader_protocol.encoded_answer(parsed, cuts)
    except UnreadableDocument as error:
        return reader_protocol.refusal(error), b""
    except MemoryError:  # the bound is lifted by now: saying so takes memory, too
        return reader_protocol.refusal(limits.too_much_memory(name)), b""


@contextmanager
def _timed(seconds: float) -> Iterator[None]:
    """Ends this process when it has taken so much of the processor's time, whoever else works beside it."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextmanager
def _bounded(extra: int) -> Iterator[None]:
    """Bounds what is allocated, in bytes. Systems without such bounds go without."""
    if not sys.platform.startswith("linux"):
        yield
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = used + extra
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


if __name__ == "__main__":
    main()
