"""Answers from the glossary: the meaning of a term that is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from argot.graph.run_context import RunContext
from argot.graph.state import State, TurnPart
from argot.graph.state_records import read_terms
from argot.tools.reading.definition_questions import find_asked_meanings
from argot.tools.reading.question_splitting import split_questions
from argot.tools.text.words import bare
from argot.types import Mention, ReadTerm, Sense

_LIST_ITEM = re.compile(r"\s*(?:\||[-*+•]\s|\(?(?:\d{1,3}|[a-zA-Z])[.)]\s)")


def find_definitions(state: State, run: RunContext, *, quoted: bool) -> TurnPart:
    """Return the senses whose meaning the question asks for, by id, and the questions of the message that nothing
    answers.

    Both are empty where no meaning is asked for. `quoted` says that the documents answer something.
    """
    if not run.profile.generate_answer or state.get("whole"):
        return {}
    terms = [term for term in read_terms(state, run) if _is_explained_by_glossary(term.sense, term.mention)]
    asked = _find_asked_mentions(state["stand_alone_question"], terms, run)
    senses = dict.fromkeys(term.sense.id for term in terms if term.mention in asked)
    if not senses:
        return {}
    parts = state.get("unanswered", []) if quoted else split_questions(state["stand_alone_question"])
    return {
        "defined": list(senses),
        "unanswered": [part for part in parts if not _find_asked_mentions(part, terms, run)],
    }


def has_more_than_meaning(quotation: Sequence[str], state: State, run: RunContext) -> bool:
    """Return whether the quotation adds to the meaning of the terms asked about, or answers another question.

    One of its sentences has to name such a term. A list item or row that names one ("2. Press the MOB button") says how
    or when it is used, not what it is.
    """
    terms = read_terms(state, run)
    if not all(_find_asked_mentions(part, terms, run) for part in split_questions(state["stand_alone_question"])):
        return True
    senses = [term.sense for term in terms]
    names = {bare(name) for sense in senses for name in (sense.term, sense.expansion, *sense.aliases)} - {""}
    prose = [f" {bare(text)} " for text in quotation if not _LIST_ITEM.match(text)]
    return any(f" {name} " in text for name in names for text in prose)


def _find_asked_mentions(question: str, terms: list[ReadTerm], run: RunContext) -> list[Mention]:
    contexts = [context.name for context in run.glossary.contexts.all(run.principal)]
    return find_asked_meanings(question, [term.mention for term in terms], contexts)


def _is_explained_by_glossary(sense: Sense, mention: Mention) -> bool:
    """Return whether the glossary says more about the term than the question does; False for a term that a document or
    the question spells out.
    """
    return bool(sense.id) and (bool(sense.description) or bare(sense.expansion) not in ("", bare(mention.surface)))
