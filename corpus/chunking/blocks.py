"""Markdown as a sequence of blocks with exact offsets, and blocks cut into atoms, from which passages are built.

markdown-it provides the block structure; only its top level is kept, so that nothing is lost: a block extends from its
first line to the line before the next one, whatever is between. Memory is proportional to a slice (`_SLICE_CHARS`), not
to the whole text: lines without a blank one in between cost a hundred times their own bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice, pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

BlockKind = Literal["heading", "paragraph", "list", "table", "code"]

_SLICE_CHARS = 200_000
# CommonMark: at most three spaces before a fence; with four it is indented code.
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)", re.MULTILINE)
# An indented line after the blank one may still belong to a list item, which must not be cut in two.
_SEAM = re.compile(rf"{_FENCE.pattern}|(?<=\n)[^\S\n]{{0,79}}\n(?=\S)", re.MULTILINE)
"""A line that opens or closes code, or the last blank line before one that is not indented."""
_OPENING = re.compile(r"(?:`{3,}|~{3,})[^`\n]{0,60}(?=\n)")
# Stops that end no sentence: `e.g.`, `No.`, an initial as in `J. Smith`, a number that begins the text as in `1.`
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|approx|dept|dr|eq|fig|figs|inc|ltd|mr|mrs|ms|no|nos|p|pp|prof|ref|sec|st|vol|al|incl|max|min|resp|tab|ch)"
    r"|\b[A-Za-z]|^\s*\d{1,3})\.$",
    re.IGNORECASE,
)
# A mark with closing quotes and a capital after it; an East Asian mark, which needs no space; a blank line.
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]*_`]{0,3}\s+(?=[\"'“‘(\[*_`]{0,3}[A-Z0-9À-ÞА-Я])|[。！？]\s*|\n[ \t]*\n")
# "You may not enter if you", "For two reasons,": not "Document types 2", nor a title in capitals.
_UNFINISHED = re.compile(r"(?:[,…–—-]|\b[a-zß-ÿ][^\W\d_]*)[\"'”’»*_`]*\s*$")
# `[text](url)` keeps its text and `\*` its star. Underscores within a word, as in `max_size`, are no marks.
_MARKS = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)|(\*{1,3}|`+|~~|(?<!\w)_{1,3}|_{1,3}(?!\w))|\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block; [start, end) are offsets and `inner` the offsets where the items of a list begin."""

    start: int
    end: int
    kind: BlockKind
    level: int = 0
    text: str = ""
    inner: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AtomicSpan:
    """A span that no passage cuts again. `columns` is the header row of the table that it continues, if any, or the
    line that opened the block of code.
    """

    start: int
    end: int
    columns: str = ""
    opens: bool = True
    glued: bool = False


def split_blocks(markdown: str) -> Iterator[Block]:
    """Return all blocks in order; together they contain every non-blank character exactly once."""
    begin = 0
    while begin < len(markdown):
        end, is_code = _find_slice_end(markdown, begin)
        if is_code:
            yield Block(begin, end, "code")
        else:
            last: Block | None = None
            for block in _parse_slice(markdown, begin, end):
                if last is not None:
                    yield last
                last = block
            if last is not None and last.kind == "table" and last.end == end:
                end = _find_rows_end(markdown, end)  # a table longer than a slice keeps its header
                last = replace(last, end=end)
            if last is not None:
                yield last
        begin = end


def strip_heading(heading: str) -> str:
    """Return a heading without its Markdown marks, on one line."""
    # Cut first: in a line of many unclosed `[`, the pattern takes quadratic time.
    stripped = _MARKS.sub(lambda match: match[1] or match[3] or "", heading[:2000])
    return " ".join(stripped.split())


def cut_block(markdown: str, block: Block, size: int) -> Iterator[AtomicSpan]:
    """Return the block whole if it is at most `size` characters, else cut at the least harmful places."""
    start, end = trim(markdown, block.start, block.end)
    if end - start <= size:
        # "The limits are:" introduces what follows it, as a heading does.
        yield AtomicSpan(start, end, glued=block.kind == "heading" or markdown.endswith(":", start, end))
    elif block.kind == "table":
        yield from _cut_table(markdown, block, size)
    elif block.kind == "code":
        yield from _cut_code(markdown, start, end, size)
    elif block.kind == "list":
        bounds = chain([start], (offset for offset in block.inner if start < offset < end), [end])
        for piece_start, piece_end in _cut_at(markdown, bounds, size):
            yield AtomicSpan(piece_start, piece_end, opens=piece_start == start)
    else:
        glued = block.kind == "heading"
        for piece_start, piece_end in cut_text(markdown, start, end, size):
            yield AtomicSpan(piece_start, piece_end, opens=piece_start == start, glued=glued)


