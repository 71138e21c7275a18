"""Lines of PDF pages to headings, paragraphs, list items and tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from argot.corpus.readers.pdf_lines import HYPHEN, Line, measure_line_step
from argot.corpus.readers.pdf_tables import PageTable

# \uf0b7 and similar are the bullets of Symbol and Wingdings. A dash, a star or an `o` needs a blank and text.
_BULLET = re.compile(r"[•●○◦▪■□‣⁃∙·\uf0b7\uf0a7\uf0d8➢➤✓❖](?:\s+|$)|[–—*o-]\s+(?=\S)")
# For example `1. `, `(a) `, `iv) `.
_NUMBERED = re.compile(r"\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+\S")
# For example `2 Lock out the air`, without a mark: only a sequence of them is a list of steps.
_BARE_NUMBER = re.compile(r"(\d{1,2})\s+([A-ZÀ-ÖØ-Þ].*)")
_MIN_STEPS = 3
_EDGE_TOLERANCE_POINTS = 4.0
"""Points between the left edges of two steps of one list."""
_MAX_STEP_GAP_POINTS = 24.0
"""Points between a number and its step."""
# For example "Status: Superseded" and "Last updated: 5 May 2023".
_LABEL = re.compile(r"[^\W\d_][\w/-]*(?: [\w/-]+){0,3}: ?(?=\S)")
# For example `2 Cooling` and `2.1 Pumps`.
_NUMBERED_HEADING = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?\s+[^\W\d_a-z]")
_UNFINISHED_LINE = re.compile(r"(?:\b[a-z]{1,3}|[-,:&/])$")
_SENTENCE_END = re.compile(r"[.!?:;][\"'”’)\]]*(?:\^\d{1,2})?$")
_MAX_INDENT_POINTS = 45.0
_MAX_HEADING_CHARS = 160
_NEAR_LINES = 8
_MAX_CODE_GAP = 3.5
"""Font sizes from one line of a block of code to the next; more than half of it is a blank line."""

Kind = Literal["heading", "paragraph", "item", "table", "code", "note"]


@dataclass(slots=True)
class Piece:
    """A block and its position: `boxes` are (page, x0, y0, x1, y1), one for each page it touches."""

    kind: Kind
    text: str
    page: int
    boxes: list[tuple[int, float, float, float, float]] = field(default_factory=list)
    size: float = 10.0
    bold: bool = False
    right: float = 0.0
    """The end of its last line, from the left."""
    level: int = 1
    """The level of a heading, from 1."""
    depth: int = 0
    """The depth of an item, from 0."""
    code: list[Line] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Fonts:
    """The document's body size, and the larger sizes in falling order: heading levels 1, 2, ..."""

    body: float
    larger: tuple[float, ...]
    code: bool = True
    """Whether monospaced lines are code: not if most of the document is monospaced."""

    def is_heading(self, line: Line, left: float, right: float) -> bool:
        """Return True for a larger line, or a short bold one at the left edge or in the middle that names no column."""
        text = line.text
        if not 2 <= len(text) <= _MAX_HEADING_CHARS or not re.search(r"[^\W\d_]{2}", text) or _BULLET.match(text):
            return False
        if line.size in self.larger:
            return True
        # Bold is a weak sign: rows of tables, lead-ins and whole sentences are bold too.
        return (
            line.bold
            and line.size >= 0.95 * self.body
            and len(line.spans) <= 2
            and len(text) <= 100
            and text[-1] not in ".,;"
            and not text[0].islower()
            and (line.x0 - left < _MAX_INDENT_POINTS or abs(line.x0 + line.x1 - left - right) < _MAX_INDENT_POINTS)
        )

    def level(self, size: float) -> int:
        return min(self.larger.index(size) + 1, 5) if size in self.larger else min(len(self.larger) + 1, 6)


def build_blocks(
    lines: Sequence[Line], page: int, fonts: Fonts, tables: Sequence[tuple[PageTable, str]], words: Words
) -> list[Piece]:
    """Return the blocks of one page in reading order. `tables`: those of the page, each with its Markdown."""
    step = measure_line_step(lines)
    edges = measure_edges(lines)
    found: list[Piece] = []
    shown: set[int] = set()
    table_of = {place: number for number, (table, _) in enumerate(tables) for place in table.spans}
    previous: Line | None = None
    for number, line in enumerate(lines):
        free = tuple(span for index, span in enumerate(line.spans) if (number, index) not in table_of)
        for table in dict.fromkeys(table_of.get((number, index)) for index in range(len(line.spans))):
            if table is not None and table not in shown:
                shown.add(table)
                found.append(_make_table_piece(*tables[table], page))
        if free and fonts.code and line.mono and len(free) == len(line.spans):
            _add_code(found, line, page, previous)
        elif free:
            rest = replace(line, spans=free)
            _add_line(
                found,
                rest,
                page,
                fonts=fonts,
                step=step,
                words=words,
                previous=previous,
                edges=edges,
                right=partial(_measure_column_end, lines, number),
            )
        previous = line
    return found


