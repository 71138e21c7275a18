"""Tables of plain text whose columns are aligned by spaces, as Markdown tables.

In a proportional font such columns slip, and a line of them is no row that could be quoted with its header. A block of
lines is a table if spaces of two or more, in most lines, lie below each other. Every word is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from argot.corpus.readers.pipe_tables import join_headers, render_pipe_table

_MIN_LINES = 3
_MAX_HEADER_LINES = 3
_MAX_LINES = 500
_MAX_CELL_CHARS = 80
"""Characters of a cell: two columns of running text are no table."""
_WIDE_GAP_SHARE = 0.5
_GAP = re.compile(r"\S {2,}\S")
_MARKED = re.compile(r"\s*(?:[-*+•‣>|#]|\(?(?:\d{1,3}|[a-zA-Z])[.)]\s|`{3}|~{3})")
"""A line of a list, quotation, heading, table or fence, which Markdown reads already."""
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_RULE = re.compile(r"[\s=+-]*(?:[=-]{2,})[\s=+-]*")


def render_text_tables(text: str) -> str:
    """Return the text with each table of aligned columns as a pipe table, apart from the lines around it."""
    rendered: list[str] = []
    is_code = False
    for _, block in groupby(text.split("\n"), key=lambda line: not line.strip()):
        lines = list(block)
        fences = sum(_FENCE.match(line) is not None for line in lines)
        rendered += lines if is_code or fences else _render_block(lines)
        is_code ^= fences % 2 == 1
    return "\n".join(rendered)


def _render_block(lines: Sequence[str]) -> list[str]:
    """Return the lines of a block, with its longest table rendered: text directly above or below it stays as it is."""
    start, end = _find_columned_lines(lines)
    headers = _count_header_lines(lines[start:end])
    rows = _split_rows([line.expandtabs(8) for line in lines[start:end] if not _RULE.fullmatch(line)], headers)
    if len(rows) < _MIN_LINES:
        return list(lines)
    above = [*lines[:start], ""] if start else []
    below = ["", *lines[end:]] if end < len(lines) else []
    return [*above, *render_pipe_table(rows).split("\n"), *below]


def _find_columned_lines(lines: Sequence[str]) -> tuple[int, int]:
    """Return the first and the last of the longest run of lines that have a gap, as [start, end)."""
    best = (0, 0)
    for has_gap, places in groupby(range(len(lines)), key=lambda place: _may_be_row(lines[place])):
        run = list(places)
        if has_gap and len(run) > best[1] - best[0]:
            best = (run[0], run[-1] + 1)
    return best


def _count_header_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of a table's header: those before a rule, if the table begins with another one, or if
    the lines below the first have nothing in its first column; else 1.
    """
    is_rule = [_RULE.fullmatch(line) is not None for line in lines]
    first = next((place for place, found in enumerate(is_rule) if not found), 0)
    headers = next((place for place, found in enumerate(is_rule[first:]) if found), 1)
    header = lines[first : first + headers]
    is_below = all(_measure_indent(line) > _measure_indent(header[0]) for line in header[1:])
    return headers if headers <= _MAX_HEADER_LINES and (first or is_below) else 1


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _may_be_row(line: str) -> bool:
    is_rule = _RULE.fullmatch(line) is not None
    return is_rule or (_GAP.search(line.expandtabs(8)) is not None and _MARKED.match(line) is None)


def _split_rows(lines: Sequence[str], headers: int) -> list[Sequence[str]]:
    """Return the cells of each row, the header joined from its first `headers` lines; none if the lines have no columns
    in common.
    """
    if not _MIN_LINES <= len(lines) <= _MAX_LINES:
        return []
    width = max(map(len, lines))
    padded = [line.ljust(width) for line in lines]
    # A letter of any of its lines.
    header = "".join(max(signs) for signs in zip(*padded[:headers], strict=True))
    compared = [header, *padded[headers:]]
    cuts = _drop_nameless([place for place in _find_blank_ends(compared) if _is_column(compared, place)], header)
    rows = join_headers([[cell.strip() for cell in _split_at(line, cuts)] for line in padded], headers)
    fits = cuts and all(row[0] and any(row[1:]) for row in rows) and all(rows[0])
    return rows if fits and all(len(cell) <= _MAX_CELL_CHARS for row in rows for cell in row) else []


def _find_blank_ends(lines: Sequence[str]) -> Iterator[int]:
    """Yield the places where blanks in all lines end."""
    blank = [all(line[place] == " " for line in lines) for place in range(len(lines[0]))]
    first = next((place for place, is_blank in enumerate(blank) if not is_blank), len(blank))
    yield from (place for place in range(first + 1, len(blank)) if blank[place - 1] and not blank[place])


def _is_column(lines: Sequence[str], place: int) -> bool:
    """Return whether the blanks before a place are wide in most lines: words of running text have one between them."""
    beside = [line for line in lines if line[:place].strip() and line[place:].strip()]
    wide = sum(len(line[:place]) - len(line[:place].rstrip()) > 1 for line in beside)
    return bool(beside) and wide >= _WIDE_GAP_SHARE * len(beside) and lines[0][place - 2 : place] == "  "


def _drop_nameless(cuts: Sequence[int], header: str) -> list[int]:
    """Return the cuts without those behind which the header has nothing: words that are below each other by chance."""
    ends = [*cuts[1:], len(header)]
    return [cut for place, cut in enumerate(cuts) if header[cut : ends[place]].strip()]


def _split_at(line: str, cuts: Iterable[int]) -> Iterator[str]:
    start = 0
    for cut in (*cuts, len(line)):
        yield line[start:cut]
        start = cut
