"""Marks in the cells of a table row: each cell of a model's table has citations of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from argot.markdown_rows import cut_cells

if TYPE_CHECKING:
    from argot.results import Sentence


def mark_cells(
    row: str, sentence: Sentence, write_marks: Callable[[Sequence[int]], str], unsupported: str
) -> str | None:
    """Return the row with the marks in its cells; None if the sentence has no citations of cells.

    Args:
        row: the sentence as it is shown.
        sentence: the sentence with its citations.
        write_marks: returns the marks of passages by their numbers.
        unsupported: stands in a cell that no passage supports.
    """
    cited: dict[int, list[int]] = {}
    for one in sentence.citations:
        if one.cell is not None:
            cited.setdefault(one.cell, []).append(one.n)
    if not cited:
        return None
    label, *cells = cut_cells(row)
    marked = [label]
    for column, text in enumerate(cells, 1):
        is_claim = any(map(str.isalnum, text))
        marks = write_marks(sorted(set(cited[column]))) if column in cited else unsupported if is_claim else ""
        marked.append(f"{text} {marks}".strip())
    # Slack shows a row without bars around it.
    return f"| {' | '.join(marked)} |" if row.lstrip().startswith("|") else "  |  ".join(marked)
