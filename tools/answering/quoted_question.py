"""A question as the quoting writer reads it: its words, and the kind and amount of answer that it wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argot.languages.detection import identify_listed_language
from argot.protocols import AnswerRequest
from argot.tools.answering.support import find_statement_stems
from argot.tools.answering.term_definitions import find_term_to_define
from argot.tools.reading.answer_types import (
    AnswerType,
    asks_for_all,
    asks_twice,
    asks_whether,
    find_answer_type,
    has_shape,
)
from argot.tools.reading.asked_values import AskedValue, find_asked_value, may_hold_value
from argot.types import ReadTerm


@dataclass(frozen=True, slots=True)
class QuotedQuestion:
    """A question as the quoting writer reads it.

    `text` has every term replaced by its expansion; `aliases` maps an abbreviation to its expansion's stems.
    `wordings`: `text`, and the question with the abbreviations that passages may have instead.

    `cut`: the passages (ids) that may lack entries of a list or table.

    `undefined`: the abbreviation whose meaning is asked for and which no glossary has; usually empty.
    """

    text: str
    wordings: Sequence[str]
    stems: frozenset[str]
    aliases: Mapping[str, frozenset[str]]
    wanted: AnswerType
    wants_all: bool
    asks_twice: bool
    asks_whether: bool
    value: AskedValue | None
    undefined: str
    cut: frozenset[str]

    @classmethod
    def of(cls, request: AnswerRequest) -> QuotedQuestion:
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
        twice, whether = asks_twice(request.question), asks_whether(request.question)
        value, undefined = find_asked_value(request.question), find_term_to_define(request.question, request.terms)
        wordings = tuple(dict.fromkeys((text, request.question, *request.wordings)))
        stems = find_statement_stems(text)
        return cls(
            text,
            wordings,
            stems,
            aliases,
            wanted,
            wants_all,
            twice,
            whether,
            value,
            undefined,
            frozenset(request.cut_lists),
        )

    def is_shape_of(self, text: str) -> bool:
        """Return whether a text looks like an answer: contains a number or a date, names somebody, or begins a step."""
        if self.value:
            return self.value.is_in(text)
        return has_shape(self.wanted, text)

    def may_be_answered_by(self, text: str) -> bool:
        """Return whether a text contains a value of the kind asked for, if the question asks for one."""
        return self.value.is_in(text) if self.value else may_hold_value(self.text, text)

    def names(self, text: str) -> bool:
        """Return whether the question contains every word of a text."""
        return any(
            bool(stems) and all(self.stems >= self.aliases.get(stem, frozenset((stem,))) for stem in stems)
            for stems in self._list_stems(text)
        )

    def held_by(self, text: str) -> frozenset[str]:
        """Return the question's stems that occur in a text, including those it abbreviates."""
        stems = frozenset().union(*self._list_stems(text))
        spelt_out = [expansion for short, expansion in self.aliases.items() if short in stems]
        return self.stems & stems.union(*spelt_out)

    def _list_stems(self, text: str) -> list[frozenset[str]]:
        """List the stems of a text by its own language and by the question's: a cell or a heading is too short to show
        its own.
        """
        language = identify_listed_language(self.text)
        own = [find_statement_stems(text)]
        return own if identify_listed_language(text) == language else [*own, find_statement_stems(text, language)]


def _expand_terms(question: str, terms: Sequence[ReadTerm]) -> str:
    for term in sorted(terms, key=lambda term: -term.mention.start):
        start, end = term.mention.start, term.mention.end
        if question[start:end] == term.mention.surface:
            question = question[:start] + (term.sense.expansion or term.mention.surface) + question[end:]
    return question