def _measure_column_end(lines: Sequence[Line], number: int) -> float:
    """Return the right end of the nearby lines that begin at the same left edge."""
    near = lines[max(0, number - _NEAR_LINES) : number + _NEAR_LINES]
    return max(line.x1 for line in near if abs(line.x0 - lines[number].x0) < _EDGE_TOLERANCE_POINTS)


def measure_edges(lines: Sequence[Line]) -> tuple[float, float]:
    return min((line.x0 for line in lines), default=0.0), max((line.x1 for line in lines), default=0.0)


def _make_table_piece(table: PageTable, markdown: str, page: int) -> Piece:
    area = table.area
    return Piece("table", markdown, page, [(page, area.x0, area.y0, area.x1, area.y1)])


# -- steps ----------------------------------------------------------------------------------------------------------


def mark_steps(lines: Sequence[Line], fonts: Fonts) -> list[Line]:
    """Return the lines with "1 Stop the engine", "2 Lock ...", "3 Drain ..." as "1. Stop the engine" and so on.

    Some programs number steps without a mark after the number. One or two such lines may be anything; three that count
    from 1, at one left edge and not set as headings, are steps.
    """
    marked, found = list(lines), list[int]()
    edges = measure_edges(lines)
    for place, line in enumerate(lines):
        number = _read_bare_number(line)
        if number is None or fonts.is_heading(line, *edges):
            continue
        if number == len(found) + 1 and (not found or abs(line.x0 - lines[found[0]].x0) < _EDGE_TOLERANCE_POINTS):
            found.append(place)
        elif number == 1:
            marked, found = _mark_lines(marked, found), [place]
    return _mark_lines(marked, found)


def _read_bare_number(line: Line) -> int | None:
    """Return the number at the beginning of a line of prose, unless a mark makes it a list item's."""
    first, *rest = line.spans
    # Further away is the next column of a table.
    apart = first.text.isdigit() and len(rest) == 1 and rest[0].x0 - first.x1 < _MAX_STEP_GAP_POINTS
    match = _BARE_NUMBER.match(line.text) if apart or not rest else None
    return int(match[1]) if match else None


def _mark_lines(lines: list[Line], steps: list[int]) -> list[Line]:
    if len(steps) < _MIN_STEPS:
        return lines
    return [_mark_step(line) if place in steps else line for place, line in enumerate(lines)]


def _mark_step(line: Line) -> Line:
    """Return the step as one span, although its number may be separate: it is no cell of a table."""
    text = _BARE_NUMBER.sub(r"\1. \2", line.text, count=1)
    return Line((replace(line.spans[-1], text=text, x0=line.x0, y0=line.y0, y1=line.y1),))


# -- prose ----------------------------------------------------------------------------------------------------------


