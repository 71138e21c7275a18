"""The sentences, items and rows that answer a question, chosen from several passages by what a trained reader says.

A unit's score is the log-odds of its chance to be part of the answer, plus its passage's weighted score and relevance.
Units whose score is close to the best one's are quoted, each with what it needs to make sense; the best one comes
first. If even the best unit scores low, nothing is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from argot.corpus.readers.metadata_lines import is_metadata_line, read_label, split_metadata_line
from argot.days import Day, find_days
from argot.protocols import PassageReader, PassageReading
from argot.tools.answering.quoted_question import QuotedQuestion
from argot.tools.answering.quoting import (
    MAX_STEPS,
    Unit,
    find_needed,
    find_ordering_units,
    find_run,
    find_runs,
    may_answer,
    read_units,
    render_first,
)
from argot.tools.answering.unit_completion import (
    SHORT_ANSWERS,
    find_chosen_rows,
    find_rows_beside,
    is_list_wanted,
    is_repeating,
)
from argot.tools.answering.value_ranges import (
    ValueRange,
    excludes_range,
    find_asked_range,
    find_other_bands,
    names_band,
)
from argot.tools.reading.passage_readings import read_best_wordings, to_log_odds
from argot.tools.text.quantities import find_quantities
from argot.types import Hit, Passage

# Chosen on the train split of `lay_train` (bench/laboratory/answers.md).
MAX_UNITS = 5
SURE_MARGIN = 0.8
"""The greatest difference if the best unit gives the number, time or person asked for: then only other units of its
passage are quoted."""
RELEVANCE_WEIGHT = 1.5
_EVEN_RELEVANCE = 0.5
"""The weight of the relevance that a close reading finds, beside them, and the relevance that leaves the score as it
is."""
DAY_WEIGHT = 2.0
"""What a row of the day asked for has ahead of others: as much as the margin, since a reader of words does not know
that "2025-05-17" is "17 May"."""
ALONE_LEAD = 1.5
"""What a row or item has ahead of all others of its table or list to answer without them. Chosen on the train split of
`lay_train`, where no list that this cuts was needed whole, and on two invented organisations."""
MIN_LIST_SHARE = 0.6
"""The least share of a list's items that are chosen for the whole list to be quoted."""

_TYPE_NUMBER = re.compile(r"[A-Z]\w*[ -]?\d")
"""The number of a type: "VD-112", "grease WG 2"."""


@dataclass(frozen=True, slots=True)
class ChoiceRules:
    """The rules by which units are chosen of what a reader has read.

    Attributes:
        passages: the number of the best passages that are read.
        passage_weight: the weight of a passage's score beside the log-odds of its unit.
        min_score: the least score at which the best unit is quoted.
        margin: the greatest difference between the scores of the best unit and of another one that is quoted.
        next_margin: the greatest difference from the best score at which the sentence after a chosen one is quoted with
            it, as it often completes the answer.
    """

    passages: int
    passage_weight: float
    min_score: float
    margin: float
    next_margin: float


TRAINED_READER_RULES = ChoiceRules(passages=10, passage_weight=8.0, min_score=2.8, margin=2.0, next_margin=3.0)
"""Chosen on the validation questions of `lay_train`, others about the same documents, and those of two invented
organisations (bench/laboratory/answers.md)."""
MEANING_READER_RULES = ChoiceRules(passages=5, passage_weight=6.0, min_score=0.7, margin=1.5, next_margin=1.0)
"""For the reader of meanings, beyond English, which has other scores (bench/laboratory/languages.md)."""


@dataclass(frozen=True, slots=True)
class ChosenUnit:
    """A unit of the passage at index `hit`. `lead`: by how much its score is above that of the best row or item beside
    it in its table or list that is not chosen.
    """

    hit: int
    unit: Unit
    score: float
    lead: float = 0.0


def read_wordings(question: QuotedQuestion, hits: Sequence[Hit], reader: PassageReader) -> list[PassageReading]:
    """Read each passage for the wording of the question that it answers best."""
    wordings = [(wording, 1.0) for wording in question.wordings]
    return read_best_wordings(reader, wordings, [hit.passage for hit in hits])


