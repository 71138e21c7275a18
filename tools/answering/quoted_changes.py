"""Quotations in which the change of a rule comes before the rule, or takes its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from argot.tools.answering.announced_changes import AnnouncedChange, find_announced_change
from argot.tools.answering.changed_values import find_changed_values
from argot.tools.answering.chosen_units import ChosenUnit, quote_units
from argot.tools.answering.quoted_question import QuotedQuestion
from argot.tools.answering.quoting import Unit, find_needed, read_units, render_quotation
from argot.tools.answering.unit_completion import SHORT_ANSWERS
from argot.tools.text.document_subject import PassageInDocument
from argot.types import Hit


def quote_with_changes(
    question: QuotedQuestion,
    hits: Sequence[Hit],
    chosen: Sequence[ChosenUnit],
    find_related: Callable[[str], Sequence[Hit]],
    most: int,
) -> list[str]:
    """Quote the chosen units, one piece for each of at most `most` passages.

    What another document changes is left out, or quoted behind the change if that may be about something else.

    Args:
        find_related: finds more passages by words: a change may be worded unlike the question.
    """
    best, held = chosen[0], [(hit.passage, hit.document) for hit in hits]
    pool = [*held, *_find_related(best.unit, held[best.hit], find_related)]
    changes = [find_announced_change(one.unit, held[one.hit], pool) for one in chosen]
    kept = [
        one
        for one, change in zip(chosen, changes, strict=True)
        if not (change and change.is_certain and _gives_same(question, one.unit, change))
    ]
    first = changes[0]
    if first is not None and not _answers(question, first):
        return quote_units(question, hits, chosen)[:most]
    if first is None:
        quoted = quote_units(question, hits, kept)[:most]
        return [*_quote_changed_values(best, held, pool, quoted), *quoted]
    if best not in kept and not (question.asks_twice or question.wants_all):
        # The others were chosen beside a rule that no longer holds.
        kept = []
    announced = _render(first)
    kept = [one for one in kept if one.unit.plain not in announced]
    return [announced, *quote_units(question, hits, kept)[:most]]


def _find_related(
    unit: Unit, held: PassageInDocument, find_related: Callable[[str], Sequence[Hit]]
) -> list[PassageInDocument]:
    """Return the passages with words of a rule, and those that name its document."""
    passage, document = held
    texts = (f"{' '.join(passage.heading_path[-1:])} {unit.plain}", document.title)
    return [(hit.passage, hit.document) for text in texts for hit in find_related(text)]


def _answers(question: QuotedQuestion, change: AnnouncedChange) -> bool:
    return question.asks_twice or question.may_be_answered_by(_render(change))


def _gives_same(question: QuotedQuestion, unit: Unit, change: AnnouncedChange) -> bool:
    """Return whether a change gives the number or time that a question asks for, if the old rule does."""
    is_value = question.wanted in SHORT_ANSWERS and question.wanted != "person" and question.is_shape_of(unit.plain)
    return not is_value or question.is_shape_of(_render(change))


def _render(change: AnnouncedChange) -> str:
    return render_quotation(change.numbers, read_units(change.held[0].with_columns))


def _quote_changed_values(
    best: ChosenUnit, held: Sequence[PassageInDocument], pool: Sequence[PassageInDocument], quoted: Sequence[str]
) -> list[str]:
    """Quote what replaces a number of the best unit, unless it is quoted with it."""
    units = read_units(held[best.hit][0].with_columns)
    text = render_quotation(find_needed(best.unit, units), units)
    changes = [
        render_quotation(change.numbers, read_units(change.held[0].with_columns))
        for change in find_changed_values(text, held[best.hit], pool)
    ]
    return [change for change in changes[:1] if not any(change in one for one in quoted)]
