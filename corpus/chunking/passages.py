"""Passages: contextual units of a document, each with a header (AccurateRAG 2.1).

A short subsection stays whole, tiny neighbours under one heading are joined, a long one is cut between blocks, items,
rows and sentences, in this order of preference. A heading is never a passage of its own. Passages do not depend on an
embedder: changing the embedder changes no passage and so no citation.

The paper also adds a small cut of the neighbours to each chunk. Here none is added: measured, it found fewer right
passages first (bench/laboratory/retrieval.md).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from argot.corpus.chunking.blocks import (
    AtomicSpan,
    Block,
    cut_block,
    find_last_at_or_before,
    split_blocks,
)
from argot.corpus.document_ids import build_passage_id
from argot.corpus.read_limits import ReadLimits
from argot.types import Box, BoxMark, PageKind, PageMark, ParsedDocument, Passage

MAX_BOXES = 20
_SAYS_SOMETHING = re.compile(r"[^\W_]|[^\x00-\xbf\u2010-\u2027\u2500-\u259f]")
"""A letter, a digit, or a sign that is neither ASCII nor part of a rule or of punctuation."""
MAX_HEADING_CHARS = 160
_TINY_SHARE = 4
"""A subsection is tiny if it is shorter than the longest passage by this factor."""


@dataclass(frozen=True, slots=True)
class PassageCut:
    """A passage without an id, since it does not know its document: its span and metadata."""

    start: int
    end: int
    path: tuple[str, ...]
    columns: str
    page: int | None
    page_kind: PageKind | None
    boxes: tuple[Box, ...] = ()


def cut_document(parsed: ParsedDocument, *, max_chars: int, limits: ReadLimits, name: str) -> list[PassageCut]:
    """Return the document's passages in order: no overlaps, nothing left out except blanks, rules and similar.

    `max_chars` bounds the text of every passage. Time is linear in the text.

    Raises:
        UnreadableDocument: there are more than the limits allow.
    """
    # Before anything is parsed: each line costs time, however short it is.
    limits.check_lines(parsed.markdown, name)
    markdown, pages, boxes = parsed.markdown, _Pages(parsed.markdown, parsed.pages), _Boxes(parsed.boxes)
    cuts: list[PassageCut] = []
    units = _pack_sections(
        markdown, _merge_sections(_split_sections(markdown, limits, name), pages, max_chars), pages, max_chars
    )
    for unit in units:
        # The dashes below the head of a wide table, or a rule: they answer nothing.
        if not _SAYS_SOMETHING.search(markdown, unit.start, unit.end):
            continue
        limits.check_passages(len(cuts) + 1, name)
        page, kind = pages.holding(unit.start, unit.end)
        boxes_over = boxes.over(unit.start, unit.end)
        cuts.append(PassageCut(unit.start, unit.end, unit.path, unit.columns, page, kind, boxes_over))
    return cuts


def build_passages(
    title: str, markdown: str, cuts: Sequence[PassageCut], *, document_id: str, revision_id: str, before: str = ""
) -> list[Passage]:
    """Return the cuts of `markdown` as passages of this revision: `markdown[start:end] == text`.

    `before`: text about the document that precedes the title in each header.
    """
    return [
        Passage(
            id=build_passage_id(revision_id, cut.start, cut.end),
            document_id=document_id,
            revision_id=revision_id,
            ordinal=ordinal,
            start=cut.start,
            end=cut.end,
            text=markdown[cut.start : cut.end],
            header=_build_header(title, cut, before),
            heading_path=cut.path,
            page=cut.page,
            page_kind=cut.page_kind,
            boxes=cut.boxes,
        )
        for ordinal, cut in enumerate(cuts)
    ]


@dataclass(slots=True)
class _Section:
    """A heading (or several, when outer ones have no text of their own) and the blocks under it."""

    path: tuple[str, ...]
    blocks: list[Block] = field(default_factory=list)

    @property
    def start(self) -> int:
        return self.blocks[0].start

    @property
    def size(self) -> int:
        return self.blocks[-1].end - self.blocks[0].start


@dataclass(frozen=True, slots=True)
class _Unit:
    start: int
    end: int
    path: tuple[str, ...]
    columns: str = ""


# -- sections -------------------------------------------------------------------------------------------------------


def _split_sections(markdown: str, limits: ReadLimits, name: str) -> Iterator[_Section]:
    """Return sections in reading order. A heading without text of its own is added to the next section."""
    open_headings: list[tuple[int, str]] = []
    waiting: list[Block] = []
    current = _Section(())
    for count, block in enumerate(split_blocks(markdown), start=1):
        limits.check_blocks(count, name)
        if block.kind == "heading":
            if current.blocks:
                yield current
            # A heading ends all sections of its own level and of deeper ones.
            open_headings = [pair for pair in open_headings if pair[0] < block.level]
            open_headings.append((block.level, block.text[:MAX_HEADING_CHARS]))
            waiting.append(block)
            # A heading may consist of marks only, and then has no text to show.
            current = _Section(tuple(text for _, text in open_headings if text))
        else:
            if waiting:
                current.blocks.extend(waiting)
                waiting = []
            current.blocks.append(block)
    # Headings at the end with nothing under them are text of the document too.
    if waiting:
        current.blocks.extend(waiting)
    if current.blocks:
        yield current


def _merge_sections(sections: Iterator[_Section], pages: _Pages, max_chars: int) -> Iterator[_Section]:
    """Merge tiny neighbours with the same parent into one section under that parent, up to `max_chars`."""
    group: _Section | None = None
    tiny = False
    for section in sections:
        path = _find_joint_path(group, section, pages, max_chars, tiny=tiny) if group is not None else None
        if group is not None and path is not None:
            group = _Section(path, group.blocks + section.blocks)
            continue
        if group is not None:
            yield group
        # Only the group's first section has to be tiny, so that a growing group can include more neighbours.
        group, tiny = section, section.size < max_chars // _TINY_SHARE
    if group is not None:
        yield group


def _find_joint_path(
    group: _Section, section: _Section, pages: _Pages, max_chars: int, *, tiny: bool
) -> tuple[str, ...] | None:
    """Return the path of both as one section, or None if they stay separate."""
    # Text is never joined across two slides or two sheets.
    if pages.index(group.start) != pages.index(section.start) and not pages.are_pages:
        return None
    if all(block.kind == "heading" for block in section.blocks):
        return group.path  # the last headings of a document without text under them
    fits = section.blocks[-1].end - group.start <= max_chars
    same_page = pages.index(group.start) == pages.index(section.start)
    if not (tiny and fits and same_page and section.size < max_chars // _TINY_SHARE):
        return None
    return _find_common_parent(group.path, section.path)


def _find_common_parent(path: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the heading above both, if neither is more than one level below it; None if there is none."""
    shared = 0
    while shared < min(len(path), len(other)) and path[shared] == other[shared]:
        shared += 1
    if len(path) - shared > 1 or len(other) - shared > 1:
        return None
    return path[:shared]


