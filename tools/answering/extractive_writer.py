"""Answers without a language model: the sentences of the best passages that answer the question, quoted.

It cannot invent. The score of a candidate sentence combines the share of the question that it covers (with its headings
and the sentence before), the kind of answer the question wants, and the similarity in meaning.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from argot.protocols import AnswerRequest, Embedder
from argot.tools.answering.counting import count_entries
from argot.tools.answering.embedded_instructions import select_quotable_hits
from argot.tools.answering.numbered_quotes import quote_numbered_parts
from argot.tools.answering.quoting import (
    Unit,
    find_block_around,
    find_header,
    find_headings_above,
    find_heads,
    find_needed,
    find_ordering_units,
    find_runs,
    is_header,
    is_heading,
    is_step,
    is_title,
    read_units,
    render_quotation,
)
from argot.tools.answering.succession import drop_outdated
from argot.tools.answering.support import find_statement_stems
from argot.tools.answering.table_rows import find_rows_alike, select_rows
from argot.tools.answering.term_definitions import find_spelling_out, find_term_to_define, is_about
from argot.tools.reading.answer_types import AnswerType, asks_for_all, asks_twice, find_answer_type, has_shape
from argot.tools.reading.asked_values import AskedValue, find_asked_value, may_hold_value
from argot.tools.reading.question_splitting import split_questions
from argot.tools.text.quantities import find_quantities
from argot.tools.text.rarity import compute_floored_idf
from argot.types import Hit, ReadTerm

# Chosen on the validation half of the questions people ask (bench/laboratory/answers.md).
MAX_CHARS = (500, 400)
"""Characters quoted around the best sentence of the best passage, and of the second."""
THIN_MARGIN = 0.15  # between the scores of the two best passages: the second may be the one that answers
THIN_WITHOUT_SHAPE = 0.3
MIN_NEAR_SHARE = 0.7  # share of the score of a passage's best sentence: another section with it may answer as well
MIN_SURE_SHARE = 0.5  # share of the question that a sentence with a value must cover to answer by itself
MAX_PASSAGES = 5  # passages that answer several questions in one message
MIN_COVERED = 0.1
MIN_LIKENESS = 0.2
"""A sentence may answer if it covers this share of the question (with its context), or has this cosine with it."""
_SHORT_ANSWERS = ("quantity", "time", "person")
MAX_SHORTLIST = 4
"""Candidates of a passage, best by words, whose meaning is compared with the question's; embedding takes most of the
time."""

_HEADING_CREDIT = 0.7  # weight of a question word that occurs only in a heading above
_BEFORE_CREDIT = 0.5  # weight of one that occurs only in the sentence before
_SHAPE_BONUS = 0.14  # bonus for a sentence of the kind that the question wants, such as a number for "how many"
_MEANING_WEIGHT = 0.40
_SAME = 0.6  # share of the stems of the shorter of two sentences from which one repeats the other


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A unit of the passage at index `hit`. `covered`: the share of the question it covers, by rarity, with its
    headings and the sentence before it.
    """

    hit: int
    unit: Unit
    covered: float
    score: float


