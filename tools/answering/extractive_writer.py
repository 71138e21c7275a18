"""Answers without a language model: the sentences of the best passages that answer the question, quoted.

It cannot invent. The score of a candidate sentence combines the share of the question that it covers (with its headings
and the sentence before), the kind of answer the question wants, and the similarity in meaning.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from argot.corpus.embedding.cosine_scale import rescale_cosines
from argot.languages.detection import identify_listed_language
from argot.languages.language_data import ENGLISH
from argot.protocols import AnswerRequest, Embedder, PassageReader
from argot.question_threads import call_in_thread
from argot.tools.answering.chosen_units import (
    MEANING_READER_RULES,
    TRAINED_READER_RULES,
    ChoiceRules,
    choose_units,
    read_wordings,
)
from argot.tools.answering.citation_marks import write_indexes_as_code
from argot.tools.answering.counting import asks_for_count, count_entries
from argot.tools.answering.embedded_instructions import select_quotable_hits
from argot.tools.answering.numbered_quotes import quote_numbered_parts
from argot.tools.answering.quoted_changes import quote_with_changes
from argot.tools.answering.quoted_question import QuotedQuestion
from argot.tools.answering.quoting import (
    Unit,
    find_block_around,
    find_headings_above,
    find_heads,
    find_needed,
    find_ordering_units,
    may_answer,
    read_units,
    render_first,
    render_quotation,
)
from argot.tools.answering.side_passages import build_part_request, find_lacking_side, select_naming_hits
from argot.tools.answering.succession import drop_outdated
from argot.tools.answering.term_definitions import find_spelling_out, is_about
from argot.tools.answering.unit_completion import (
    SHORT_ANSWERS,
    find_chosen_rows,
    find_rows_beside,
    is_list_wanted,
    is_repeating,
)
from argot.tools.reading.answer_types import is_decisive
from argot.tools.reading.comparisons import find_sides
from argot.tools.reading.passage_languages import is_beyond_english
from argot.tools.reading.question_splitting import split_questions
from argot.tools.text.rarity import compute_floored_idf
from argot.tools.text.words import content_stems
from argot.types import Hit

# Chosen on the validation half of the questions people ask (bench/laboratory/answers.md).
MAX_CHARS = (500, 400)
"""Characters quoted around the best sentence of the best passage, and of the second."""
THIN_MARGIN = 0.15  # between the scores of the two best passages: the second may be the one that answers
THIN_WITHOUT_SHAPE = 0.3
MIN_NEAR_SHARE = 0.7  # share of the score of a passage's best sentence: another section with it may answer as well
MIN_SURE_SHARE = 0.5  # share of the question that a sentence with a value must cover to answer by itself
MAX_PASSAGES = 5  # passages that the rules without a reader choose from
MIN_COVERED = 0.1
MIN_LIKENESS = 0.2
"""A sentence may answer if it covers this share of the question (with its context), or has this cosine with it."""
MAX_SHORTLIST = 4
"""Candidates of a passage, best by words, whose meaning is compared with the question's; embedding takes most of the
time."""

_HEADING_CREDIT = 0.7  # weight of a question word that occurs only in a heading above
_BEFORE_CREDIT = 0.5  # weight of one that occurs only in the sentence before
_SHAPE_BONUS = 0.14  # bonus for a sentence of the kind that the question wants, such as a number for "how many"
_MEANING_WEIGHT = 0.40


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
    """An `AnswerWriter` that quotes. If a trained reader is loaded, it chooses what is quoted; without an embedder the
    rules use words alone.

    Args:
        beyond_english: chooses what is quoted where the question or the passages are not in English.
    """

    def __init__(
        self,
        embedder: Embedder | None = None,
        reader: PassageReader | None = None,
        beyond_english: PassageReader | None = None,
    ) -> None:
        self.embedder = embedder
        self.reader = reader
        self.beyond_english = beyond_english

    async def write(self, request: AnswerRequest) -> AsyncIterator[str]:
        """Yield one piece for each passage quoted, best passage first; none if nothing clearly answers.

        Several questions in one message are answered one after the other.
        """
        pieces = await call_in_thread(self._write_all, request)
        for place, piece in enumerate(map(write_indexes_as_code, pieces)):
            yield piece if place == 0 else f"\n\n{piece}"

    def _write_all(self, request: AnswerRequest) -> list[str]:
        quotable = drop_outdated(select_quotable_hits(request.hits, request.question), request.question)
        request = replace(request, hits=quotable)
        if numbered := quote_numbered_parts(request.numbered_parts, quotable):
            # Costs in clause 2.2 are no answer to a question about its other content.
            asked = QuotedQuestion.of(request)
            return numbered if asked.asks_twice or any(map(asked.may_be_answered_by, numbered)) else []
        parts = split_questions(request.question)
        if len(parts) == 1:
            pieces = self._write_single(request)
            return [*pieces, *self._write_other_side(request, pieces)]
        sides = find_sides(request.question)
        found = [
            self._write_part(
                build_part_request(request, part),
                select_naming_hits(sides[place], request) if sides else request.hits,
            )
            for place, part in enumerate(parts)
            if place not in request.left_out
        ]
        return list(dict.fromkeys(chain.from_iterable(found)))

    def _write_single(self, request: AnswerRequest) -> list[str]:
        question = QuotedQuestion.of(request)
        hits = _select_answering(question, request.hits)
        if question.undefined:
            return _write_definition(question, self._find_fitting(question, hits), hits, request.hits)
        counted = _write_count(question, hits, request.hits)
        if counted or self.reader is not None:
            return counted or self._write_as_read(question, request.hits, request.find_related)
        return _write_pieces(question, self._find_fitting(question, hits), hits)

    def _write_other_side(self, request: AnswerRequest, pieces: Sequence[str]) -> list[str]:
        """Write what answers for one of two things of which the question asks the same, if the pieces quoted are only
        about the other one.
        """
        lacking = find_lacking_side(request, pieces)
        if lacking is None:
            return []
        part = build_part_request(request, lacking.question)
        return [one for one in self._write_part(part, select_naming_hits(lacking.name, request)) if one not in pieces]

    def _write_part(self, request: AnswerRequest, hits: Sequence[Hit]) -> list[str]:
        """Write the answer to one question from the passage, among those found for all, with the best-fitting
        sentence.
        """
        question = QuotedQuestion.of(request)
        # Comparing meanings takes longest, and the trained reader needs none.
        if self.reader is not None and not question.undefined and not asks_for_count(question.text):
            return self._write_as_read(question, hits, request.find_related, most=1)
        best = sorted(self._find_fitting(question, hits[:MAX_PASSAGES]), key=lambda of_hit: -of_hit[0].score)[:1]
        if question.undefined:
            return _write_definition(question, best, hits, hits)
        counted = _write_count(question, [hits[of_hit[0].hit] for of_hit in best], hits)
        if counted or self.reader is not None:
            return counted or self._write_as_read(question, hits, request.find_related, most=1)
        return _write_pieces(question, best, hits)

    def _write_as_read(
        self,
        question: QuotedQuestion,
        hits: Sequence[Hit],
        find_related: Callable[[str], Sequence[Hit]],
        most: int = MAX_PASSAGES,
    ) -> list[str]:
        """Quote what the trained reader chooses in the best passages, of at most `most`. If it finds nothing about a
        mere subject ("What about wages?", "What does it say about trimming a drive?"), quote what has every word of it,
        or is headed by it.
        """
        best = hits[:MAX_PASSAGES]
        for reader, rules in self._list_readers(question, best):
            read = hits[: rules.passages]
            if chosen := choose_units(question, read, read_wordings(question, read, reader), rules):
                return quote_with_changes(question, read, chosen, find_related, most)
        if identify_listed_language(question.text) != ENGLISH:  # which alone the reader has learnt
            few = _select_answering(question, best)
            return _write_pieces(question, self._find_fitting(question, few), few)[:most]
        about = self._find_about(question, best) if question.wanted == "anything" else []
        return _write_pieces(question, about, best)[:most]

    def _find_about(self, question: QuotedQuestion, hits: Sequence[Hit]) -> list[list[_Candidate]]:
        """Return the fitting candidates of each passage whose best one has nearly every word, or is headed by it."""

        def is_about(one: _Candidate) -> bool:
            return one.covered >= _HEADING_CREDIT or _names_heading(question, hits[one.hit])

        # Usually there is none, which words tell without any meaning.
        if not any(is_about(one) for of_hit in _shortlist_candidates(question, hits) for one in of_hit):
            return []
        return [of_hit for of_hit in self._find_fitting(question, hits) if is_about(of_hit[0])]

    def _list_readers(
        self, question: QuotedQuestion, hits: Sequence[Hit]
    ) -> Iterator[tuple[PassageReader, ChoiceRules]]:
        """Yield the readers for a question, each with the rules by which units are chosen."""
        if hits and self.beyond_english is not None and is_beyond_english(question.text, hits):
            yield self.beyond_english, MEANING_READER_RULES
        if hits and self.reader is not None:
            yield self.reader, TRAINED_READER_RULES

    def _find_fitting(self, question: QuotedQuestion, hits: Sequence[Hit]) -> list[list[_Candidate]]:
        """Return the candidates of each passage, best first: by their words and, with an embedder, their meaning."""
        short = [one for of_hit in _shortlist_candidates(question, hits) for one in of_hit]
        if self.embedder is not None and short:
            vectors = self.embedder.embed_queries([question.text, *(_add_heading(one, hits) for one in short)])
            likeness = rescale_cosines(vectors[1:] @ vectors[0], self.embedder)
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
        return [of_hit for of_hit in found if of_hit is found[0] or not is_repeating(of_hit[0].unit, found[0][0].unit)]


def _names_heading(question: QuotedQuestion, hit: Hit) -> bool:
    """Return whether the question has a passage's own heading word for word; a single word may be about anything."""
    heading = hit.passage.heading_path[-1] if hit.passage.heading_path else ""
    return len(content_stems(heading)) > 1 and heading.casefold() in question.text.casefold()


