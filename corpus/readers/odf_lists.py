"""Numbers that OpenDocument programs print before list items and headings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from argot.corpus.readers.docx_numbering import format_number
from argot.corpus.readers.odf_package import STYLE, TEXT, OpenDocument

_FORMATS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_MAX_LEVELS = 10


@dataclass(slots=True)
class Numbering:
    """One list that is being written. `next_number`: that of its next item; 0 where it has bullets."""

    opening: str
    closing: str
    next_number: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    key: str = ""

    def count(self, item: Any) -> str:
        """Return the attribute of the HTML for the next item."""
        if not self.next_number:
            return ""
        start_value = str(item.get(f"{TEXT}start-value") or "")
        number = (
            int(start_value)
            if start_value.isascii() and start_value.isdigit() and len(start_value) < 8
            else self.next_number
        )
        self.next_number = number + 1
        self.counters[self.key] = number
        return f' value="{number}"'


class ListNumbers:
    """The list styles of a document, and the last number of each, for lists that continue another."""

    def __init__(self, document: OpenDocument) -> None:
        self._levels: dict[tuple[str, int], tuple[str, int]] = {}
        for root in (document.styles, document.content):
            for style in root.iter(f"{TEXT}list-style") if root is not None else ():
                self._read_style(style)
        self._counters: dict[str, int] = {}
        self._open: list[str] = []

    def _read_style(self, style: Any) -> None:
        for level in style:
            number = str(level.get(f"{TEXT}level") or "")
            is_numbered = level.tag == f"{TEXT}list-level-style-number" and level.get(f"{STYLE}num-format")
            start = str(level.get(f"{TEXT}start-value") or "1")
            if number.isdigit() and len(number) < 3:
                kind = str(level.get(f"{STYLE}num-format")) if is_numbered else ""
                first = int(start) if start.isascii() and start.isdigit() and len(start) < 8 else 1
                self._levels[str(style.get(f"{STYLE}name")), int(number)] = kind, first

    def enter(self, element: Any, depth: int) -> Numbering:
        """Return the numbering of a list at this depth, from 1."""
        del self._open[depth - 1 :]
        own = str(element.get(f"{TEXT}style-name") or (self._open[-1] if self._open else ""))
        self._open.append(own)
        kind, first = self._levels.get((own, depth), ("", 1))
        if not kind:
            return Numbering("<ul>", "</ul>")
        key = f"{own}/{depth}"
        continues = element.get(f"{TEXT}continue-numbering") == "true" or element.get(f"{TEXT}continue-list")
        start = self._counters.get(key, first - 1) + 1 if continues else first
        letter = f' type="{kind}"' if kind in _FORMATS else ""
        return Numbering(f"<ol{letter}>", "</ol>", max(start, 1), self._counters, key)


class OutlineNumbers:
    """The numbers of headings, such as "2.1", counted level by level."""

    def __init__(self, levels: dict[int, Any]) -> None:
        self._levels = levels
        self._counts = [0] * (_MAX_LEVELS + 1)

    def count(self, level: int) -> str:
        """Return the number of the next heading of this level with a space behind it; empty where it has none."""
        level = min(max(level, 1), _MAX_LEVELS)
        self._counts[level] += 1
        self._counts[level + 1 :] = [0] * (_MAX_LEVELS - level)
        style = self._levels.get(level)
        if style is None or not style.get(f"{STYLE}num-format"):
            return ""
        shown = str(style.get(f"{TEXT}display-levels") or "1")
        count = int(shown) if shown.isdigit() and len(shown) < 3 else 1
        numbers = [self._format(each) for each in range(max(level - count + 1, 1), level + 1)]
        before, after = (str(style.get(f"{STYLE}num-{end}") or "") for end in ("prefix", "suffix"))
        return f"{before}{'.'.join(filter(None, numbers))}{after} "

    def _format(self, level: int) -> str:
        style = self._levels.get(level)
        kind = str(style.get(f"{STYLE}num-format") or "") if style is not None else ""
        number = max(self._counts[level], 1)
        return format_number(number, _FORMATS[kind]) if kind in _FORMATS else str(number) if kind else ""


def read_outline_numbers(document: OpenDocument) -> OutlineNumbers:
    """Return the numbering of headings that the document's outline style describes."""
    levels: dict[int, Any] = {}
    for root in (document.styles, document.content):
        for level in root.iter(f"{TEXT}outline-level-style") if root is not None else ():
            number = str(level.get(f"{TEXT}level") or "")
            if number.isdigit() and len(number) < 3:
                levels[int(number)] = level
    return OutlineNumbers(levels)
