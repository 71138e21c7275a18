"""Answers without a language model: the sentences of the best passages that answer the question, quoted.

It cannot invent. Each candidate sentence is scored by how much of the question it covers (with its headings and the
sentence before), by the shape of answer the question wants, and by its similarity in meaning.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from argot.protocols import AnswerRequest, Embedder
from argot.tools.answering.quoting import (
    Unit,
    headings_above,
    heads_of,
    is_header,
    needed_with,
    quotation_markdown,
    rest_of_paragraph,
    units_of,
)
from argot.tools.answering.support import statement_stems
from argot.tools.reading.answer_types import Wanted, asks_for_all, has_shape, wanted_by
from argot.tools.reading.question_splitting import parts_of
from argot.tools.text.rarity import floored_idf
from argot.types import Hit, ReadTerm

MOST_CHARS = 450  # of the best sentence and those that follow it; chosen on half of the questions people ask
_SHORT_ANSWERS = ("quantity", "time", "person")
MOST_QUOTES = 4
MOST_PASSAGES = 5
SHORTLIST = 6
"""Candidates, best by words, whose meaning is compared with the question's: embedding takes most of the time.
24 did no better on the validation questions."""

LEAST_COVERED = 0.30
LEAST_LIKE = 0.50
"""A sentence may answer if it covers this share of the question (with its surroundings), or has this cosine with it."""

_HEADING_CREDIT = 0.7  # of a word of the question that only a heading above has
_BEFORE_CREDIT = 0.5  # of one that only the sentence before has
_SHAPE_BONUS = 0.14  # for a sentence of the shape that the question wants, such as a number for "how many"
_MEANING_WEIGHT = 0.40
_PLACE_WEIGHT = 0.30  # of the passage's score, relative to the best passage's
_CLOSE_TO_BEST = 0.96  # of the best sentence's score: about as good an answer
_WORTH_ADDING = 0.80  # of it: good enough if it adds something
_NEW_SHARE = 0.20  # of the question's words, not covered by the sentences chosen before
_SAME = 0.6  # of the stems of the shorter of two sentences: one repeats the other


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A unit that may be quoted. `held`: the question's words it counts for, each with its credit (0 to 1). `covered`:
    their share of the question, by rarity.
    """

    hit: int
    unit: Unit
    held: Mapping[str, float]
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
        parts = parts_of(request.question)
        requests = [_of_part(request, part) for part in parts] if len(parts) > 1 else [request]
        return list(dict.fromkeys(piece for one in requests for piece in self._pieces(one)))

    def _pieces(self, request: AnswerRequest) -> list[str]:
        question = _Question.of(request)
        hits = request.hits[:MOST_PASSAGES]
        candidates = self._judged(question, hits)
        chosen = _chosen(question, candidates)
        return _rendered(question, chosen, hits)

    def _judged(self, question: _Question, hits: Sequence[Hit]) -> list[_Candidate]:
        """All candidates that may answer, best first: by their words and, where there is an embedder, their meaning."""
        candidates = sorted(_by_words(question, hits), key=lambda candidate: -candidate.score)
        if self.embedder is None or not candidates:
            return [one for one in candidates if one.covered >= LEAST_COVERED]
        short = candidates[:SHORTLIST]
        vectors = self.embedder.embed_queries([question.text, *(_in_context(one, hits) for one in short)])
        likeness = vectors[1:] @ vectors[0]
        judged = [
            replace(one, score=one.score + _MEANING_WEIGHT * max(0.0, float(like)))
            for one, like in zip(short, likeness, strict=True)
            if one.covered >= LEAST_COVERED or like >= LEAST_LIKE
        ]
        return sorted(judged, key=lambda candidate: -candidate.score)


def _of_part(request: AnswerRequest, part: str) -> AnswerRequest:
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
        return cls(text, statement_stems(text), aliases, wanted, wants_all)

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


def _by_words(question: _Question, hits: Sequence[Hit]) -> list[_Candidate]:
    held = [[question.held_by(unit.plain) for unit in units_of(hit.passage.text)] for hit in hits]
    rarity = _rarity(question.stems, [stems for of_hit in held for stems in of_hit])
    best_hit = max((hit.score for hit in hits), default=0.0) or 1.0
    candidates = []
    for place, hit in enumerate(hits):
        units, headings = units_of(hit.passage.text), question.held_by(hit.passage.header)
        for unit in units:
            own = held[place][unit.number]
            # Quoted along with what stands below them, never as an answer by themselves.
            if unit.kind == "heading" or is_header(unit, units):
                continue
            above = [*heads_of(unit, units), *headings_above(unit, units)]
            credit = _credit(own, headings.union(*(held[place][n] for n in above)), _before(unit, held[place]))
            covered = _covered(rarity, credit)
            # Its own words count beyond what its surroundings lend it.
            score = 0.6 * covered + 0.4 * _covered(rarity, dict.fromkeys(own, 1.0))
            shape = _SHAPE_BONUS if has_shape(question.wanted, unit.plain) else 0.0
            score += shape + _PLACE_WEIGHT * hit.score / best_hit
            candidates.append(_Candidate(place, unit, credit, covered, score))
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


# -- choice -----------------------------------------------------------------------------------------------------------


def _chosen(question: _Question, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The best sentence, and those that are as good or answer a part of the question still open; no repeats."""
    chosen: list[_Candidate] = []
    for one in candidates:
        if len(chosen) == MOST_QUOTES:
            break
        if not chosen:
            chosen.append(one)
            continue
        if any(_alike(one.unit, other.unit) for other in chosen):
            continue
        # A word in a heading counts as answered (0.7), one in the sentence before does not (0.5).
        open_stems = question.stems - {stem for other in chosen for stem, share in other.held.items() if share > 0.6}
        own = question.held_by(one.unit.plain)
        adds = len(open_stems & own) / max(1, len(question.stems))
        good = one.score / chosen[0].score
        if good >= _CLOSE_TO_BEST or (good >= _WORTH_ADDING and adds >= _NEW_SHARE):
            chosen.append(one)
    return chosen


def _alike(one: Unit, other: Unit) -> bool:
    mine, theirs = statement_stems(one.plain), statement_stems(other.plain)
    return len(mine & theirs) >= _SAME * min(len(mine), len(theirs))


def _rendered(question: _Question, chosen: Sequence[_Candidate], hits: Sequence[Hit]) -> list[str]:
    """One piece for each passage: passages by their best sentence, sentences in the order of the document."""
    numbers: dict[int, list[int]] = {}
    for place, one in enumerate(chosen):
        units = units_of(hits[one.hit].passage.text)
        needed = needed_with(one.unit, units, whole_list=question.wants_all)
        # A value, a time or a person is the whole answer. Of anything else a sentence is half of it, and what follows
        # in its paragraph is mostly the other half.
        short = question.wanted in _SHORT_ANSWERS and has_shape(question.wanted, one.unit.plain)
        if place == 0 and not short:
            needed = sorted({*needed, *rest_of_paragraph(one.unit, units, MOST_CHARS)})
        numbers.setdefault(one.hit, []).extend(needed)
    return [quotation_markdown(found, units_of(hits[place].passage.text)) for place, found in numbers.items()]