def _select_answering(question: QuotedQuestion, hits: Sequence[Hit]) -> Sequence[Hit]:
    """Return the best passage, and the second if their scores are close or the first only mentions the subject."""
    if len(hits) < 2:
        return hits
    least = THIN_WITHOUT_SHAPE if _lacks_shape(question, hits[0]) else THIN_MARGIN
    return hits[:2] if hits[0].score - hits[1].score <= least else hits[:1]


def _lacks_shape(question: QuotedQuestion, hit: Hit) -> bool:
    """Return whether no sentence of the passage could be the number, time or person asked for."""
    # A named kind of value is not searched any further: usually no document has it.
    if question.wanted not in SHORT_ANSWERS or question.value is not None:
        return False
    return not any(
        question.is_shape_of(unit.plain) for unit in read_units(hit.passage.with_columns) if unit.kind != "heading"
    )


# -- candidates -------------------------------------------------------------------------------------------------------


def _shortlist_candidates(question: QuotedQuestion, hits: Sequence[Hit]) -> list[list[_Candidate]]:
    """Return the best candidates of each passage by words, best first."""
    return [sorted(of_hit, key=lambda one: -one.score)[:MAX_SHORTLIST] for of_hit in _find_candidates(question, hits)]


def _find_candidates(question: QuotedQuestion, hits: Sequence[Hit]) -> list[list[_Candidate]]:
    """Return the candidates of each passage."""
    held = [[question.held_by(unit.plain) for unit in read_units(hit.passage.with_columns)] for hit in hits]
    rarity = _measure_rarity(question.stems, [stems for of_hit in held for stems in of_hit])
    return [_find_passage_candidates(question, place, hit, held[place], rarity) for place, hit in enumerate(hits)]


