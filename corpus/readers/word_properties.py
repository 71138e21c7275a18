"""Properties of paragraphs and characters in Word files before 2007 (MS-DOC 2.6) that change what a text says."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

BODY_OUTLINE = 9
_OPERAND_BYTES = (1, 1, 2, 4, 2, 2, 0, 3)
_TABLE_DEFINITION, _TAB_CHANGES = 0xD608, 0xC615
_PAGE_BYTES = 512
_MAX_CELLS = 64

Properties = TypeVar("Properties")


@dataclass(frozen=True, slots=True)
class ParagraphProperties:
    """`outline`: 0 to 8, or `BODY_OUTLINE`. `list_id`: None where nothing is said, 0 for no item of a list.

    `edges`: of a row's cells, in twips; `below` and `beside`: the cells merged with those above or before them.
    """

    style: int = 0
    in_table: bool = False
    ends_row: bool = False
    depth: int = 0
    ends_inner_cell: bool = False
    outline: int = BODY_OUTLINE
    list_id: int | None = None
    list_level: int = 0
    is_header: bool = False
    edges: tuple[int, ...] = ()
    below: frozenset[int] = frozenset()
    beside: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class CharacterProperties:
    """`symbol`: number of the font and code of a sign that the character stands for."""

    hidden: bool = False
    deleted: bool = False
    raised: str = ""
    special: bool = False
    is_object: bool = False
    symbol: tuple[int, int] | None = None


@dataclass(slots=True)
class PropertyRuns(Generic[Properties]):
    """Properties by the first byte of their text in the stream, in order."""

    default: Properties
    starts: list[int] = field(default_factory=list)
    values: list[Properties] = field(default_factory=list)

    def add(self, start: int, value: Properties) -> None:
        if not self.starts or start > self.starts[-1]:
            self.starts.append(start)
            self.values.append(value)
        elif start == self.starts[-1]:
            self.values[-1] = value

    def find(self, offset: int) -> Properties:
        at = bisect_right(self.starts, offset) - 1
        return self.values[at] if at >= 0 else self.default


def read_runs(
    table: bytes,
    main: bytes,
    parse: Callable[[bytes], Properties],
    default: Properties,
    *,
    entry_bytes: int,
    cut: Callable[[bytes, int], bytes],
) -> PropertyRuns[Properties]:
    """Return the properties in the pages that a bin table lists.

    Args:
        entry_bytes: the bytes of a page for each run, of which the first tells where its properties are.
        cut: takes the properties' bytes from a page.
    """
    runs = PropertyRuns(default)
    count = max(0, (len(table) - 4) // 8)
    known: dict[bytes, Properties] = {b"": default}
    for number in range(count):
        (page,) = struct.unpack_from("<I", table, 4 * (count + 1) + 4 * number)
        content = main[(page & 0x3FFFFF) * _PAGE_BYTES :][:_PAGE_BYTES]
        many = content[-1] if len(content) == _PAGE_BYTES else 0
        if not many or 4 * (many + 1) + entry_bytes * many >= _PAGE_BYTES:
            continue
        starts = struct.unpack_from(f"<{many + 1}I", content)
        for run in range(many):
            at = 2 * content[4 * (many + 1) + entry_bytes * run]
            raw = cut(content, at) if at else b""
            if raw not in known:
                known[raw] = parse(raw)
            runs.add(starts[run], known[raw])
        runs.add(starts[many], default)
    return runs


def cut_paragraph(page: bytes, at: int) -> bytes:
    size = page[at]
    if size:
        return page[at + 1 : at + 2 * size]
    return page[at + 2 : at + 2 + 2 * page[at + 1]] if at + 1 < len(page) else b""


def cut_characters(page: bytes, at: int) -> bytes:
    return page[at + 1 : at + 1 + page[at]]


def parse_paragraph(raw: bytes) -> ParagraphProperties:
    """Return the properties of a paragraph: the number of its style, then the changes to that."""
    return apply_paragraph(raw[2:], ParagraphProperties(style=int.from_bytes(raw[:2], "little")))


def apply_paragraph(changes: bytes, base: ParagraphProperties) -> ParagraphProperties:
    """Return `base` with the changes."""
    properties: dict[str, Any] = {}
    for code, operand in _iter_changes(changes):
        number = int.from_bytes(operand[:4], "little")
        match code:
            case 0x2416:
                properties["in_table"] = bool(number)
            case 0x2417:
                properties["ends_row"] = bool(number)
            case 0x6649:
                properties["depth"] = number
            case 0x244B:
                properties["ends_inner_cell"] = bool(number)
            case 0x2640:
                properties["outline"] = min(number, BODY_OUTLINE)
            case 0x260A:
                properties["list_level"] = min(number, 8)
            case 0x460B:
                properties["list_id"] = number if number < 0x8000 else 0
            case 0x4600:
                properties["style"] = number
            case 0x3404:
                properties["is_header"] = bool(number)
            case 0xD608:
                properties.update(_parse_row(operand))
    return replace(base, **properties) if properties else base


def parse_characters(raw: bytes) -> CharacterProperties:
    """Return the properties of a run of characters."""
    properties: dict[str, Any] = {}
    for code, operand in _iter_changes(raw):
        number = int.from_bytes(operand[:4], "little")
        match code:
            case 0x0800:
                properties["deleted"] = number == 1
            case 0x083C:
                properties["hidden"] = number == 1
            case 0x2A48:
                properties["raised"] = {1: "sup", 2: "sub"}.get(number, "")
            case 0x0855:
                properties["special"] = number == 1
            case 0x0856 | 0x080A:
                properties["is_object"] = number == 1
            case 0x6A09:
                properties["symbol"] = (number & 0xFFFF, number >> 16)
    return CharacterProperties(**properties)


def _iter_changes(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield code and operand of each change (`sprm`)."""
    at = 0
    while at + 3 <= len(raw):
        code = int.from_bytes(raw[at : at + 2], "little")
        at += 2
        size = _OPERAND_BYTES[code >> 13]
        if code == _TABLE_DEFINITION:
            size, at = int.from_bytes(raw[at : at + 2], "little") - 1, at + 2
        elif not size:
            size, at = raw[at], at + 1
            if code == _TAB_CHANGES and size == 255:
                return
        yield code, raw[at : at + max(size, 0)]
        at += max(size, 0)


def _parse_row(operand: bytes) -> dict[str, Any]:
    """Return edges and merged cells of a row's definition."""
    count = operand[0] if operand else 0
    if not 0 < count <= _MAX_CELLS or len(operand) < 1 + 2 * (count + 1):
        return {}
    edges = struct.unpack_from(f"<{count + 1}h", operand, 1)
    cells = operand[1 + 2 * (count + 1) :]
    flags = [int.from_bytes(cells[20 * at : 20 * at + 2], "little") for at in range(count)]
    below = frozenset(at for at, flag in enumerate(flags) if flag & 0x60 == 0x20)
    return {"edges": edges[1:], "below": below, "beside": frozenset(at for at, flag in enumerate(flags) if flag & 2)}
