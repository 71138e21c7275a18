"""Untrusted files, read in child processes that are killed when they exceed limits on memory or time.

All formats are read there, including plain text: malicious lines cost a reader hundreds of bytes for each of theirs.
The child also cuts the passages. There is one for each lane, so that a file added to a conversation never delays a
manager's, and one for small conversation files, so that a large one does not delay everybody's. One serves many files.
"""

from __future__ import annotations

import atexit
import threading
from pathlib import PurePosixPath
from typing import get_args

from argot.corpus.read_limits import Lane, ReadLimits
from argot.corpus.readers import reader_protocol
from argot.corpus.readers.source_languages import SOURCE_SUFFIXES
from argot.errors import UnreadableDocument
from argot.subprocesses import Child, ChildFailed

MAX_SMALL_BYTES = 100_000
"""Maximum bytes of an attachment that does not wait behind larger ones."""
_FILES_PER_CHILD = 500
_PATIENCE_FACTOR = 3
"""Wall-clock limit, in multiples of a file's CPU seconds: other work may run beside it."""
_SECONDS_PER_SCAN = 10
"""Wall-clock average per scanned page of a file; an ordinary one takes one to three."""
_SECONDS_PER_PICTURE = 5
"""The same for a picture, which is smaller than a page."""
_TEXT_SUFFIXES = frozenset(
    {
        ".md",
        ".markdown",
        ".txt",
        ".text",
        ".html",
        ".htm",
        ".xhtml",
        ".rst",
        ".csv",
        ".tsv",
        ".json",
        ".jsonl",
        ".ndjson",
        ".xml",
        ".svd",
        ".dita",
        ".ditamap",
        ".xsd",
        ".rdl",
        ".tex",
        ".adoc",
        ".asciidoc",
        ".org",
        *SOURCE_SUFFIXES,
    }
)
"""Suffixes of text, in which there is nothing to recognise unless it has pictures."""
_PICTURE_SIGNS = (b"data:image/", b"<svg")
"""Beginnings of pictures that are written out in text: they are drawn, and the words in them are looked for."""
_MAX_KEPT_BYTES = 400 << 20
"""Bytes of memory with which a child continues; one that has more is replaced, because it never releases its peak."""


def read_in_child(data: bytes, name: str, limits: ReadLimits, max_chars: int) -> reader_protocol.CutDocument:
    """Read one file of a lane at a time: callers in other threads wait.

    Raises:
        UnreadableDocument: as `read_document`; and when the file has more passages, or takes more time or memory, than
            the limits allow.
    """
    # Before it waits for its turn, and before it is copied to the child.
    limits.check_size(len(data), name)
    host = choose_host(limits.lane, len(data))
    # A child reads one file after the other: its limits on time and memory are for one.
    with host.lock:
        return host.read(data, name, limits, max_chars)


def choose_host(lane: Lane, size: int) -> _ReaderHost:
    """Return the reader host for a file of this size, in bytes."""
    return _SMALL_ATTACHMENTS if lane == "attachments" and size <= MAX_SMALL_BYTES else _HOSTS[lane]


class _ReaderHost:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.child = Child("argot.corpus.readers.reader_worker")
        self._served = 0

    def read(self, data: bytes, name: str, limits: ReadLimits, max_chars: int) -> reader_protocol.CutDocument:
        self.child.start()  # a failed start is no fault of the file
        try:
            patience = compute_patience(limits, name, data)
            self.child.send(reader_protocol.job(name, limits, max_chars), data, seconds=patience)
            message, answer = self.child.receive(limits.max_answer_bytes)
        except ChildFailed as failure:
            raise make_refusal(failure, name, limits) from failure
        self._served += 1
        # Libraries that read files lose some memory with each, and keep their peak.
        if self._served >= _FILES_PER_CHILD or self.child.memory() > _MAX_KEPT_BYTES:
            self.child.stop()
            self._served = 0
        return reader_protocol.decode_answer(message, answer, name)


def compute_patience(limits: ReadLimits, name: str, data: bytes) -> float:
    """Return for how many wall-clock seconds a reading process may work on a file."""
    # tesseract's time is limited page by page, and does not count as the reader's.
    is_text = PurePosixPath(name).suffix.lower() in _TEXT_SUFFIXES
    has_scans = limits.ocr_languages and (not is_text or any(sign in data for sign in _PICTURE_SIGNS))
    # As many pictures on the pages may be read as there may be scanned pages.
    scans = limits.ocr_pages * (_SECONDS_PER_SCAN + _SECONDS_PER_PICTURE)
    return _PATIENCE_FACTOR * limits.seconds + (scans if has_scans else 0)


def make_refusal(failure: ChildFailed, name: str, limits: ReadLimits) -> UnreadableDocument:
    """Return the refusal of a file whose reading process failed."""
    if failure.how == "time":
        return limits.build_time_error(name)
    if failure.how == "memory":
        return limits.build_memory_error(name)
    if failure.how == "length":
        reason = f"too much text: what was read takes more than {limits.max_answer_bytes:,} bytes"
        return UnreadableDocument(name, reason, limits.remedy("MAX_TEXT_CHARS"))
    reason = f"damaged: its reader crashed (exit code {failure.code})"
    return UnreadableDocument(name, reason, "Open it in its program and save it again.")


_HOSTS: dict[Lane, _ReaderHost] = {lane: _ReaderHost() for lane in get_args(Lane)}
_SMALL_ATTACHMENTS = _ReaderHost()
for _each in (*_HOSTS.values(), _SMALL_ATTACHMENTS):
    # A child ends by itself when its input closes; one in the middle of a file would first finish it.
    atexit.register(_each.child.stop)