class Words:
    """All words of the document: they decide whether a hyphen at a line end splits a word or belongs to it."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._known: set[str] = set()
        for line in lines:
            self._known.update(re.findall(r"[\w-]{3,}", line.text.lower()))

    def join(self, before: str, after: str) -> str:
        """Join two lines; a hyphen that splits a word between them is removed."""
        if not before.endswith((HYPHEN, "-")) or not after[:1].islower():
            return f"{before.replace(HYPHEN, '-')} {after}"
        stem = re.search(r"[\w-]*$", before[:-1])
        rest = re.match(r"[\w-]*", after)
        first, last = (stem[0] if stem else "").lower(), (rest[0] if rest else "").lower()
        # Without the hyphen, unless the document itself writes the word with one, or its first part already has one.
        if f"{first}{last}" not in self._known and (f"{first}-{last}" in self._known or "-" in first):
            return f"{before[:-1]}-{after}"
        return f"{before[:-1]}{after}"


def _add_line(
    found: list[Piece],
    line: Line,
    page: int,
    *,
    fonts: Fonts,
    step: float,
    words: Words,
    previous: Line | None,
    edges: tuple[float, float],
    right: Callable[[], float],
) -> None:
    heading = fonts.is_heading(line, *edges)
    last = found[-1] if found else None
    if (
        last is not None
        and previous is not None
        and _is_continuation(last, previous, line, step, right, heading=heading)
    ):
        last.text = words.join(last.text, line.marked_text)
        _, x0, y0, x1, y1 = last.boxes[-1]
        last.boxes[-1] = (page, min(x0, line.x0), min(y0, line.y0), max(x1, line.x1), max(y1, line.y1))
        last.right = line.x1
        return
    kind: Kind = "heading" if heading else "item" if _BULLET.match(line.text) else "paragraph"
    box = (page, line.x0, line.y0, line.x1, line.y1)
    found.append(Piece(kind, line.marked_text, page, [box], line.size, line.bold, line.x1))


def _is_continuation(
    last: Piece, previous: Line, line: Line, step: float, right: Callable[[], float], *, heading: bool
) -> bool:
    """Return True where the line continues the block of the line before it."""
    if last.kind in ("table", "code") or (last.kind == "heading") != heading or _BULLET.match(line.text):
        return False
    if abs(line.size - last.size) > 0.1 * last.size + 0.3:
        return False
    down = line.y0 - previous.y0
    if heading:
        same = line.bold == last.bold and line.size == last.size and len(last.text) < _MAX_HEADING_CHARS
        numbered = _NUMBERED_HEADING.match(line.text) and not _UNFINISHED_LINE.search(last.text)
        return same and not numbered and -2 < down <= 1.8 * line.size
    unfinished = not _SENTENCE_END.search(last.text) and line.text[:1].islower()
    # Text that begins left of an item's mark does not belong to it.
    outside = last.kind == "item" and line.x0 < last.boxes[-1][1] - _EDGE_TOLERANCE_POINTS
    if down < -2 or (outside and not unfinished):  # the next column: a sentence may continue there
        return unfinished
    if down > max(1.45 * step, 1.8 * line.size):
        return False
    return unfinished or not _is_paragraph_begin(last, previous, line, right, far=down > 1.25 * step)


def _is_paragraph_begin(last: Piece, previous: Line, line: Line, right: Callable[[], float], *, far: bool) -> bool:
    """Return True for a numbered item, a label under another, an indentation, a wider step or a short last line.

    The last three only after the end of a sentence, or of a label's value.
    """
    if _NUMBERED.match(line.text) or line.spans[0].raised[:1] == (0,):
        return True
    labelled = (
        _is_labelled(last.text)
        and last.kind == "paragraph"
        and abs(line.x0 - last.boxes[-1][1]) < _EDGE_TOLERANCE_POINTS
    )
    if labelled and _is_labelled(line.text):
        return True
    if not labelled and not _SENTENCE_END.search(last.text):
        return False
    indented = line.x0 > previous.x0 + 8 and last.kind != "item"
    if indented or far:
        return True
    _, x0, _, x1, _ = last.boxes[-1]
    x1 = max(x1, right())
    return last.right < x1 - 0.25 * max(x1 - x0, 150.0)


def _is_labelled(text: str) -> bool:
    return text[:1].isupper() and _LABEL.match(text) is not None


def _add_code(found: list[Piece], line: Line, page: int, previous: Line | None) -> None:
    """Add a line of code to the block before it, or begin a block."""
    last = found[-1] if found else None
    down = line.y0 - previous.y0 if previous else 0.0
    box = (page, line.x0, line.y0, line.x1, line.y1)
    if last is None or last.kind != "code" or not -2 < down < _MAX_CODE_GAP * line.size:
        found.append(Piece("code", "", page, [box], line.size, code=[line]))
        return
    last.code.append(line)
    _, x0, y0, x1, y1 = last.boxes[-1]
    last.boxes[-1] = (page, min(x0, line.x0), min(y0, line.y0), max(x1, line.x1), max(y1, line.y1))


def join_pages(pages: Sequence[list[Piece]], words: Words) -> Iterator[Piece]:
    """Yield all pieces in order; a paragraph over two pages is one piece with a box on each, before its notes."""
    last: Piece | None = None
    notes: list[Piece] = []
    for page in pages:
        for index, piece in enumerate(page):
            if piece.kind == "note":
                notes.append(piece)
                continue
            if index == 0 and last is not None and _is_continued_overleaf(last, piece):
                last.text = words.join(last.text, piece.text)
                last.boxes.extend(piece.boxes)
                continue
            yield from ([last] if last else [])
            yield from notes
            last, notes = piece, []
    yield from ([last] if last else [])
    yield from notes


def _is_continued_overleaf(last: Piece, piece: Piece) -> bool:
    return (
        last.kind in ("paragraph", "item")
        and piece.kind == "paragraph"
        and not _SENTENCE_END.search(last.text)
        and piece.text[:1].islower()
        and abs(last.size - piece.size) < 0.6
    )


def render_piece(piece: Piece) -> str:
    if piece.kind == "code":
        return _render_code(piece.code)
    text = piece.text.replace(HYPHEN, "-")
    if piece.kind == "table":
        return text
    text = " ".join(text.split())
    if piece.kind == "heading":
        return f"{'#' * piece.level} {text}"
    if piece.kind == "item":
        return f"{'  ' * piece.depth}- {_BULLET.sub('', text, count=1).strip()}"
    # Text that only looks like Markdown.
    return f"\\{text}" if re.match(r"#{1,6} |>|```|~~~", text) else text


def _render_code(lines: Sequence[Line]) -> str:
    """Return code with the indentation and the blank lines that it has on the page."""
    width = max(sum(span.x1 - span.x0 for span in lines[0].spans) / max(len(lines[0].text), 1), 1.0)
    left = min(line.x0 for line in lines)
    shown: list[str] = []
    for number, line in enumerate(lines):
        if number and line.y0 - lines[number - 1].y0 > _MAX_CODE_GAP / 2 * line.size:
            shown.append("")
        row = ""
        for span in line.spans:
            row = row.ljust(round((span.x0 - left) / width)) + span.text
        shown.append(row.replace(HYPHEN, "-"))
    return "\n".join(["```", *shown, "```"])
