"""Reads questions with a language model, one call for each step, and keeps only what is grounded in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.prompts.fences import number_lines
from argot.protocols import QuestionReader
from argot.question_threads import call_in_thread
from argot.tools.llm.grounding import MAX_QUESTION_CHARS, match_context, match_terms, select_triples
from argot.tools.llm.history_text import MAX_TURNS, format_history
from argot.tools.llm.rewording import MAX_REWORDED_CHARS, check_query, check_stand_alone
from argot.types import Context, ContextScore, Mention, Triple, Turn

if TYPE_CHECKING:
    from argot.tools.llm.session import Model

_DESCRIPTION_CHARS = 300  # characters of a context
_MAX_CONTEXTS = 60  # in one prompt, and in the enum of its schema
_MAX_TRIPLES = 20


class ModelReader:
    """Understands questions through a model (`QuestionReader`). Safe to use for several steps at once.

    Each step raises `ModelUnavailable` when the model does not answer; if its answer is not grounded, the extractive
    reading is used.
    """

    def __init__(
        self, model: Model, extractive: QuestionReader, matcher: TermMatcher, forbidden_words: str = ""
    ) -> None:
        """
        Args:
            extractive: reads without the model, for glossary terms and for the model's mistakes.
            matcher: the same principal's.
            forbidden_words: words a search query shall not use, between commas.
        """
        self._model = model
        self._extractive = extractive
        self._matcher = matcher
        self._forbidden = forbidden_words

    async def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        turns = history[-MAX_TURNS:]
        if not turns or not question.strip() or len(question) > MAX_REWORDED_CHARS:
            return await self._extractive.stand_alone(question, history)
        reply = await self._model.json("stand_alone", history=format_history(turns, question), question=question)
        reworded = check_stand_alone(reply["question"], question, turns)
        if reworded is None:
            return await self._extractive.stand_alone(question, history)
        # Exactly as typed if only capitals differ: the question was complete.
        return question if reworded.casefold() == question.strip().casefold() else reworded

    async def identify_jargon(self, question: str) -> list[Mention]:
        read = await self._extractive.identify_jargon(question)
        if not any(map(str.isalnum, question[:MAX_QUESTION_CHARS])):
            return read
        reply = await self._model.json("identify_jargon", question=question[:MAX_QUESTION_CHARS])
        # In a thread: comparing words with the whole word list takes milliseconds, which would delay other askers.
        return await call_in_thread(match_terms, question, reply["terms"], read, self._matcher)

    async def identify_context(self, question: str, contexts: Sequence[Context]) -> list[ContextScore]:
        if not contexts or not question.strip():
            return []
        listed = await self._select_likeliest(question, contexts)
        reply = await self._model.json(
            "identify_context",
            # The schema allows these names and no others.
            choices={"contexts": [context.name for context in listed]},
            contexts=number_lines([_describe_context(context) for context in listed]),
            question=question[:MAX_QUESTION_CHARS],
        )
        return match_context(reply["context"], listed)

    async def _select_likeliest(self, question: str, contexts: Sequence[Context]) -> Sequence[Context]:
        """Return the contexts, or as many as a prompt may list: those with the best scores of the extractive reader."""
        if len(contexts) <= _MAX_CONTEXTS:
            return contexts
        scores = await self._extractive.identify_context(question, contexts)
        likely = {score.context: -score.score for score in scores}
        return sorted(contexts, key=lambda context: likely.get(context.name, 0.0))[:_MAX_CONTEXTS]

    async def relevant_triples(self, question: str, triples: Sequence[Triple]) -> list[Triple]:
        offered = triples[:_MAX_TRIPLES]
        if not offered or not question.strip():
            return []
        reply = await self._model.json(
            "triple_relevance", triples=_list_triples(offered), question=question[:MAX_QUESTION_CHARS]
        )
        return select_triples(reply["relevant"], offered)

    async def enhance_query(self, question: str, triples: Sequence[Triple]) -> str:
        """Return the enhanced query; without triples the plain rewriting, KaPQA's baseline (6.1)."""
        offered = triples[:_MAX_TRIPLES]
        if not question.strip() or len(question) > MAX_REWORDED_CHARS:
            return await self._extractive.enhance_query(question, triples)
        ask = partial(self._model.json, question=question, forbidden_words=self._forbidden)
        reply = await (ask("enhance_query", triples=_list_triples(offered)) if offered else ask("rewrite_query"))
        return check_query(reply["query"], question, offered) or question

    async def reformulate(self, question: str, triples: Sequence[Triple]) -> tuple[list[Triple], str]:
        offered = triples[:_MAX_TRIPLES]
        if not offered or not question.strip() or len(question) > MAX_REWORDED_CHARS:
            return await self._extractive.reformulate(question, triples)
        reply = await self._model.json(
            "reformulate", triples=_list_triples(offered), question=question, forbidden_words=self._forbidden
        )
        relevant = select_triples(reply["relevant"], offered)
        # A query in the words of irrelevant triples would find something else.
        if not relevant:
            return [], question
        return relevant, check_query(reply["query"], question, relevant) or question


def _describe_context(context: Context) -> str:
    description = context.description[:_DESCRIPTION_CHARS]
    return f"{context.name}: {description}" if description else context.name


def _list_triples(triples: Sequence[Triple]) -> str:
    return number_lines([f"({triple.source}, {triple.action}, {triple.target})" for triple in triples])