class ExtractiveWriter:
    """An `AnswerWriter` that quotes. Without an embedder it uses words alone."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder = embedder

    async def write(self, request: AnswerRequest) -> AsyncIterator[str]:
        """Yield one piece for each passage quoted, best passage first; none if nothing clearly answers.

        Several questions in one message are answered one after the other.
        """
        pieces = await asyncio.to_thread(self._write_all, request)
        for place, piece in enumerate(pieces):
            yield piece if place == 0 else f"\n\n{piece}"

    def _write_all(self, request: AnswerRequest) -> list[str]:
        quotable = drop_outdated(select_quotable_hits(request.hits, request.question), request.question)
        request = replace(request, hits=quotable)
        if numbered := quote_numbered_parts(request.numbered_parts, quotable):
            # Costs in clause 2.2 are no answer to a question about its other content.
            asked = _Question.of(request)
            return numbered if asked.asks_twice or any(map(asked.may_be_answered_by, numbered)) else []
        parts = split_questions(request.question)
        if len(parts) == 1:
            question = _Question.of(request)
            hits = _select_answering(question, request.hits)
            if question.undefined:
                return _write_definition(question, self._find_fitting(question, hits), hits, request.hits)
            return _write_count(question, hits, request.hits) or _write_pieces(
                question, self._find_fitting(question, hits), hits
            )
        found = [
            self._write_part(_Question.of(_build_part_request(request, part)), request.hits)
            for place, part in enumerate(parts)
            if place not in request.left_out
        ]
        return list(dict.fromkeys(chain.from_iterable(found)))

    def _write_part(self, question: _Question, hits: Sequence[Hit]) -> list[str]:
        """Write the answer to one question from the passage, among those found for all, with the best-fitting
        sentence.
        """
        best = sorted(self._find_fitting(question, hits[:MAX_PASSAGES]), key=lambda of_hit: -of_hit[0].score)[:1]
        if question.undefined:
            return _write_definition(question, best, hits, hits)
        return _write_count(question, [hits[of_hit[0].hit] for of_hit in best], hits) or _write_pieces(
            question, best, hits
        )

    def _find_fitting(self, question: _Question, hits: Sequence[Hit]) -> list[list[_Candidate]]:
        """Return the candidates of each passage, best first: by their words and, with an embedder, their meaning."""
        of_hits = [
            sorted(of_hit, key=lambda one: -one.score)[:MAX_SHORTLIST] for of_hit in _find_candidates(question, hits)
        ]
        short = [one for of_hit in of_hits for one in of_hit]
        if self.embedder is not None and short:
            vectors = self.embedder.embed_queries([question.text, *(_add_heading(one, hits) for one in short)])
            likeness = vectors[1:] @ vectors[0]
            short = [
                replace(one, score=one.score + _MEANING_WEIGHT * max(0.0, float(like)))
                for one, like in zip(short, likeness, strict=True)
                if one.covered >= MIN_COVERED or like >= MIN_LIKENESS
            ]
        else:
            short = [one for one in short if one.covered >= MIN_COVERED]
        fitting: dict[int, list[_Candidate]] = {}
        for one in sorted(short, key=lambda one: -one.score):
            fitting.setdefault(one.hit, []).append(one)
        # Documents repeat one another; an answer must not.
        found = [fitting[place] for place in sorted(fitting)]
        return [of_hit for of_hit in found if of_hit is found[0] or not _is_repeating(of_hit[0].unit, found[0][0].unit)]


def _select_answering(question: _Question, hits: Sequence[Hit]) -> Sequence[Hit]:
    """Return the best passage, and the second if their scores are close or the first only mentions the subject."""
    if len(hits) < 2:
        return hits
    least = THIN_WITHOUT_SHAPE if _lacks_shape(question, hits[0]) else THIN_MARGIN
    return hits[:2] if hits[0].score - hits[1].score <= least else hits[:1]


def _lacks_shape(question: _Question, hit: Hit) -> bool:
    """Return whether no sentence of the passage could be the number, time or person asked for."""
    # A named kind of value is not searched any further: usually no document has it.
    if question.wanted not in _SHORT_ANSWERS or question.value is not None:
        return False
    return not any(
        question.is_shape_of(unit.plain) for unit in read_units(hit.passage.with_columns) if unit.kind != "heading"
    )


def _build_part_request(request: AnswerRequest, part: str) -> AnswerRequest:
    """Return the request for one question of a message, with the terms that occur in it."""
    places = ((term, part.find(term.mention.surface)) for term in request.terms)
    terms = [
        replace(term, mention=replace(term.mention, start=at, end=at + len(term.mention.surface)))
        for term, at in places
        if at >= 0
    ]
    return replace(request, question=part, terms=terms)


# -- the question -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Question:
    """`text` has every term replaced by its expansion; `aliases` maps an abbreviation to its expansion's stems.

    `undefined`: the abbreviation whose meaning is asked for and which no glossary has; usually empty.
    """

    text: str
    stems: frozenset[str]
    aliases: Mapping[str, frozenset[str]]
    wanted: AnswerType
    wants_all: bool
    asks_twice: bool
    value: AskedValue | None
    undefined: str

    @classmethod
    def of(cls, request: AnswerRequest) -> _Question:
        text = _expand_terms(request.question, request.terms)
        aliases = {
            stem: find_statement_stems(term.sense.expansion)
            for term in request.terms
            for name in (term.sense.term, *term.sense.aliases)
            if len(stems := find_statement_stems(name)) == 1
            for stem in stems
        }
        wanted = find_answer_type(request.question)
        wants_all = wanted == "steps" or asks_for_all(request.question)
        twice = asks_twice(request.question)
        value, undefined = find_asked_value(request.question), find_term_to_define(request.question, request.terms)
        return cls(text, find_statement_stems(text), aliases, wanted, wants_all, twice, value, undefined)

    def is_shape_of(self, text: str) -> bool:
        """Return whether a text looks like an answer: contains a number or a date, names somebody, or begins a step."""
        return self.value.is_in(text) if self.value else has_shape(self.wanted, text)

    def may_be_answered_by(self, text: str) -> bool:
        """Return whether a text contains a value of the kind asked for, if the question asks for one."""
        return self.value.is_in(text) if self.value else may_hold_value(self.text, text)

    def names(self, text: str) -> bool:
        """Return whether the question contains every word of a text."""
        stems = find_statement_stems(text)
        return bool(stems) and all(self.stems >= self.aliases.get(stem, frozenset((stem,))) for stem in stems)

    def held_by(self, text: str) -> frozenset[str]:
        """Return the question's stems that occur in a text, including those it abbreviates."""
        stems = find_statement_stems(text)
        spelt_out = [expansion for short, expansion in self.aliases.items() if short in stems]
        return self.stems & stems.union(*spelt_out)


