"""Cells of a table that a model wrote: each is a statement of its own, with its own citation.

A row is too coarse to check: with two cells exchanged it has the same words. So each cell is checked together with the
names of its row and its column, against the passages that it cites, and its citations are kept with its column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NotRequired, cast

from argot.graph.state import SentenceRecord
from argot.markdown_rows import count_bars, cut_cells
from argot.tools.answering.citation_marks import list_marks

_DIVIDER = re.compile(r"^\s*\|?[\s:|-]*-[\s:|-]*$", re.MULTILINE)


class RowRecord(SentenceRecord):
    """A row of a table, or one of its cells, whose `text` is its claim and which has a `column`.

    `row`: the index of the row's sentence; `named`: the indexes of the passages that the cell cites.
    """

    row: int
    column: NotRequired[int]
    named: NotRequired[list[int]]


def expand_rows(sentences: Sequence[SentenceRecord], draft: str, passages: int) -> list[SentenceRecord]:
    """Return the sentences with the cells of each table row behind it; the rows themselves then need no support.

    Args:
        sentences: those of the draft without its marks.
        draft: the draft with its marks.
        passages: how many there are.
    """
    headers = _find_headers(sentences)
    raw = [line for line in draft.split("\n") if line.lstrip().startswith("|") and not _DIVIDER.match(line)]
    rows = [place for place, one in enumerate(sentences) if _is_row(one["text"])]
    marked = dict(zip(rows, raw, strict=True)) if len(raw) == len(rows) else {}
    expanded: list[SentenceRecord] = []
    for place, sentence in enumerate(sentences):
        if place not in headers:
            expanded.append(sentence)
            continue
        text, gap = sentence["text"], sentence["gap"]
        expanded.append(RowRecord(gap=gap, text=text, citations=[], remark=True, row=place))
        if headers[place] != place:
            header = cut_cells(sentences[headers[place]]["text"])
            expanded += _list_cells(place, text, header, _read_marks(marked.get(place, ""), passages))
    return expanded


def join_cells(sentences: Sequence[SentenceRecord]) -> list[SentenceRecord]:
    """Return the sentences without cells: their citations are moved to the rows, each with its column."""
    joined: list[SentenceRecord] = []
    cells: dict[int, list[RowRecord]] = {}
    for one in cast("Sequence[RowRecord]", sentences):
        if "column" in one:
            cells.setdefault(one["row"], []).append(one)
    for one in cast("Sequence[RowRecord]", sentences):
        if "column" in one:
            continue
        sentence = SentenceRecord(gap=one["gap"], text=one["text"], citations=one["citations"])
        own = cells.get(one["row"], []) if "row" in one else []
        if own:
            sentence["citations"] = [{**found, "cell": cell["column"]} for cell in own for found in cell["citations"]]
            sentence["partly"] = not all(cell["citations"] or cell.get("remark") for cell in own)
        elif one.get("remark"):
            sentence["remark"] = True
        joined.append(sentence)
    return joined


def keep_dividers(sentences: Sequence[SentenceRecord], kept: Sequence[SentenceRecord]) -> list[SentenceRecord]:
    """Return the kept ones of these sentences; the divider below a table's header stays even if the first row goes."""
    found: list[SentenceRecord] = []
    divider = ""
    for sentence in sentences:
        if any(sentence is one for one in kept):
            found.append({**sentence, "gap": divider if divider and _is_row(sentence["text"]) else sentence["gap"]})
            divider = ""
        elif _is_row(sentence["text"]) and _DIVIDER.search(sentence["gap"]):
            divider = sentence["gap"]
    return found


def read_named(sentence: SentenceRecord) -> tuple[int, ...] | None:
    """Return the indexes of the passages that a cell cites; none for a row; None for any other sentence."""
    record = cast(RowRecord, sentence)
    return tuple(record.get("named", ())) if "row" in record else None


def _is_row(text: str) -> bool:
    return text.startswith("|") and count_bars(text) > 1


def _find_headers(sentences: Sequence[SentenceRecord]) -> dict[int, int]:
    """Return for each row of a table, and its header itself, the index of the header."""
    headers: dict[int, int] = {}
    for (at, one), (after, other) in pairwise(enumerate(sentences)):
        if not (_is_row(one["text"]) and _is_row(other["text"])) or "\n\n" in other["gap"]:
            continue
        if _DIVIDER.search(other["gap"]):
            headers[at] = at
        if at in headers:
            headers[after] = headers[at]
    return headers


def _list_cells(row: int, text: str, header: Sequence[str], marks: Sequence[list[int]]) -> Iterator[RowRecord]:
    label, *values = cut_cells(text)
    for column, value in enumerate(values, 1):
        if not any(map(str.isalnum, value)):
            continue  # "-": the passages do not tell
        named = " ".join(filter(None, [header[column] if column < len(header) else "", label]))
        own = marks[column] if column < len(marks) else []
        shared = [one for one in marks if one]
        yield RowRecord(
            gap="",
            text=f"{named}: {value}" if named else value,
            citations=[],
            row=row,
            column=column,
            # One mark at the end of a row is meant for all of it.
            named=own or (shared[0] if len(shared) == 1 else []),
        )


def _read_marks(line: str, passages: int) -> list[list[int]]:
    """Return for each cell of a row of the draft the indexes of the passages that it cites."""
    cells = cut_cells(line) if line else []
    return [
        list(dict.fromkeys(n - 1 for _, _, numbers in list_marks(cell) for n in numbers if 1 <= n <= passages))
        for cell in cells
    ]
