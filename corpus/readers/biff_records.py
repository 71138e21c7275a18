"""Records of the binary workbooks that Excel wrote before 2007 (BIFF): text boxes, headers and footers in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

BOF, EOF, CONTINUE, BOUND_SHEET, OBJECT, TEXT_OBJECT, HEADER, FOOTER = 0x809, 0x0A, 0x3C, 0x85, 0x5D, 0x1B6, 0x14, 0x15
_NOTE_OBJECT = 0x19
_MAX_RECORDS = 20_000_000


@dataclass(slots=True)
class SheetDrawings:
    """The text on a sheet beside its cells."""

    boxes: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)


def iter_records(stream: bytes, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield code and content of each record, up to the end or to damage."""
    at = start
    for _ in range(_MAX_RECORDS):
        if at + 4 > len(stream):
            return
        code, size = int.from_bytes(stream[at : at + 2], "little"), int.from_bytes(stream[at + 2 : at + 4], "little")
        if at + 4 + size > len(stream):
            return
        yield code, stream[at + 4 : at + 4 + size]
        at += 4 + size


def iter_sheet_records(stream: bytes, start: int) -> Iterator[tuple[int, bytes]]:
    """Yield the records of one sheet, with those of the charts on it."""
    depth = 0
    for code, content in iter_records(stream, start):
        depth += (code == BOF) - (code == EOF)
        yield code, content
        if depth <= 0:
            return


def list_sheet_starts(stream: bytes) -> list[int]:
    """Return where the records of each sheet of cells begin, in order; a sheet may also be a chart or macros."""
    starts = []
    for code, content in iter_sheet_records(stream, 0):
        if code == BOUND_SHEET and len(content) >= 6 and content[5] == 0:
            starts.append(int.from_bytes(content[:4], "little"))
    return starts


def read_drawings(stream: bytes, start: int) -> SheetDrawings:
    """Return the text of a sheet's boxes and printed headers. Notes on cells are read with the cells."""
    found = SheetDrawings()
    kind = length = 0
    for code, content in iter_sheet_records(stream, start):
        if code == OBJECT and len(content) >= 6:
            kind = int.from_bytes(content[4:6], "little")
        elif code == TEXT_OBJECT and len(content) >= 12:
            length = int.from_bytes(content[10:12], "little") if kind != _NOTE_OBJECT else 0
            found.boxes += [""] if length else []
        elif code == CONTINUE and length and content:
            text = decode_characters(content[1:], is_wide=bool(content[0] & 1))[:length]
            found.boxes[-1] += text
            length -= len(text)
        elif code in (HEADER, FOOTER) and len(content) > 3:
            found.headers.append(decode_characters(content[3:], is_wide=bool(content[2] & 1)))
    return found


def decode_characters(data: bytes, *, is_wide: bool) -> str:
    """Return characters that the file stores in two bytes each, or in one."""
    return data.decode("utf-16-le", "replace") if is_wide else data.decode("latin-1")