def _expand_terms(question: str, terms: Sequence[ReadTerm]) -> str:
    for term in sorted(terms, key=lambda term: -term.mention.start):
        start, end = term.mention.start, term.mention.end
        if question[start:end] == term.mention.surface:
            question = question[:start] + term.sense.expansion + question[end:]
    return question


# -- candidates -------------------------------------------------------------------------------------------------------


def _find_candidates(question: _Question, hits: Sequence[Hit]) -> list[list[_Candidate]]:
    """Return the candidates of each passage."""
    held = [[question.held_by(unit.plain) for unit in read_units(hit.passage.with_columns)] for hit in hits]
    rarity = _measure_rarity(question.stems, [stems for of_hit in held for stems in of_hit])
    return [_find_passage_candidates(question, place, hit, held[place], rarity) for place, hit in enumerate(hits)]


def _find_passage_candidates(
    question: _Question, place: int, hit: Hit, held: Sequence[frozenset[str]], rarity: Mapping[str, float]
) -> list[_Candidate]:
    units, headings = read_units(hit.passage.with_columns), question.held_by(hit.passage.header)
    candidates = []
    for unit in units:
        # Quoted with the text below them, never as an answer by themselves.
        if is_heading(unit, units) or is_header(unit, units) or is_title(unit, units):
            continue
        own, above = held[unit.number], [*find_heads(unit, units), *find_headings_above(unit, units)]
        covered = _measure_covered(
            rarity, _compute_credit(own, headings.union(*(held[n] for n in above)), _get_before(unit, held))
        )
        # Its own words count, beyond the credit for its context.
        score = 0.6 * covered + 0.4 * _measure_covered(rarity, dict.fromkeys(own, 1.0))
        shape = _SHAPE_BONUS if question.is_shape_of(unit.plain) else 0.0
        candidates.append(_Candidate(place, unit, covered, score + shape))
    return candidates


def _get_before(unit: Unit, held: Sequence[frozenset[str]]) -> frozenset[str]:
    return held[unit.number - 1] if unit.number else frozenset()


def _measure_rarity(stems: frozenset[str], held: Sequence[frozenset[str]]) -> dict[str, float]:
    count = len(held)
    return {stem: compute_floored_idf(sum(stem in one for one in held), count) + 0.1 for stem in sorted(stems)}


def _compute_credit(own: frozenset[str], heading: frozenset[str], before: frozenset[str]) -> dict[str, float]:
    """Return the credit of each stem: full for a sentence's own words, most of it for its headings', part of it for the
    sentence before.
    """
    credit = dict.fromkeys(before, _BEFORE_CREDIT) | dict.fromkeys(heading, _HEADING_CREDIT)
    return credit | dict.fromkeys(own, 1.0)


def _measure_covered(rarity: Mapping[str, float], credit: Mapping[str, float]) -> float:
    total = sum(rarity.values()) or 1.0
    return sum(weight * credit.get(stem, 0.0) for stem, weight in rarity.items()) / total


def _add_heading(candidate: _Candidate, hits: Sequence[Hit]) -> str:
    heading = hits[candidate.hit].passage.heading_path
    return f"{heading[-1]}: {candidate.unit.plain}" if heading else candidate.unit.plain


def _is_repeating(one: Unit, other: Unit) -> bool:
    """Return whether a unit repeats the other: mostly the same words, and no new value."""
    mine, theirs = find_statement_stems(one.plain), find_statement_stems(other.plain)
    if not find_quantities(one.plain) <= find_quantities(other.plain):
        return False
    return len(mine & theirs) >= _SAME * min(len(mine), len(theirs))


# -- quotation --------------------------------------------------------------------------------------------------------


