"""Asks the model only where the extractive reading, which takes milliseconds, is in doubt.

Each call before that of the answer delays the first word of the answer by about its own time to the first token. So a
clear question makes no such call. In doubt, jargon and context are asked in parallel, as one round; the model
reformulates the query only if that round was not needed. A first question thus waits for at most one call before the
answer's, and a follow-up, which is made to stand alone first, for two.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from argot.corpus.store.document_store import CorpusStore
from argot.jargon_db.glossary import Glossary
from argot.protocols import QuestionReader
from argot.question_threads import call_in_thread
from argot.tools.llm.grounding import MAX_QUESTION_CHARS, find_strange_words
from argot.tools.reading.context_classifier import find_subject_stems, remove_terms
from argot.tools.reading.continuations import is_continuation
from argot.tools.reading.unknown_terms import is_known_to_documents, merge_mentions
from argot.tools.text.words import content_stems
from argot.types import Context, ContextScore, Mention, Principal, Triple, Turn

MIN_CLEAR_LEAD = 0.2
"""Lead of the best context over the next, among those of an ambiguous term; with less the model is asked."""
MODEL_SHARE = 0.6
"""The model's share of a context's score; the rest is the extractive reader's."""

_MAX_FEW_STEMS = 1  # stems, as of "any exceptions?"
_MAX_KEPT_QUESTIONS = 16  # questions; a turn has few, as typed and as rewritten


class GatedReader:
    """A `QuestionReader` for one turn, made for each turn: its earlier calls decide about later ones."""

    def __init__(
        self,
        asking: QuestionReader,
        extractive: QuestionReader,
        glossary: Glossary,
        store: CorpusStore | None,
        principal: Principal,
    ) -> None:
        """
        Args:
            asking: asks the model at every step.
            extractive: reads without it, each question once (`CachingReader`).
        """
        self._asking = asking
        self._extractive = extractive
        self._glossary = glossary
        self._store = store
        self._principal = principal
        self._asked = False

    async def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        """Ask the model only if the question may depend on the conversation."""
        read = await self._extractive.stand_alone(question, history)
        leans = bool(history) and (
            read != question or is_continuation(question, history[-1]) or await self._has_no_subject(question)
        )
        return await self._asking.stand_alone(question, history) if leans else read

    async def identify_jargon(self, question: str) -> list[Mention]:
        """Ask the model only if an unusual word may be a term. Terms read without the model are kept in any case."""
        read = await self._extractive.identify_jargon(question)
        strange = _find_words_between(question, read)
        if not strange or await call_in_thread(self._are_known, strange):
            return read
        self._asked = True
        # The extractive reading comes first, so that its positions take precedence.
        return merge_mentions(read, await self._asking.identify_jargon(question))

    async def identify_context(self, question: str, contexts: Sequence[Context]) -> list[ContextScore]:
        """Ask the model only if a term has senses in several contexts, and the scores do not distinguish them."""
        scores = await self._extractive.identify_context(question, contexts)
        read = await self._extractive.identify_jargon(question)
        terms = _list_open_terms(question, read)
        if not terms or not await call_in_thread(self._are_close, terms, scores, contexts):
            return scores
        self._asked = True
        return _combine_scores(await self._asking.identify_context(question, contexts), scores)

    async def relevant_triples(self, question: str, triples: Sequence[Triple]) -> list[Triple]:
        return await self._extractive.relevant_triples(question, triples)

    async def enhance_query(self, question: str, triples: Sequence[Triple]) -> str:
        # One round of calls before the answer is enough (see above).
        reader = self._extractive if self._asked else self._asking
        return await reader.enhance_query(question, triples)

    async def reformulate(self, question: str, triples: Sequence[Triple]) -> tuple[list[Triple], str]:
        """Ask the model only if triples are near, the question does not contain all their names, and no other step
        asked.
        """
        relevant, enhanced = await self._extractive.reformulate(question, triples)
        if self._asked or not relevant or enhanced == question:
            return relevant, enhanced
        return await self._asking.reformulate(question, triples)

    async def _has_no_subject(self, question: str) -> bool:
        """Return whether the question names no subject: "any exceptions?"."""
        few = len(set(content_stems(question[:MAX_QUESTION_CHARS]))) <= _MAX_FEW_STEMS
        return few and bool(question.strip()) and not await self._extractive.identify_jargon(question)

    def _are_known(self, words: Sequence[str]) -> bool:
        """Return whether the documents use all these words."""
        store = self._store
        return store is not None and all(is_known_to_documents(store, self._principal, word) for word in words)

    def _are_close(self, terms: Sequence[str], scores: Sequence[ContextScore], contexts: Sequence[Context]) -> bool:
        """Return whether the contexts of some term's senses have similar scores."""
        names = {context.name for context in contexts}
        score = defaultdict(float, {one.context: one.score for one in scores})
        senses = self._glossary.lookup.senses(self._principal, terms)
        return any(_is_close({one.context for one in found} & names, score) for found in senses.values())


