"""Units that complete one that answers a question, such as the other rows and entries, and units that repeat it."""

from __future__ import annotations

from collections.abc import Sequence

from argot.tools.answering.quoted_question import QuotedQuestion
from argot.tools.answering.quoting import Unit, find_header, find_heads, find_needed, find_run, is_step
from argot.tools.answering.support import find_statement_stems
from argot.tools.answering.table_rows import choose_rows, find_rows_alike, select_rows
from argot.tools.text.quantities import find_quantities
from argot.types import Passage

SHORT_ANSWERS = ("quantity", "time", "person")
"""Types of answer that one sentence, row or item gives."""
_SAME = 0.6  # share of the stems of the shorter of two sentences from which one repeats the other


def find_rows_beside(question: QuotedQuestion, unit: Unit, units: Sequence[Unit], passage: Passage) -> list[int]:
    """Return, for a row, its table's header and the rows that answer as well; empty for any other unit."""
    if unit.kind != "row":
        return []
    table = find_run(unit, units) or [unit]
    if question.wants_all:
        whole = find_needed(unit, units, whole_list=True)
        return [*whole, *(row.number for row in find_rows_alike(question, unit, table))]
    rows = select_rows(question, unit, table, find_header(unit, units), _list_headings(question, passage))
    return [*find_heads(unit, units), *(row.number for row in rows)]


def find_chosen_rows(question: QuotedQuestion, unit: Unit, units: Sequence[Unit], passage: Passage) -> list[int]:
    """Return, for a row, its table's header and the rows that the question identifies; empty in doubt."""
    table = find_run(unit, units)
    if unit.kind != "row" or len(table) < 2 or question.wants_all:
        return []
    rows = choose_rows(question, unit, table, find_header(unit, units), _list_headings(question, passage))
    return [*find_heads(unit, units), *(row.number for row in rows)] if rows else []


def _list_headings(question: QuotedQuestion, passage: Passage) -> str | None:
    """Return the headings above a passage's tables; None if it may lack rows of one."""
    return None if passage.id in question.cut else " ".join([passage.header, *passage.heading_path])


def is_list_wanted(question: QuotedQuestion, unit: Unit, units: Sequence[Unit]) -> bool:
    """Return whether an item answers only with its whole list: one of several steps, unless it is the value asked
    for.
    """
    if question.wants_all or unit.kind != "item":
        return question.wants_all
    return is_step(unit) and len(find_run(unit, units)) > 1 and question.wanted not in SHORT_ANSWERS


def is_repeating(one: Unit, other: Unit) -> bool:
    """Return whether a unit repeats the other: mostly the same words, and no new value."""
    mine, theirs = find_statement_stems(one.plain), find_statement_stems(other.plain)
    if not find_quantities(one.plain) <= find_quantities(other.plain):
        return False
    return len(mine & theirs) >= _SAME * min(len(mine), len(theirs))
