"""Source code, settings and logs: kept word for word, with a heading for each symbol and the line of each piece."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.plain_text import decode_text
from argot.corpus.readers.source_languages import find_dialect, get_language
from argot.corpus.readers.source_symbols import Symbol, find_symbols
from argot.types import PageMark, ParsedDocument

LINES_PER_SECOND = 100_000
_LINES_A_BLOCK = 400
"""Lines under one heading of a part without symbols, so that a log is not one block."""
_MAX_SCRAP_LINES = 2
_MAX_HEADING_LEVEL = 6
_FENCE = re.compile(r"`{3,}")
_COLOUR_CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_HEADING_MARK = re.compile(r"(?<!\w)_+|_+(?!\w)|[\\`*\[\]<>#~!|]")
_CLOSING = re.compile(r"\s*(?:#\s*endif|[})\]]|end\w*\b)", re.IGNORECASE)
_REST = "Lines {} to {}"


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines [first, end) of a file, from 0, and the names of the symbol that they belong to, if any."""

    path: tuple[str, ...]
    first: int
    end: int


def read_source_code(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a file of a programming language, of settings or of a program's messages. The title is the file name.

    Raises:
        UnreadableDocument: it is no text, or has more lines than can be read in time.
    """
    text = _COLOUR_CODE.sub("", decode_text(data, name))
    limits.check_chars(len(text), name)
    language = get_language(name)
    lines = text.rstrip().split("\n")
    limits.check_elements(len(lines), LINES_PER_SECOND, "line", name)
    pieces = split_lines(lines, find_symbols(text, find_dialect(language, text)))
    # No run of backticks in the file may close a block.
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(text))])
    markdown, marks = _write_pieces(lines, pieces, f"{fence}{language.name}", fence)
    title = PurePosixPath(name.replace("\\", "/")).name
    return ParsedDocument(title, markdown, language.media_type, pages=tuple(marks))


def split_lines(lines: Sequence[str], symbols: Sequence[Symbol]) -> list[Piece]:
    """Split a file into pieces, each of the innermost symbol around it; together they hold every line once."""
    pieces: list[Piece] = []
    waiting: list[Symbol] = []
    line = 0
    for one in [*symbols, None]:
        until = len(lines) if one is None else one.first
        while waiting and waiting[-1].end <= until:
            line = _add_piece(pieces, waiting[-1].path, line, waiting.pop().end)
        line = _add_piece(pieces, waiting[-1].path if waiting else (), line, until)
        if one is not None:
            waiting.append(one)
    return _join_scraps(lines, pieces, {one.first for one in symbols})


def _join_scraps(lines: Sequence[str], pieces: Sequence[Piece], begins: Collection[int]) -> list[Piece]:
    """Join a line or two that are no symbol, such as `#ifdef`, `class A {` or a bracket, with their neighbours."""
    joined: list[Piece] = []
    above: int | None = None
    for piece, after in zip_longest(pieces, pieces[1:]):
        first = piece.first if above is None else above
        above = None
        is_head = (
            bool(piece.path)
            and after is not None
            and len(after.path) > len(piece.path) == _count_common(piece.path, after.path)
        )
        is_scrap = sum(bool(line.strip()) for line in lines[first : piece.end]) <= _MAX_SCRAP_LINES
        if not is_scrap or (piece.first in begins and not is_head):
            joined.append(Piece(piece.path, first, piece.end))
        elif is_head or (after is not None and not piece.path and not _is_closing(lines[first : piece.end])):
            above = first
        elif joined:
            joined[-1] = Piece(joined[-1].path, joined[-1].first, piece.end)
        else:
            joined.append(Piece(piece.path, first, piece.end))
    return joined


def _is_closing(lines: Sequence[str]) -> bool:
    return any(_CLOSING.match(line) for line in lines)


def _count_common(path: tuple[str, ...], other: tuple[str, ...]) -> int:
    return sum(one == two for one, two in zip(path, other, strict=False))


def _add_piece(pieces: list[Piece], path: tuple[str, ...], first: int, end: int) -> int:
    """Add the lines [first, end) to the pieces, and return where the next ones begin."""
    if end <= first:
        return first
    if pieces and pieces[-1].path == path and path:
        first = pieces.pop().first
    pieces.append(Piece(path, first, end))
    return end


def _write_pieces(
    lines: Sequence[str], pieces: Sequence[Piece], opening: str, closing: str
) -> tuple[str, list[PageMark]]:
    """Write each piece as a block of code under a heading; mark the line of heading and code."""
    parts: list[str] = []
    marks: list[PageMark] = []
    length = 0
    for piece in _iter_blocks(lines, pieces):
        heading = f"{_write_heading(piece)}\n\n"
        block = "\n".join(lines[piece.first : piece.end]).rstrip()
        code = f"{opening}\n"
        marks.append(PageMark(length, piece.first + 1, "line"))
        marks.append(PageMark(length + len(heading) + len(code), piece.first + 1, "line"))
        part = f"{heading}{code}{block}\n{closing}\n\n"
        parts.append(part)
        length += len(part)
    return "".join(parts), marks


def _iter_blocks(lines: Sequence[str], pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the pieces without blank lines at their beginning; long ones without a symbol in several blocks."""
    for piece in pieces:
        size = piece.end - piece.first if piece.path else _LINES_A_BLOCK
        for first in range(piece.first, piece.end, size):
            start, end = first, min(first + size, piece.end)
            while start < end and not lines[start].strip():
                start += 1
            if start < end:
                yield Piece(piece.path, start, end)


def _write_heading(piece: Piece) -> str:
    """Write the heading of a piece: the names of its symbol, or its lines.

    The level shows the nesting, and all names are given: the last one alone may be `run` in every class.
    """
    text = ".".join(piece.path) if piece.path else _REST.format(piece.first + 1, piece.end)
    marked = _HEADING_MARK.sub(lambda found: "".join(f"\\{sign}" for sign in found[0]), text)
    return f"{'#' * min(2 + max(0, len(piece.path) - 1), _MAX_HEADING_LEVEL)} {marked}"
