"""What a reading process and its parent say to each other: two lengths, a JSON message, bytes."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from argot.corpus.readers.file_limits import ReadLimits
from argot.errors import UnreadableDocument
from argot.types import Box, BoxMark, PageMark, ParsedDocument

_LENGTHS = struct.Struct(">QQ")


def send(descriptor: int, message: bytes, data: bytes = b"") -> None:
    for part in (_LENGTHS.pack(len(message), len(data)), message, data):
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view[: 1 << 20]) :]


def receive(read: Callable[[int], bytes]) -> tuple[bytes, bytes]:
    """`read(size)` gives exactly that many bytes or raises EOFError."""
    message, data = _LENGTHS.unpack(read(_LENGTHS.size))
    return read(message), read(data)


def job(name: str, limits: ReadLimits) -> dict[str, Any]:
    return {"name": name, "limits": asdict(limits)}


def answer(parsed: ParsedDocument) -> dict[str, Any]:
    return {
        "title": parsed.title,
        "markdown": parsed.markdown,
        "media_type": parsed.media_type,
        "pages": [[mark.start, mark.number, mark.kind] for mark in parsed.pages],
        "boxes": [[m.start, m.end, m.box.page, m.box.x0, m.box.y0, m.box.x1, m.box.y1] for m in parsed.boxes],
        "date": parsed.date,
        "warnings": parsed.warnings,
    }


def result(message: dict[str, Any], name: str) -> ParsedDocument:
    """The document an answer holds.

    Raises:
        UnreadableDocument: the answer says so.
    """
    if "reason" in message:
        raise UnreadableDocument(name, message["reason"], message["remedy"])
    return ParsedDocument(
        message["title"],
        message["markdown"],
        message["media_type"],
        pages=tuple(PageMark(*mark) for mark in message["pages"]),
        boxes=tuple(BoxMark(start, end, Box(*box)) for start, end, *box in message["boxes"]),
        date=message["date"],
        warnings=tuple(message["warnings"]),
    )


def memory_reason(limits: ReadLimits) -> tuple[str, str]:
    return f"took more than {limits.memory_mb} MB of memory to read", "Set ARGOT_PARSE_MEMORY_MB to allow more."
