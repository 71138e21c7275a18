"""Whether an answer quotes a list or table whole: a selection says that it is one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from argot.tools.answering.quoting import Unit, is_header, units_of
from argot.tools.text.words import bare


def quoted_of(sentences: Collection[str], passage: str) -> tuple[int, int]:
    """How many rows or items are quoted, of how many, in the first list or table of a passage that is quoted in part;
    (0, 0) where each is quoted whole or not at all.

    Args:
        sentences: of the answer, as quoted.
        passage: Markdown.
    """
    said = {bare(sentence) for sentence in sentences}
    for run in _runs(units_of(passage)):
        quoted = sum(bare(unit.text) in said for unit in run)
        if 0 < quoted < len(run):
            return quoted, len(run)
    return 0, 0


def _runs(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """The rows of each table, without its header, and the items of each list."""
    run: list[Unit] = []
    for unit in units:
        if run and unit.kind != run[-1].kind:
            yield run
            run = []
        if unit.kind in ("row", "item") and not is_header(unit, units):
            run.append(unit)
    if run:
        yield run