def trim(markdown: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without blank space at its ends. Indentation of the first line counts as blank."""
    while start < end and markdown[start].isspace():
        start += 1
    while end > start and markdown[end - 1].isspace():
        end -= 1
    return start, end


def cut_text(markdown: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Return spans of at most `size` characters, cut at sentence ends, else between words, else anywhere."""
    bounds = chain([start], find_sentence_starts(markdown, start, end), [end])
    for sentence_start, sentence_end in pairwise(bounds):
        yield from _cut_words(markdown, sentence_start, sentence_end, size)


def find_sentence_starts(markdown: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets at which the second and later sentences begin: a cheap rule with a guard for abbreviations,
    linear in the text.
    """
    for match in _SENTENCE_END.finditer(markdown, start, end):
        # Twelve characters contain the longest abbreviation of the list and the boundary before it.
        if not _ABBREVIATION.search(markdown, max(start, match.start() - 12), match.start() + 1) and match.end() < end:
            yield match.end()


def is_unfinished(text: str) -> bool:
    """Return whether a line ends within a sentence, which a list below it then finishes."""
    return _UNFINISHED.search(text) is not None


# -- block structure ------------------------------------------------------------------------------------------------


@cache
def _parser() -> MarkdownIt:
    # Without `reference`: a link definition would be dropped, but its text belongs to some passage too.
    return MarkdownIt("commonmark").enable("table").disable(["reference"])


def _find_slice_end(markdown: str, begin: int) -> tuple[int, bool]:
    """Return the end of a slice that begins here and can be parsed by itself; and whether it is all code.

    Cut at a blank line outside code. If none comes in time: before the code, or at the end of a line.
    """
    # Nearly all documents are small enough to be parsed whole.
    if begin == 0 and len(markdown) <= 2 * _SLICE_CHARS:
        return len(markdown), False
    latest = min(begin + 2 * _SLICE_CHARS, len(markdown))
    fence, opened = "", begin
    for match in _SEAM.finditer(markdown, begin, latest):
        if match[1]:
            # Kept until the fence is closed: if that does not happen in time, the piece ends where the code began.
            opened = opened if fence else match.start()
            fence = _follow_fence(fence, match)
        elif not fence and match.end() - begin >= _SLICE_CHARS:
            return match.end(), False
    if latest == len(markdown):
        return latest, False
    if fence and opened > begin:
        return opened, False
    if fence:
        return _find_code_end(markdown, begin), True
    # No boundary in all that text: cut at the end of a line, or after the slice if one line is longer.
    return markdown.rfind("\n", begin, latest) + 1 or markdown.find("\n", latest) + 1 or len(markdown), False


def _find_rows_end(markdown: str, begin: int) -> int:
    while begin < len(markdown):
        stop = markdown.find("\n", begin) + 1 or len(markdown)
        if markdown.find("|", begin, stop) < 0:
            break
        begin = stop
    return begin


def _find_code_end(markdown: str, begin: int) -> int:
    fence = ""
    for match in _FENCE.finditer(markdown, begin):
        fence = _follow_fence(fence, match)
        if not fence:
            return min(match.end() + 1, len(markdown))
    return len(markdown)


def _follow_fence(fence: str, match: re.Match[str]) -> str:
    mark, rest = match[1], match[2]
    if not fence:
        # A line such as "```x```" is inline code and opens no block.
        return "" if mark[0] == "`" and "`" in rest else mark
    # A closing fence is at least as long as the opening one, with nothing after it.
    return "" if mark.startswith(fence) and not rest.strip() else fence


def _parse_slice(markdown: str, begin: int, end: int) -> Iterator[Block]:
    source = markdown[begin:end]
    tokens: list[Token] = []
    # Blocks only: nothing here needs the emphasis and links inside them.
    _parser().block.parse(source, _parser(), {}, tokens)
    lines = [begin]
    lines.extend(match.end() + begin for match in re.finditer("\n", source))
    lines.append(end)
    position = begin
    for block in _build_blocks(markdown, tokens, lines):
        if not markdown[block.start : block.end].strip():
            continue  # to Markdown a carriage return or an odd space of its own is a paragraph
        if block.start > position and markdown[position : block.start].strip():
            yield Block(position, block.start, "paragraph")
        # Whatever lines the parser reports, no character may be in two blocks.
        yield replace(block, start=max(block.start, position))
        position = max(block.end, position)
    if markdown[position:end].strip():
        yield Block(position, end, "paragraph")


def _build_blocks(markdown: str, tokens: list[Token], lines: list[int]) -> Iterator[Block]:
    def offset(line: int) -> int:
        return lines[min(line, len(lines) - 1)]

    index = 0
    while index < len(tokens):
        token, first = tokens[index], index
        index += 1
        # Nested tokens belong to this block: continue to the next token that opens one at the top level.
        while index < len(tokens) and not (tokens[index].level == 0 and tokens[index].nesting >= 0):
            index += 1
        if token.map is None:
            continue
        start, end = offset(token.map[0]), offset(token.map[1])
        kind = _kind(token)
        if kind == "heading":
            # The token with the heading's text follows `heading_open`.
            yield Block(start, end, kind, int(token.tag[1:]), strip_heading(tokens[first + 1].content))
        else:
            yield Block(start, end, kind, inner=_find_items(kind, tokens[first:index], offset))


def _kind(token: Token) -> BlockKind:
    kinds: dict[str, BlockKind] = {
        "heading_open": "heading",
        "bullet_list_open": "list",
        "ordered_list_open": "list",
        "table_open": "table",
        "fence": "code",
        "code_block": "code",
    }
    return kinds.get(token.type, "paragraph")


def _find_items(kind: BlockKind, tokens: list[Token], offset: Callable[[int], int]) -> tuple[int, ...]:
    if kind == "list":
        return tuple(offset(token.map[0]) for token in tokens if token.type == "list_item_open" and token.map)
    return ()


# -- cutting --------------------------------------------------------------------------------------------------------


def _cut_table(markdown: str, block: Block, size: int) -> Iterator[AtomicSpan]:
    """Yield rows; the header row and the rule under it stay with the first row. Later atoms carry the header as
    text.
    """
    start, end = trim(markdown, block.start, block.end)
    rows = islice(_find_line_starts(markdown, start, end), 2, None)  # after header, rule and first row
    columns = markdown[start : markdown.find("\n", start)].strip()
    # Repeating a header that fills half a passage would leave no room for the rows.
    columns = columns if len(columns) <= size // 2 else ""
    for piece_start, piece_end in _cut_at(markdown, chain([start], rows, [end]), size):
        first = piece_start == start
        yield AtomicSpan(piece_start, piece_end, columns="" if first else columns, opens=first)


def _cut_code(markdown: str, start: int, end: int, size: int) -> Iterator[AtomicSpan]:
    """Yield lines with their indentation. Without the line that opened the block, later ones would pass for prose."""
    opened = _OPENING.match(markdown, start, end)
    for piece_start, piece_end in _cut_at(
        markdown, chain([start], _find_line_starts(markdown, start, end), [end]), size
    ):
        first = piece_start
        while opened and first > start and markdown[first - 1] in " \t":
            first -= 1
        if markdown[first - 1 : first] != "\n" or piece_end - first > size:
            first = piece_start
        yield AtomicSpan(first, piece_end, columns=opened[0] if opened and first > start else "", opens=first == start)


def _find_line_starts(markdown: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets at which the second and later lines begin."""
    position = start
    while 0 < (position := markdown.find("\n", position, end) + 1) < end:
        yield position


def _cut_at(markdown: str, bounds: Iterable[int], size: int) -> Iterator[tuple[int, int]]:
    """Return the spans between bounds, those over `size` cut at line ends, sentences and words."""
    for start, end in pairwise(bounds):
        if end - start <= size:
            yield from _trim_span(markdown, start, end)
            continue
        position = start
        while position < end:
            stop = markdown.find("\n", position, end) + 1 or end
            yield from cut_text(markdown, position, stop, size)
            position = stop


def _cut_words(markdown: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    while end - start > size:
        # Only in the second half: an earlier space would leave a tiny piece.
        cut = max(markdown.rfind(mark, start + size // 2, start + size) for mark in (" ", "\n"))
        stop = cut + 1 if cut > start else start + size
        yield from _trim_span(markdown, start, stop)
        start = stop
    yield from _trim_span(markdown, start, end)


def _trim_span(markdown: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    start, end = trim(markdown, start, end)
    if start < end:
        yield start, end


def find_last_at_or_before(offsets: list[int], position: int) -> int:
    """Return the index of the last offset that is not after `position`, or -1."""
    return bisect_right(offsets, position) - 1