def choose_units(
    question: QuotedQuestion, hits: Sequence[Hit], readings: Sequence[PassageReading], rules: ChoiceRules
) -> list[ChosenUnit]:
    """Return the units that answer, best first; no unit if even the best one scores less than the rules' bound."""
    asked, days = find_asked_range(question.text), find_days(question.text)
    scored = [
        ChosenUnit(
            place,
            unit,
            to_log_odds(reading.units[unit.number]) + _weigh_passage(hit, reading, rules) + _weigh_day(days, unit),
        )
        for place, (hit, reading) in enumerate(zip(hits, readings, strict=True))
        for unit in _list_quotable(question, hit.passage.with_columns, asked)
        if (question.asks_twice or question.may_be_answered_by(unit.plain) or _has_bare_number(unit))
        and not excludes_range(asked, unit.plain)
        and not _is_of_other_day(days, unit)
    ]
    scored.sort(key=lambda one: -one.score)
    if not scored or scored[0].score < rules.min_score:
        return []
    chosen: list[ChosenUnit] = []
    margin = rules.margin
    if _gives_value(question, scored[0].unit):
        margin, scored = SURE_MARGIN, [one for one in scored if one.hit == scored[0].hit]
    for one in scored:
        if len(chosen) == MAX_UNITS or scored[0].score - one.score > margin:
            break
        # Documents repeat one another; an answer must not.
        if not any(one.hit != other.hit and is_repeating(one.unit, other.unit) for other in chosen):
            chosen.append(one)
    least = scored[0].score - rules.next_margin
    following = _find_next(question, chosen, [one for one in scored if one.score >= least])
    return [*(replace(one, lead=_measure_lead(one, chosen, scored, hits)) for one in chosen), *following]


def _has_bare_number(unit: Unit) -> bool:
    """Return whether a row has a number without a unit, which the table's header or caption may give."""
    cells = [cell for cell in unit.text.split("|") if not _TYPE_NUMBER.search(cell)] if unit.kind == "row" else []
    return any(not measure for cell in cells for _, measure in find_quantities(cell))


def _measure_lead(
    one: ChosenUnit, chosen: Sequence[ChosenUnit], scored: Sequence[ChosenUnit], hits: Sequence[Hit]
) -> float:
    run = find_run(one.unit, read_units(hits[one.hit].passage.with_columns))
    numbers = {unit.number for unit in run} - {other.unit.number for other in chosen if other.hit == one.hit}
    beside = (other.score for other in scored if other.hit == one.hit and other.unit.number in numbers)
    return one.score - max(beside, default=-inf)


def _weigh_passage(hit: Hit, reading: PassageReading, rules: ChoiceRules) -> float:
    return rules.passage_weight * hit.score + RELEVANCE_WEIGHT * (reading.relevance - _EVEN_RELEVANCE)


def _weigh_day(asked: frozenset[Day], unit: Unit) -> float:
    """Return what it adds to a row's score that it is of the day that a question names; rows of others are left out."""
    return DAY_WEIGHT if asked and unit.kind == "row" and find_days(unit.plain) else 0.0


def _is_of_other_day(asked: frozenset[Day], unit: Unit) -> bool:
    """Return whether a row is of other days than the one that a question names."""
    days = find_days(unit.plain) if asked and unit.kind == "row" else frozenset()
    return bool(days) and not any(day.is_same(other) for day in asked for other in days)


def _find_next(
    question: QuotedQuestion, chosen: Sequence[ChosenUnit], others: Sequence[ChosenUnit]
) -> Iterator[ChosenUnit]:
    """Yield the units, of the others, that are the next sentence of a chosen one's paragraph, unless that gives the
    value asked for.
    """
    following = {(one.hit, one.unit.number): one for one in others if one.unit.kind == "prose" and not one.unit.apart}
    for one in chosen:
        found = following.get((one.hit, one.unit.number + 1))
        if found and found not in chosen and one.unit.kind == "prose" and not _gives_value(question, one.unit):
            yield found


def _gives_value(question: QuotedQuestion, unit: Unit) -> bool:
    """Return whether a unit gives the one value, time or person that a question asks for."""
    asks_for_one = question.wanted in SHORT_ANSWERS and not question.asks_twice and not question.wants_all
    return asks_for_one and question.is_shape_of(unit.plain)


def _list_quotable(question: QuotedQuestion, text: str, asked: ValueRange | None) -> list[Unit]:
    """Return the units that may answer by themselves: no headings, no instructions to whoever answers, no items of a
    list, or sentences of a paragraph, about other amounts than the one asked for, and no line about the document itself
    unless it is asked for.
    """
    units = read_units(text)
    silent = find_ordering_units(text) | _find_other_items(asked, units) | _find_metadata(question, units)
    return [unit for unit in units if unit.number not in silent and may_answer(unit, units)]


