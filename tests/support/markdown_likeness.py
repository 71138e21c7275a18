"""The similarity of two Markdown texts: words in order, headings, list items, code and table cells."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel, Levenshtein

_HEADING = re.compile(r"(#{1,6}) (.+)")
_ITEM = re.compile(r"( *)(?:[-*]|(\d+)\.) (.+)")
_FENCE = re.compile(r"```")
_RULE = re.compile(r"\|(?: ?:?-+:? ?\|)+")
_REPEATED = re.compile(r"(?P<head>^\|.+\n\|[ :|-]+\n)(?P<body>(?:\|.+\n)+)\n+(?P=head)", re.MULTILINE)
_BAR = re.compile(r"(?<!\\)\|")
_MARK_UP = re.compile(r"[*`#|]+|^\s*[-]\s|^\s*\d+\.\s|^---$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Likeness:
    """Each from 0 to 1. `words`: 1 less the edits from one to the other by words; the others: the share of the longest
    common sequence, what is put in counting as much as what is left out. Where neither text has any, 1."""

    words: float
    headings: float
    items: float
    cells: float
    code: float

    @property
    def least(self) -> float:
        return min(self.words, self.headings, self.items, self.cells, self.code)


def likeness(gold: str, read: str) -> Likeness:
    gold, read = with_whole_tables(gold), with_whole_tables(read)
    words = [_MARK_UP.sub(" ", _without_rules(text)).split() for text in (gold, read)]
    return Likeness(
        Levenshtein.normalized_similarity(*words),
        _common(list(headings(gold)), list(headings(read))),
        _common(list(items(gold)), list(items(read))),
        _common(list(cells(gold)), list(cells(read))),
        _common(list(code(gold)), list(code(read))),
    )


def with_whole_tables(text: str) -> str:
    """Join a table that repeats the header of the one right above it, as after a page break."""
    return _REPEATED.sub(lambda match: match["head"] + match["body"], text)


def headings(text: str) -> Iterator[tuple[int, str]]:
    for line in _prose(text):
        if match := _HEADING.fullmatch(line):
            yield len(match[1]), " ".join(match[2].split())


def items(text: str) -> Iterator[tuple[int, str, str]]:
    """Return the depth, number and first words of each item; the depth is counted by indentation."""
    open_at: list[int] = []
    for line in _prose(text):
        match = _ITEM.fullmatch(line)
        if match is None:
            # A paragraph between them ends all lists.
            open_at = [] if line.strip() else open_at
            continue
        indent = len(match[1])
        while open_at and open_at[-1] >= indent:
            open_at.pop()
        open_at.append(indent)
        yield len(open_at), match[2] or "", " ".join(match[3].split())


def cells(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Return table, row, column and text of every cell that has text."""
    table, row = -1, 0
    for line in _prose(text):
        if not line.startswith("|"):
            row = 0
            continue
        if _RULE.fullmatch(line.strip()):
            continue
        table += row == 0
        for column, cell in enumerate(_BAR.split(line.strip())[1:-1]):
            if cell.strip():
                yield table, row, column, " ".join(cell.split())
        row += 1


def code(text: str) -> Iterator[str]:
    """Return the lines of code, with their indentation."""
    inside = False
    for line in text.splitlines():
        if _FENCE.match(line):
            inside = not inside
        elif inside:
            yield line


def _prose(text: str) -> Iterator[str]:
    inside = False
    for line in text.splitlines():
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            yield line


def _without_rules(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not _RULE.fullmatch(line.strip()))


def _common(gold: Sequence[Hashable], read: Sequence[Hashable]) -> float:
    return Indel.normalized_similarity(gold, read)