def _find_passage_candidates(
    question: QuotedQuestion, place: int, hit: Hit, held: Sequence[frozenset[str]], rarity: Mapping[str, float]
) -> list[_Candidate]:
    units, headings = read_units(hit.passage.with_columns), question.held_by(hit.passage.header)
    candidates = []
    for unit in units:
        if not may_answer(unit, units):
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


# -- quotation --------------------------------------------------------------------------------------------------------


def _write_pieces(question: QuotedQuestion, fitting: Sequence[Sequence[_Candidate]], hits: Sequence[Hit]) -> list[str]:
    pieces = _render_pieces(question, fitting, hits)
    # If no amount of money is quoted, a question that only asks for a price is not answered.
    return pieces if question.asks_twice or any(map(question.may_be_answered_by, pieces)) else []


def _write_definition(
    question: QuotedQuestion, fitting: Sequence[Sequence[_Candidate]], hits: Sequence[Hit], others: Sequence[Hit]
) -> list[str]:
    """Quote the text that spells the term out, in any passage; else quote passages that define it."""
    for hit in others[:MAX_PASSAGES]:
        if numbers := find_spelling_out(question.undefined, hit.passage):
            return [render_quotation(numbers, read_units(hit.passage.with_columns))]
    said = [of_hit for of_hit in fitting if is_about(question.undefined, hits[of_hit[0].hit].passage)]
    return _write_pieces(question, said, hits)


