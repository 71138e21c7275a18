"""Units that complete one that answers a question, such as the other rows and entries, and units that repeat it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from argot.tools.answering.quoted_question import QuotedQuestion
from argot.tools.answering.quoting import Unit, find_header, find_heads, find_needed, find_run, is_step
from argot.tools.answering.support import find_statement_stems
from argot.tools.answering.table_rows import choose_rows, find_rows_alike, select_rows
from argot.tools.text.quantities import find_quantities
from argot.types import Passage

SHORT_ANSWERS = ("quantity", "time", "person")
"""Types of answer that one sentence, row or item gives."""
_MIN_STATEMENTS = 0.4  # share of a list's items that are statements
_STATEMENT = re.compile(
    r"(?:\d+[.)]\s*)?(?:[\w &/'’-]{1,40}\.\s+)?"
    r"(?:(?!(?:if|when|once|after|before|that|which|who|whether|where|what|how|to)\b)[^\s.:;]+\s+){1,6}?"
    r"(?:is|are|was|were|has|have|must|may|can|cannot|could|should|shall|will|needs?|does|do)\b",
    re.IGNORECASE,
)
"""The beginning of a statement, behind a title ("2. Bites."): some words, then a finite verb. Orders ("Wash it", "Make
sure that it is dry") have theirs first."""
_ENTRY = re.compile(r"\d+[.)]\s*(?:[A-Z][A-Z0-9 ,/&'’-]{2,40}[.:?!]\s|[A-Z][\w ()/&'’-]{1,40}:\s+\S)")
"""The beginning of an entry with a title: "4. POSTING. We post things ...", "2. Halal: no meat tins at all"."""
_RANKING = re.compile(r"\bin (?:this|the following) order\b|\border of (?:priority|preference)\b", re.IGNORECASE)
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


def is_list_wanted(question: QuotedQuestion, unit: Unit, units: Sequence[Unit], *, is_alone: bool = False) -> bool:
    """Return whether an item answers only with its whole list: one of several steps, unless it is the value asked for
    or says yes or no, or one of several rules, each of which stands for itself. A ranking is always whole.

    Args:
        is_alone: no other item of the list comes close to answering.
    """
    if question.wants_all or unit.kind != "item":
        return question.wants_all
    if not is_step(unit) or len(run := find_run(unit, units)) == 1:
        return False
    heads = find_heads(run[0], units)
    if any(_RANKING.search(units[number].plain) for number in heads):
        return True
    if question.wanted in SHORT_ANSWERS or question.asks_whether or is_alone:
        return False
    return bool(heads) or not _are_rules(run)


def _are_rules(run: Sequence[Unit]) -> bool:
    """Return whether many of the outer items of a numbered list are statements or have titles: "2. Dogs are kept on a
    lead." or "2. Dogs: on a lead." rather than "2. Put the dog on a lead.".
    """
    steps = [unit for unit in run if is_step(unit)]
    outermost = min(unit.indent for unit in steps)
    items = [unit for unit in steps if unit.indent == outermost]
    stating = sum(bool(_STATEMENT.match(unit.plain) or _ENTRY.match(unit.plain)) for unit in items)
    return stating >= _MIN_STATEMENTS * len(items)


def is_repeating(one: Unit, other: Unit) -> bool:
    """Return whether a unit repeats the other: mostly the same words, and no new value."""
    mine, theirs = find_statement_stems(one.plain), find_statement_stems(other.plain)
    if not find_quantities(one.plain) <= find_quantities(other.plain):
        return False
    return len(mine & theirs) >= _SAME * min(len(mine), len(theirs))
