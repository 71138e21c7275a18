"""Answers without a language model: the sentences of the best passages that answer the question, quoted.

It cannot invent. Each candidate sentence is scored by how much of the question it covers (with its headings and the
sentence before), by the shape of answer the question wants, and by its similarity in meaning.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from argot.protocols import AnswerRequest, Embedder
from argot.tools.answering.embedded_instructions import hits_to_quote
from argot.tools.answering.quoting import (
    Unit,
    block_around,
    headings_above,
    heads_of,
    is_header,
    needed_with,
    quotation_markdown,
    units_of,
)
from argot.tools.answering.support import statement_stems
from argot.tools.reading.answer_types import Wanted, asks_for_all, has_shape, wanted_by
from argot.tools.reading.asked_values import AskedValue, asked_value
from argot.tools.reading.question_splitting import parts_of
from argot.tools.text.quantities import quantities
from argot.tools.text.rarity import floored_idf
from argot.types import Hit, ReadTerm

# Chosen on the validation half of the questions people ask (docs/measurements.md).
MOST_CHARS = (500, 400)
"""Of what is quoted around the best sentence of the best passage, and of the second."""
THIN = 0.15  # between the scores of the two best passages: the second may as well be the one that answers
THIN_WITHOUT_SHAPE = 0.3
SURELY = 0.5  # share of the question that a sentence with a value covers, from which it answers by itself
MOST_PASSAGES = 5  # that answer several questions in one message
LEAST_COVERED = 0.1
LEAST_LIKE = 0.2
"""A sentence may answer if it covers this share of the question (with its surroundings), or has this cosine with it."""
_SHORT_ANSWERS = ("quantity", "time", "person")
SHORTLIST = 4
"""Candidates of a passage, best by words, whose meaning is compared with the question's: embedding takes most of the
time."""

_HEADING_CREDIT = 0.7  # of a word of the question that only a heading above has
_BEFORE_CREDIT = 0.5  # of one that only the sentence before has
_SHAPE_BONUS = 0.14  # for a sentence of the shape that the question wants, such as a number for "how many"
_MEANING_WEIGHT = 0.40
_SAME = 0.6  # of the stems of the shorter of two sentences: one repeats the other


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A unit of the passage at place `hit`. `covered`: the share of the question it covers, by rarity, with its
    headings and the sentence before it.
    """

    hit: int
    unit: Unit
    covered: float
    score: float