# -- packing --------------------------------------------------------------------------------------------------------


def _pack_sections(markdown: str, sections: Iterator[_Section], pages: _Pages, max_chars: int) -> Iterator[_Unit]:
    for section in sections:
        start, end = section.start, section.blocks[-1].end
        while end > start and markdown[end - 1].isspace():
            end -= 1
        one_page = pages.index(start) == pages.index(max(start, end - 1))
        # The block may begin with blank space; its first span does not.
        first = next(cut_block(markdown, section.blocks[0], max_chars)).start
        # A few lines may extend over the end of a page: the page with most of them is cited.
        few = end - first < max_chars // (2 * _TINY_SHARE) and not pages.begins(first)
        if end - first <= max_chars and (one_page or few):
            yield _Unit(first, end, section.path)
        else:
            yield from _cut_section(markdown, section, pages, max_chars)


def _cut_section(markdown: str, section: _Section, pages: _Pages, max_chars: int) -> Iterator[_Unit]:
    """Greedy: as many atoms as fit. Headings, and lines that end in a colon, stay with the following text."""
    previous: list[AtomicSpan] = []
    group: list[AtomicSpan] = []
    for block in section.blocks:
        for atom in cut_block(markdown, block, _measure_room(group, block, max_chars)):
            if group and _must_break(group, atom, pages, max_chars):
                kept = _take_leading(group, atom, max_chars)
                # The last headings of the group introduce the next atom, and move with it into the next passage.
                if len(kept) < len(group):
                    yield from _build_unit(previous, section)
                    previous, group = group[: len(group) - len(kept)], kept
                # The whole group introduces the atom, but the two do not fit together.
                elif atom.end - group[0].start > max_chars:
                    yield from _build_unit(previous, section)
                    previous, group = group, []
            group.append(atom)
    if len(previous) > 1 and all(atom.glued for atom in group):
        moved = previous[-1]  # nothing follows these headings: they stay with the text before them
        if group[-1].end - moved.start <= max_chars:
            previous, group = previous[:-1], [moved, *group]
    yield from _build_unit(previous, section)
    yield from _build_unit(group, section)


def _build_unit(group: list[AtomicSpan], section: _Section) -> Iterator[_Unit]:
    if group:
        yield _Unit(group[0].start, group[-1].end, section.path, group[0].columns)


