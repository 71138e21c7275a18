"""Check whether an answer quotes a list or table only in part."""

from __future__ import annotations

from collections.abc import Collection

from argot.tools.answering.quoting import find_runs, read_units
from argot.tools.text.words import bare


def count_quoted(sentences: Collection[str], passage: str) -> tuple[int, int]:
    """Return how many rows or items are quoted, of how many, in the first list or table of a passage that is quoted in
    part; (0, 0) if each is quoted whole or not at all.

    Args:
        sentences: of the answer, as quoted.
        passage: Markdown.
    """
    said = {bare(sentence) for sentence in sentences}
    for run in find_runs(read_units(passage)):
        quoted = sum(bare(unit.text) in said for unit in run)
        if 0 < quoted < len(run):
            return quoted, len(run)
    return 0, 0
