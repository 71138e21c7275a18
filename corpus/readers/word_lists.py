"""Numbers and bullets that Word before 2007 prints before paragraphs (MS-DOC 2.9.131: LSTF, LVL, LFO)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from argot.corpus.readers.docx_numbering import format_number

_FORMATS = {1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter"}
_BULLET, _NONE = 23, 255
_LEVELS = 9
_MAX_LISTS = 4_096


@dataclass(frozen=True, slots=True)
class ListLevel:
    """`template`: the printed text, with a character below nine for the number of that level."""

    start: int
    kind: int
    template: str


class WordLists:
    """The lists of a file, counted item by item."""

    def __init__(self, definitions: bytes, overrides: bytes) -> None:
        """Read the lists.

        Args:
            definitions: the table of lists, with all that follows it in the stream.
            overrides: the table of the numbers by which paragraphs name a list.
        """
        self._levels = _read_levels(definitions)
        count = int.from_bytes(overrides[:4], "little")
        self._ids = [
            struct.unpack_from("<i", overrides, 4 + 16 * number)[0]
            for number in range(min(count, (len(overrides) - 4) // 16))
        ]
        self._counts: dict[int, list[int]] = {}

    def count(self, list_id: int, level: int) -> str:
        """Return the label of the next item of a list: "2.1", "(a)" or a bullet; "" for nothing."""
        key = self._ids[list_id - 1] if 0 < list_id <= len(self._ids) else None
        levels = self._levels.get(key, []) if key is not None else []
        if key is None or not levels:
            return "•"
        level = min(level, len(levels) - 1)
        counts = self._counts.setdefault(key, [one.start - 1 for one in levels])
        counts[level] += 1
        counts[level + 1 :] = [one.start - 1 for one in levels[level + 1 :]]
        own = levels[level]
        if own.kind in (_BULLET, _NONE):
            return "•" if own.kind == _BULLET else ""
        return "".join(self._print(levels, counts, character, level) for character in own.template).strip()

    def _print(self, levels: list[ListLevel], counts: list[int], character: str, level: int) -> str:
        named = ord(character)
        if named >= _LEVELS:
            return character
        if named > level or named >= len(levels):
            return ""
        number = max(counts[named], levels[named].start)
        kind = _FORMATS.get(levels[named].kind)
        return format_number(number, kind) if kind else str(number)


def _read_levels(data: bytes) -> dict[int, list[ListLevel]]:
    count = min(int.from_bytes(data[:2], "little"), _MAX_LISTS)
    found: dict[int, list[ListLevel]] = {}
    at = 2 + 28 * count
    for number in range(count):
        entry = data[2 + 28 * number : 30 + 28 * number]
        if len(entry) < 28:
            break
        levels = []
        for _ in range(1 if entry[26] & 1 else _LEVELS):
            if at + 30 > len(data):
                return found
            start, kind = struct.unpack_from("<iB", data, at)
            text_at = at + 28 + data[at + 24] + data[at + 25]
            length = int.from_bytes(data[text_at : text_at + 2], "little")
            template = data[text_at + 2 : text_at + 2 + 2 * length].decode("utf-16-le", "replace")
            levels.append(ListLevel(min(max(start, 0), 30_000), kind, template[:50]))
            at = text_at + 2 + 2 * length
        found[struct.unpack_from("<i", entry)[0]] = levels
    return found
