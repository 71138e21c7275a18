"""Outline of a whole file without a language model: its headings and the first sentences below them, quoted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

from argot.protocols import AnswerRequest
from argot.tools.answering.quoting import Unit, find_needed, read_units, render_quotation
from argot.tools.text.markdown_prose import extract_prose
from argot.types import Passage

MAX_PARTS = 8
"""Maximum quoted from all files together; more would be no overview."""
FIRST_SENTENCES = 2
"""Quoted from the beginning, where most files state their subject."""
SENTENCES_OF_ONE_PART = 5
"""Quoted from a file without parts."""
MAX_QUOTE_CHARS = 500
"""Characters quoted of a list, table or code that begins a part."""


def select_overview(passages: Sequence[Passage], most: int) -> list[Passage]:
    """Return the passages of a file (in its order) that represent it best: those that begin its parts.

    They are its outermost parts, and inner ones if there is room; taken evenly if there are too many.
    """
    if len(passages) <= most:
        return list(passages)
    chosen = _find_beginnings(passages, 1)
    for depth in (2, 3, 4):
        finer = _find_beginnings(passages, depth)
        # A level with too many parts is not used, unless the one above it is a single title.
        if len(finer) > most and len(chosen) > 1:
            break
        chosen = finer
    # Text without headings: any passage may state the subject.
    if len(chosen) == 1:
        chosen = list(passages)
    step = max(1.0, len(chosen) / most)
    return [chosen[int(place * step)] for place in range(min(most, len(chosen)))]


def _find_beginnings(passages: Sequence[Passage], depth: int) -> list[Passage]:
    """Return the first passage of the file, and the first below each heading down to this depth."""
    first: dict[tuple[str, ...], Passage] = {}
    for passage in passages:
        first.setdefault(passage.heading_path[:depth], passage)
    return sorted(first.values(), key=lambda passage: passage.ordinal)


class OutlineWriter:
    """An `AnswerWriter` that quotes the beginnings of the parts of the given passages, whatever the question."""

    async def write(self, request: AnswerRequest) -> AsyncIterator[str]:
        """Yield one piece for each part, in the order of the passages."""
        parts = await asyncio.to_thread(_render_files, [hit.passage for hit in request.hits])
        for place, part in enumerate(parts):
            yield part if place == 0 else f"\n\n{part}"


@dataclass(frozen=True, slots=True)
class _Part:
    """A heading (empty: there is none) and the first units below it."""

    heading: str
    numbers: Sequence[int]


def _render_files(passages: Sequence[Passage]) -> list[str]:
    """Return the parts of all files, evenly from each of several files."""
    files: dict[str, list[Passage]] = {}
    for passage in passages:
        files.setdefault(passage.document_id, []).append(passage)
    most = max(1, MAX_PARTS // max(1, len(files)))
    return [part for file in files.values() for part in _render_file(file)[:most]]


def _render_file(passages: Sequence[Passage]) -> list[str]:
    found: list[str] = []
    for passage in passages:
        units = read_units(passage.text)
        found += [_render_part(part, units) for part in _find_parts(passage, units, 1 if found else FIRST_SENTENCES)]
    # With a single part, one sentence would be all that is quoted from the file.
    if len(found) == 1:
        units = read_units(passages[0].text)
        return [_render_part(part, units) for part in _find_parts(passages[0], units, SENTENCES_OF_ONE_PART)]
    return found


def _find_parts(passage: Passage, units: Sequence[Unit], sentences: int) -> Iterator[_Part]:
    """Yield the parts that begin in this passage; its first lines if it only continues one.

    Args:
        sentences: number quoted from the first part; the others get one each.
    """
    heading = passage.heading_path[-1] if passage.heading_path else ""
    waiting, opening = True, sentences > 1
    for unit in units:
        if unit.kind == "heading":
            if opening and waiting and unit.number + 1 < len(units) and units[unit.number + 1].kind == "heading":
                yield _Part(_read_title(unit), [])  # a title with no words of its own below it
            heading, waiting = _read_title(unit), True
        elif waiting:
            yield _Part(heading, _select_first(unit, units, sentences))
            waiting, opening, sentences = False, False, 1


def _read_title(unit: Unit) -> str:
    return extract_prose(unit.text.split("\n")[0].strip().strip("#")).text.strip()


def _select_first(unit: Unit, units: Sequence[Unit], sentences: int) -> list[int]:
    """Return the units to quote from a part that begins with this one: sentences, or as much of a list as reads
    well.
    """
    numbers: list[int] = []
    for one in units[unit.number : unit.number + max(sentences, 3 if unit.kind in ("item", "row") else 1)]:
        size = sum(len(units[number].text) for number in numbers)
        if one.kind != unit.kind or (numbers and size + len(one.text) > MAX_QUOTE_CHARS):
            break
        numbers += [number for number in find_needed(one, units) if number not in numbers]
    return [number for number in numbers if number >= unit.number]


def _render_part(part: _Part, units: Sequence[Unit]) -> str:
    """Return the part with its heading in bold before prose, or on its own line before anything else."""
    heading = f"**{part.heading}**" if part.heading else ""
    if not part.numbers:
        return heading
    text = render_quotation(part.numbers, units)
    if not heading:
        return text
    return f"{heading}: {text}" if units[part.numbers[0]].kind == "prose" else f"{heading}\n\n{text}"