def _write_pieces(question: _Question, fitting: Sequence[Sequence[_Candidate]], hits: Sequence[Hit]) -> list[str]:
    pieces = _render_pieces(question, fitting, hits)
    # If no amount of money is quoted, a question that only asks for a price is not answered.
    return pieces if question.asks_twice or any(map(question.may_be_answered_by, pieces)) else []


def _write_definition(
    question: _Question, fitting: Sequence[Sequence[_Candidate]], hits: Sequence[Hit], others: Sequence[Hit]
) -> list[str]:
    """Quote the text that spells the term out, in any passage; else quote passages that define it."""
    for hit in others[:MAX_PASSAGES]:
        if numbers := find_spelling_out(question.undefined, hit.passage):
            return [render_quotation(numbers, read_units(hit.passage.with_columns))]
    said = [of_hit for of_hit in fitting if is_about(question.undefined, hits[of_hit[0].hit].passage)]
    return _write_pieces(question, said, hits)


def _write_count(question: _Question, best: Sequence[Hit], hits: Sequence[Hit]) -> list[str]:
    """Return the number of entries and the list asked for, in the best passage; empty if nothing is counted."""
    others = [hit.passage for hit in hits[:MAX_PASSAGES]]
    found = count_entries(question.text, best[0].passage, others) if best else None
    if found is None:
        return []
    return [f"{found.line}\n\n{render_quotation(found.numbers, read_units(best[0].passage.text))}"]


def _render_pieces(question: _Question, fitting: Sequence[Sequence[_Candidate]], hits: Sequence[Hit]) -> list[str]:
    """Return one piece for each passage: the best sentence, with as much of its context as completes it."""
    pieces: list[str] = []
    for best, *others in sorted(fitting, key=lambda of_hit: not _is_whole(question, of_hit[0])):
        text = hits[best.hit].passage.with_columns
        units = read_units(text)
        beside = _find_rows_beside(question, best.unit, units)
        if not pieces and _is_whole(question, best):
            numbers = find_needed(best.unit, units, whole_list=_is_list_wanted(question, best.unit, units))
            return [render_quotation(beside or numbers, units)]
        most = MAX_CHARS[len(pieces)]
        numbers = [*find_block_around(best.unit, text, most), *beside]
        close = [one.unit for one in others if one.score >= MIN_NEAR_SHARE * best.score]
        pieces.append(render_quotation([*numbers, *_find_block_beside(numbers, close, text, most)], units))
    return pieces


def _find_block_beside(numbers: Sequence[int], close: Sequence[Unit], text: str, most_chars: int) -> list[int]:
    """Return the units around the next best sentence, if there is room: a passage may have several short sections."""
    units, shut = read_units(text), find_ordering_units(text).union(numbers)
    left = most_chars - sum(len(units[number].text) for number in set(numbers))
    other = next((unit for unit in close if unit.number not in shut and len(unit.text) <= left), None)
    return find_block_around(other, text, left) if other else []


def _find_rows_beside(question: _Question, unit: Unit, units: Sequence[Unit]) -> list[int]:
    """Return, for a row, its table's header and the rows that answer as well; empty for any other unit."""
    if unit.kind != "row":
        return []
    table = next((run for run in find_runs(units) if unit in run), [unit])
    heads = find_heads(unit, units)
    if question.wants_all:
        whole = find_needed(unit, units, whole_list=True)
        return [*whole, *(row.number for row in find_rows_alike(question, unit, table))]
    rows = select_rows(question, unit, table, find_header(unit, units))
    return [*heads, *(row.number for row in rows)]


def _is_list_wanted(question: _Question, unit: Unit, units: Sequence[Unit]) -> bool:
    """Return whether an item answers only with its whole list: one of several steps, unless it is the value asked
    for.
    """
    if question.wants_all or unit.kind != "item":
        return question.wants_all
    steps = next((run for run in find_runs(units) if unit in run), [])
    return is_step(unit) and len(steps) > 1 and question.wanted not in _SHORT_ANSWERS


def _is_whole(question: _Question, best: _Candidate) -> bool:
    """Return whether a unit is the whole answer: a value, a time, a person, or one row or item if the question does not
    ask for all.

    Any other sentence is usually half of the answer.
    """
    if question.asks_twice:
        return False
    shaped = question.wanted in _SHORT_ANSWERS and question.is_shape_of(best.unit.plain)
    one_of_many = best.unit.kind in ("row", "item") and not question.wants_all
    return best.covered >= MIN_SURE_SHARE and (shaped or one_of_many)