class CachingReader:
    """Reader that remembers another reader's results; each question is read once, although several steps ask for it
    (`QuestionReader`).
    """

    def __init__(self, reader: QuestionReader) -> None:
        self._reader = reader
        self._mentions: dict[str, list[Mention]] = {}
        self._reading = asyncio.Lock()

    async def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        return await self._reader.stand_alone(question, history)

    async def identify_jargon(self, question: str) -> list[Mention]:
        # Jargon and context are read side by side, and both need the same mentions.
        async with self._reading:
            if question not in self._mentions:
                found = await self._reader.identify_jargon(question)
                if len(self._mentions) >= _MAX_KEPT_QUESTIONS:
                    self._mentions.clear()
                self._mentions[question] = found
            return list(self._mentions[question])

    async def identify_context(self, question: str, contexts: Sequence[Context]) -> list[ContextScore]:
        return await self._reader.identify_context(question, contexts)

    async def relevant_triples(self, question: str, triples: Sequence[Triple]) -> list[Triple]:
        return await self._reader.relevant_triples(question, triples)

    async def enhance_query(self, question: str, triples: Sequence[Triple]) -> str:
        return await self._reader.enhance_query(question, triples)

    async def reformulate(self, question: str, triples: Sequence[Triple]) -> tuple[list[Triple], str]:
        return await self._reader.reformulate(question, triples)


def _find_words_between(question: str, read: Sequence[Mention]) -> list[str]:
    """Return the unusual words of the question that are no part of a term."""
    return [
        word.surface
        for word in find_strange_words(question[:MAX_QUESTION_CHARS])
        if all(word.end <= mention.start or mention.end <= word.start for mention in read)
    ]


def _list_open_terms(question: str, read: Sequence[Mention]) -> list[str]:
    """Return the terms whose context the rest of the question may tell."""
    # "What is ECC?" has nothing from which a model could infer the context either.
    if not find_subject_stems(remove_terms(question, read)[:MAX_QUESTION_CHARS]):
        return []
    return list(dict.fromkeys(mention.term for mention in read if mention.term and not mention.explained))


def _is_close(contexts: set[str], score: defaultdict[str, float]) -> bool:
    best = sorted((score[name] for name in contexts), reverse=True)
    return len(best) > 1 and best[0] - best[1] < MIN_CLEAR_LEAD


def _combine_scores(model_scores: Sequence[ContextScore], scores: Sequence[ContextScore]) -> list[ContextScore]:
    """Return the model's choice and the extractive scores as one distribution; best first."""
    # The model answered "none": only the extractive scores remain.
    if not model_scores:
        return list(scores)
    blended = {one.context: (1 - MODEL_SHARE) * one.score for one in scores}
    for one in model_scores:
        blended[one.context] = blended.get(one.context, 0.0) + MODEL_SHARE * one.score
    ranked = sorted(blended.items(), key=lambda item: (-item[1], item[0]))
    return [ContextScore(name, round(value, 4)) for name, value in ranked if value > 0]