def _measure_room(group: list[AtomicSpan], block: Block, max_chars: int) -> int:
    """Return the maximum size of the pieces of a block: smaller after a heading, so that the first one fits below
    it.
    """
    if not group or not all(atom.glued for atom in group):
        return max_chars
    return max(max_chars - (block.start - group[0].start), max_chars // 2)


def _must_break(group: list[AtomicSpan], atom: AtomicSpan, pages: _Pages, max_chars: int) -> bool:
    size = group[-1].end - group[0].start
    if atom.end - group[0].start > max_chars:
        return True
    # A page ends a passage, so that the page it cites is right; a few lines at its end may continue, but no whole page.
    if pages.index(atom.start) != pages.index(group[0].start):
        return size >= max_chars // (2 * _TINY_SHARE) or not pages.are_pages or pages.begins(group[0].start)
    return False


def _take_leading(group: list[AtomicSpan], atom: AtomicSpan, max_chars: int) -> list[AtomicSpan]:
    """Remove and return the atoms at the end of the group that introduce `atom`: short, and they still fit in front of
    it.
    """
    first = len(group)
    earliest = max(atom.end - max_chars, group[-1].end - max_chars // 2)
    while first > 0 and group[first - 1].glued and group[first - 1].start >= earliest:
        first -= 1
    return group[first:]


# -- pages and boxes ------------------------------------------------------------------------------------------------


class _Pages:
    """The pages of a document, or the lines of a source file, where a mark begins a symbol and the next one its code.

    Text is never joined over the beginning of a symbol, as it is not over that of a slide or a sheet.
    """

    def __init__(self, markdown: str, marks: Sequence[PageMark]) -> None:
        self._markdown = markdown
        self._lines = [mark for mark in marks if mark.kind == "line"]
        self._marks = sorted(self._lines[::2] or marks, key=lambda mark: mark.start)
        self._starts = [mark.start for mark in self._marks]
        self._line_starts = [mark.start for mark in self._lines]
        self._headings = frozenset(self._starts if self._lines else ())
        self.are_pages = all(mark.kind not in ("slide", "sheet", "line") for mark in self._marks)

    def index(self, position: int) -> int:
        return find_last_at_or_before(self._starts, position)

    def begins(self, position: int) -> bool:
        """Return whether a page begins at this offset."""
        index = self.index(position)
        return index >= 0 and self._starts[index] == position

    def holding(self, start: int, end: int) -> tuple[int | None, PageKind | None]:
        """Return the page that contains most of [start, end), or the line at which it begins."""
        if self._lines:
            return self._find_line(start), "line"
        first, last = self.index(start), self.index(max(start, end - 1))
        if last < 0:
            return None, None

        def share(index: int) -> int:
            stop = self._starts[index + 1] if index + 1 < len(self._starts) else end
            return min(stop, end) - max(self._starts[index], start)

        best = max(range(max(first, 0), last + 1), key=share)
        return self._marks[best].number, self._marks[best].kind

    def _find_line(self, start: int) -> int:
        mark = self._lines[max(0, find_last_at_or_before(self._line_starts, start))]
        if mark.start in self._headings:  # the heading of a symbol stands in no line of the file
            return mark.number
        return mark.number + self._markdown.count("\n", mark.start, start)


class _Boxes:
    def __init__(self, marks: Sequence[BoxMark]) -> None:
        self._marks = sorted(marks, key=lambda mark: mark.start)
        self._ends = [mark.end for mark in self._marks]

    def over(self, start: int, end: int) -> tuple[Box, ...]:
        found: list[Box] = []
        # Marks do not overlap, so that their ends are in order too.
        first = bisect_left(self._ends, start + 1)
        for mark in self._marks[first : first + MAX_BOXES]:
            if mark.start >= end:
                break
            found.append(mark.box)
        return tuple(found)


# -- passages -------------------------------------------------------------------------------------------------------


def _build_header(title: str, cut: PassageCut, before: str) -> str:
    """Return `before > title > heading path (page n)`; for a continued table, the names of its columns on a second
    line.
    """
    parts = list(cut.path)
    # Most documents begin with their title as a heading: use it once.
    if title and (not parts or parts[0].casefold() != title.casefold()):
        parts.insert(0, title)
    if before:
        parts.insert(0, before)
    # A line says nothing about what is in it, and changes with every line that is added above.
    is_told = cut.page is not None and cut.page_kind != "line"
    line = " > ".join(parts) + (f" ({cut.page_kind} {cut.page})" if is_told else "")
    return f"{line}\n{cut.columns}" if cut.columns else line