def _find_metadata(question: QuotedQuestion, units: Sequence[Unit]) -> set[int]:
    """Return the lines about the document itself that have no label that the question names, such as "owner"."""
    lines = [unit for unit in units if unit.kind == "prose" and is_metadata_line(unit.text)]
    return {
        unit.number for unit in lines if not question.held_by(" ".join(map(read_label, split_metadata_line(unit.text))))
    }


def _find_other_items(asked: ValueRange | None, units: Sequence[Unit]) -> set[int]:
    if asked is None:
        return set()
    lists = [run for run in find_runs(units) if run[0].kind == "item"]
    runs = [*lists, *_find_band_sentences(units)]
    return {run[place].number for run in runs for place in find_other_bands(asked, [one.plain for one in run])}


def _find_band_sentences(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Yield the consecutive sentences of a paragraph that name a range each: "Up to 5 mm: run. Above 5 mm: stop."."""
    run: list[Unit] = []
    for unit in units:
        follows = unit.kind == "prose" and names_band(unit.plain)
        if run and (unit.apart or not follows):
            yield run
            run = []
        if follows:
            run.append(unit)
    if run:
        yield run


def quote_units(question: QuotedQuestion, hits: Sequence[Hit], chosen: Sequence[ChosenUnit]) -> list[str]:
    """Quote the chosen units, one piece for each passage, that of the best unit first."""
    by_hit: dict[int, list[ChosenUnit]] = {}
    for one in chosen:
        by_hit.setdefault(one.hit, []).append(one)
    return [_quote_passage(question, of_hit, hits[place].passage) for place, of_hit in by_hit.items()]


def _quote_passage(question: QuotedQuestion, found: Sequence[ChosenUnit], passage: Passage) -> str:
    """Quote the chosen units of a passage in their order, except that the best one comes first if it is a sentence."""
    text = passage.with_columns
    units = read_units(text)
    chosen = _leave_out_rows(question, [one.unit for one in found], units, passage)
    # "Which days does the ferry run?" wants several things, which may all be in one row.
    least = ALONE_LEAD * (2 if question.wants_all else 1)
    ahead = {one.unit.number for one in found if one.lead >= least}
    best = chosen[0]
    ordering = find_ordering_units(text)
    numbers = {
        number
        for unit in chosen
        for number in _complete_unit(question, unit, chosen, passage, is_ahead=unit.number in ahead)
    } - ordering
    return render_first(set(find_needed(best, units)) - ordering if best.kind == "prose" else (), numbers, units)


def _leave_out_rows(
    question: QuotedQuestion, chosen: Sequence[Unit], units: Sequence[Unit], passage: Passage
) -> Sequence[Unit]:
    """Return the chosen units without the rows beside those of their table that the question identifies."""
    asked: set[int] = set()
    beside: set[int] = set()
    for row in (one for one in chosen if one.kind == "row" and one.number not in beside):
        if found := set(find_chosen_rows(question, row, units, passage)):
            asked |= found
            beside.update(one.number for one in find_run(row, units))
    return [one for one in chosen if one.number in asked or one.number not in beside]


def _complete_unit(
    question: QuotedQuestion, unit: Unit, chosen: Sequence[Unit], passage: Passage, *, is_ahead: bool
) -> Sequence[int]:
    """Return the units to quote with one that answers: the header of its table, or its whole list if most of that was
    chosen.

    Args:
        is_ahead: no other row or item of its table or list comes close to those chosen.
    """
    units = read_units(passage.with_columns)
    if unit.kind == "row":
        if is_ahead and question.wanted != "steps":
            return find_chosen_rows(question, unit, units, passage) or find_needed(unit, units)
        # The best row decides which others are like it.
        return find_rows_beside(question, unit, units, passage) if unit is chosen[0] else find_needed(unit, units)
    # Several steps are rarely all of those needed.
    is_alone = is_ahead and _count_in(find_run(unit, units), chosen) == 1
    whole = is_list_wanted(question, unit, units, is_alone=is_alone) or _is_list_chosen(unit, chosen, units)
    return find_needed(unit, units, whole_list=whole)


def _is_list_chosen(unit: Unit, chosen: Sequence[Unit], units: Sequence[Unit]) -> bool:
    run = find_run(unit, units)
    return unit.kind == "item" and len(run) <= MAX_STEPS and _count_in(run, chosen) >= MIN_LIST_SHARE * len(run)


def _count_in(run: Sequence[Unit], chosen: Sequence[Unit]) -> int:
    return sum(unit in run for unit in chosen)