class ExtractiveWriter:
    """An `AnswerWriter` that quotes. Without an embedder it judges by words alone."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder = embedder

    async def write(self, request: AnswerRequest) -> AsyncIterator[str]:
        """One piece for each passage quoted, best passage first; none where nothing clearly answers.

        Several questions in one message are answered one after the other.
        """
        pieces = await asyncio.to_thread(self._of_all, request)
        for place, piece in enumerate(pieces):
            yield piece if place == 0 else f"\n\n{piece}"

    def _of_all(self, request: AnswerRequest) -> list[str]:
        request = replace(request, hits=hits_to_quote(request.hits, request.question))
        parts = parts_of(request.question)
        if len(parts) == 1:
            question = _Question.of(request)
            return self._pieces(question, _answering(question, request.hits))
        found = [self._of_part(_Question.of(_part_request(request, part)), request.hits) for part in parts]
        return list(dict.fromkeys(chain.from_iterable(found)))

    def _of_part(self, question: _Question, hits: Sequence[Hit]) -> list[str]:
        """Of the passages found for all parts the one whose best sentence fits this one most."""
        hits = hits[:MOST_PASSAGES]
        best = max(self._best(question, hits), key=lambda one: one.score, default=None)
        return self._pieces(question, [hits[best.hit]]) if best else []

    def _pieces(self, question: _Question, hits: Sequence[Hit]) -> list[str]:
        pieces = _rendered(question, self._best(question, hits), hits)
        # Where no amount of money is quoted, the question what something costs is not answered.
        value = question.value
        return pieces if value is None or any(value.is_in(piece) for piece in pieces) else []

    def _best(self, question: _Question, hits: Sequence[Hit]) -> list[_Candidate]:
        """The best candidate of each passage: by its words and, where there is an embedder, its meaning."""
        of_hits = [sorted(of_hit, key=lambda one: -one.score)[:SHORTLIST] for of_hit in _by_words(question, hits)]
        short = [one for of_hit in of_hits for one in of_hit]
        if self.embedder is not None and short:
            vectors = self.embedder.embed_queries([question.text, *(_in_context(one, hits) for one in short)])
            likeness = vectors[1:] @ vectors[0]
            short = [
                replace(one, score=one.score + _MEANING_WEIGHT * max(0.0, float(like)))
                for one, like in zip(short, likeness, strict=True)
                if one.covered >= LEAST_COVERED or like >= LEAST_LIKE
            ]
        else:
            short = [one for one in short if one.covered >= LEAST_COVERED]
        best: dict[int, _Candidate] = {}
        for one in sorted(short, key=lambda one: -one.score):
            best.setdefault(one.hit, one)
        # Documents repeat one another; an answer does not.
        found = [best[place] for place in sorted(best)]
        return [one for one in found if one is found[0] or not _repeats(one.unit, found[0].unit)]


def _answering(question: _Question, hits: Sequence[Hit]) -> Sequence[Hit]:
    """The best passage, and the second where little parts them, or where the first only speaks of what is asked."""
    if len(hits) < 2:
        return hits
    least = THIN_WITHOUT_SHAPE if _lacks_shape(question, hits[0]) else THIN
    return hits[:2] if hits[0].score - hits[1].score <= least else hits[:1]


def _lacks_shape(question: _Question, hit: Hit) -> bool:
    """Whether no sentence of it could be the number, time or person asked for."""
    # A named kind of value is not looked for any further: mostly no document gives it.
    if question.wanted not in _SHORT_ANSWERS or question.value is not None:
        return False
    return not any(question.is_shape_of(unit.plain) for unit in units_of(hit.passage.text) if unit.kind != "heading")


def _part_request(request: AnswerRequest, part: str) -> AnswerRequest:
    """The request for one question of a message, with the terms that occur in it."""
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
    """`text` has every term's expansion in its place; `aliases` maps an abbreviation to its expansion's stems."""

    text: str
    stems: frozenset[str]
    aliases: Mapping[str, frozenset[str]]
    wanted: Wanted
    wants_all: bool
    value: AskedValue | None

    @classmethod
    def of(cls, request: AnswerRequest) -> _Question:
        text = _expanded(request.question, request.terms)
        aliases = {
            stem: statement_stems(term.sense.expansion)
            for term in request.terms
            for name in (term.sense.term, *term.sense.aliases)
            if len(stems := statement_stems(name)) == 1
            for stem in stems
        }
        wanted = wanted_by(request.question)
        wants_all = wanted == "steps" or asks_for_all(request.question)
        return cls(text, statement_stems(text), aliases, wanted, wants_all, asked_value(request.question))

    def is_shape_of(self, text: str) -> bool:
        """Whether a text looks like an answer: holds a number or a date, names somebody, or begins a step."""
        return self.value.is_in(text) if self.value else has_shape(self.wanted, text)

    def held_by(self, text: str) -> frozenset[str]:
        """The question's stems that occur in a text, also where it uses the abbreviation of a term."""
        stems = statement_stems(text)
        spelt_out = [expansion for short, expansion in self.aliases.items() if short in stems]
        return self.stems & stems.union(*spelt_out)


def _expanded(question: str, terms: Sequence[ReadTerm]) -> str:
    for term in sorted(terms, key=lambda term: -term.mention.start):
        start, end = term.mention.start, term.mention.end
        if question[start:end] == term.mention.surface:
            question = question[:start] + term.sense.expansion + question[end:]
    return question


# -- candidates -------------------------------------------------------------------------------------------------------