def _write_count(question: QuotedQuestion, best: Sequence[Hit], hits: Sequence[Hit]) -> list[str]:
    """Return the number of entries and the list asked for, in the best passage; empty if nothing is counted."""
    others = [hit.passage for hit in hits[:MAX_PASSAGES]]
    found = count_entries(question.text, best[0].passage, others) if best else None
    if found is None:
        return []
    return [f"{found.line}\n\n{render_quotation(found.numbers, read_units(best[0].passage.text))}"]


def _render_pieces(question: QuotedQuestion, fitting: Sequence[Sequence[_Candidate]], hits: Sequence[Hit]) -> list[str]:
    """Return one piece for each of the first two passages: the best sentence, with as much of its context as completes
    it.
    """
    pieces: list[str] = []
    whole_first = sorted(fitting, key=lambda of_hit: not _is_whole(question, of_hit[0]))
    for (best, *others), most in zip(whole_first, MAX_CHARS, strict=False):
        passage = hits[best.hit].passage
        text = passage.with_columns
        units = read_units(text)
        if not pieces and (chosen_rows := find_chosen_rows(question, best.unit, units, passage)):
            return [render_quotation(chosen_rows, units)]
        beside = find_rows_beside(question, best.unit, units, passage)
        if not pieces and _is_whole(question, best):
            numbers = find_needed(best.unit, units, whole_list=is_list_wanted(question, best.unit, units))
            return [render_quotation(beside or numbers, units)]
        numbers = [*find_block_around(best.unit, text, most), *beside]
        close = [one.unit for one in others if one.score >= MIN_NEAR_SHARE * best.score]
        chosen = {*numbers, *_find_block_beside(numbers, close, text, most)}
        pieces.append(_render_decision_first(question, best.unit, chosen, units))
    return pieces


def _render_decision_first(question: QuotedQuestion, unit: Unit, chosen: set[int], units: Sequence[Unit]) -> str:
    """Quote units in their order, except that the sentence that decides a question for yes or no comes first."""
    decides = question.asks_whether and unit.kind == "prose" and is_decisive(unit.plain)
    return render_first(chosen.intersection(find_needed(unit, units)) if decides else (), chosen, units)


def _find_block_beside(numbers: Sequence[int], close: Sequence[Unit], text: str, most_chars: int) -> list[int]:
    """Return the units around the next best sentence, if there is room: a passage may have several short sections."""
    units, shut = read_units(text), find_ordering_units(text).union(numbers)
    left = most_chars - sum(len(units[number].text) for number in set(numbers))
    other = next((unit for unit in close if unit.number not in shut and len(unit.text) <= left), None)
    return find_block_around(other, text, left) if other else []


def _is_whole(question: QuotedQuestion, best: _Candidate) -> bool:
    """Return whether a unit is the whole answer: a value, a time, a person, or one row or item if the question does not
    ask for all.

    Any other sentence is usually half of the answer.
    """
    if question.asks_twice:
        return False
    shaped = question.wanted in SHORT_ANSWERS and question.is_shape_of(best.unit.plain)
    one_of_many = best.unit.kind in ("row", "item") and not question.wants_all
    return best.covered >= MIN_SURE_SHARE and (shaped or one_of_many)