def _by_words(question: _Question, hits: Sequence[Hit]) -> list[list[_Candidate]]:
    """The candidates of each passage."""
    held = [[question.held_by(unit.plain) for unit in units_of(hit.passage.text)] for hit in hits]
    rarity = _rarity(question.stems, [stems for of_hit in held for stems in of_hit])
    return [_of_passage(question, place, hit, held[place], rarity) for place, hit in enumerate(hits)]


def _of_passage(
    question: _Question, place: int, hit: Hit, held: Sequence[frozenset[str]], rarity: Mapping[str, float]
) -> list[_Candidate]:
    units, headings = units_of(hit.passage.text), question.held_by(hit.passage.header)
    candidates = []
    for unit in units:
        # Quoted along with what stands below them, never as an answer by themselves.
        if unit.kind == "heading" or is_header(unit, units):
            continue
        own, above = held[unit.number], [*heads_of(unit, units), *headings_above(unit, units)]
        covered = _covered(rarity, _credit(own, headings.union(*(held[n] for n in above)), _before(unit, held)))
        # Its own words count beyond what its surroundings lend it.
        score = 0.6 * covered + 0.4 * _covered(rarity, dict.fromkeys(own, 1.0))
        shape = _SHAPE_BONUS if question.is_shape_of(unit.plain) else 0.0
        candidates.append(_Candidate(place, unit, covered, score + shape))
    return candidates


def _before(unit: Unit, held: Sequence[frozenset[str]]) -> frozenset[str]:
    return held[unit.number - 1] if unit.number else frozenset()


def _rarity(stems: frozenset[str], held: Sequence[frozenset[str]]) -> dict[str, float]:
    count = len(held)
    return {stem: floored_idf(sum(stem in one for one in held), count) + 0.1 for stem in sorted(stems)}


def _credit(own: frozenset[str], heading: frozenset[str], before: frozenset[str]) -> dict[str, float]:
    """A sentence counts for its own words, mostly for its headings', and in part for the sentence before it."""
    credit = dict.fromkeys(before, _BEFORE_CREDIT) | dict.fromkeys(heading, _HEADING_CREDIT)
    return credit | dict.fromkeys(own, 1.0)


def _covered(rarity: Mapping[str, float], credit: Mapping[str, float]) -> float:
    total = sum(rarity.values()) or 1.0
    return sum(weight * credit.get(stem, 0.0) for stem, weight in rarity.items()) / total


def _in_context(candidate: _Candidate, hits: Sequence[Hit]) -> str:
    heading = hits[candidate.hit].passage.heading_path
    return f"{heading[-1]}: {candidate.unit.plain}" if heading else candidate.unit.plain


def _repeats(one: Unit, other: Unit) -> bool:
    """Whether a unit says what the other says: mostly the same words, and no value of its own."""
    mine, theirs = statement_stems(one.plain), statement_stems(other.plain)
    if not quantities(one.plain) <= quantities(other.plain):
        return False
    return len(mine & theirs) >= _SAME * min(len(mine), len(theirs))


# -- quotation --------------------------------------------------------------------------------------------------------


def _rendered(question: _Question, best: Sequence[_Candidate], hits: Sequence[Hit]) -> list[str]:
    """One piece for each passage: the best sentence, with as much of what stands around it as makes it whole."""
    pieces: list[str] = []
    for one in sorted(best, key=lambda one: not _is_whole(question, one)):
        units = units_of(hits[one.hit].passage.text)
        if not pieces and _is_whole(question, one):
            numbers = needed_with(one.unit, units, whole_list=question.wants_all)
            return [quotation_markdown(numbers, units)]
        pieces.append(quotation_markdown(block_around(one.unit, units, MOST_CHARS[len(pieces)]), units))
    return pieces


def _is_whole(question: _Question, best: _Candidate) -> bool:
    """Whether a unit is the whole answer: a value, a time, a person, or one row or item where not all are asked for.

    Of anything else a sentence is mostly half of the answer.
    """
    shaped = question.wanted in _SHORT_ANSWERS and question.is_shape_of(best.unit.plain)
    one_of_many = best.unit.kind in ("row", "item") and not question.wants_all
    return best.covered >= SURELY and (shaped or one_of_many)
