"""Reads questions without a language model: patterns, the glossary and sentence embeddings (`QuestionReader`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from argot.corpus.embedding.cosine_scale import rescale_cosines
from argot.corpus.store.document_store import CorpusStore
from argot.jargon_db.lookup.matcher import TermMatcher
from argot.jargon_db.lookup.spelling import is_exchanged_code
from argot.protocols import Embedder
from argot.question_threads import call_in_thread
from argot.tools.reading.context_classifier import ContextSignatures, score_contexts
from argot.tools.reading.everyday_words import is_everyday
from argot.tools.reading.follow_ups import stand_alone
from argot.tools.reading.unknown_terms import identify_terms, is_known_to_documents
from argot.tools.text.words import content_stems, is_question
from argot.types import Context, ContextScore, Mention, Principal, Sense, Triple, Turn

_MAX_QUESTION_CHARS = 8_000  # characters; nobody asks a longer question, and some paste a megabyte

# Chosen so that KaPQA's own examples (5, 7.4, appendix) come out right with MiniLM; without embedder words decide.
_RELEVANT_SIMILARITY = 0.55
_RELEVANT_OVERLAP = 0.5
_MAX_TRIPLES = 3
_MAX_GROWTH = 2.0  # maximum length of an enhanced query, in lengths of the question


class ExtractiveReader:
    """Understands questions for one principal. Cheap to make; safe to use from several threads."""

    def __init__(
        self,
        matcher: TermMatcher,
        corpus: CorpusStore | None,
        principal: Principal,
        embedder: Embedder | None,
        senses: Callable[[], Sequence[Sense]] | None = None,
    ) -> None:
        """
        Args:
            matcher: finds the terms this principal may know.
            corpus: searched for the senses' expansions, to tell contexts apart; None: not searched.
            embedder: None: only words decide.
            senses: returns the approved senses this principal may read; called once per matcher. None: contexts are
                told apart only by their descriptions.
        """
        self._matcher = matcher
        self._corpus = corpus
        self._principal = principal
        self._embedder = embedder
        self._senses = senses

    async def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        return await call_in_thread(stand_alone, question, history, self._find_mentions)

    async def identify_jargon(self, question: str) -> list[Mention]:
        return await call_in_thread(self._find_mentions, question)

    async def identify_context(self, question: str, contexts: Sequence[Context]) -> list[ContextScore]:
        return await call_in_thread(self._score_contexts, question, contexts)

    async def relevant_triples(self, question: str, triples: Sequence[Triple]) -> list[Triple]:
        return await call_in_thread(self._select_relevant, question, triples)

    async def enhance_query(self, question: str, triples: Sequence[Triple]) -> str:
        return enhance_question(question, triples)

    async def reformulate(self, question: str, triples: Sequence[Triple]) -> tuple[list[Triple], str]:
        relevant = await self.relevant_triples(question, triples)
        return relevant, await self.enhance_query(question, relevant)

    def _find_mentions(self, question: str) -> list[Mention]:
        text = question[:_MAX_QUESTION_CHARS]
        found = self._matcher.find(text)
        known = [one for one in found if not is_everyday(one, text, self._corpus, self._principal)]
        near = [_ask_if_exchanged(one) for one in self._matcher.misspelt(text, found) if self._is_slip(one)]
        return identify_terms(text, known, near)

    def _is_slip(self, near: Mention) -> bool:
        """Return whether a word like a term is misspelt, and not a word of the documents."""
        return self._corpus is None or not is_known_to_documents(self._corpus, self._principal, near.surface)

    def _score_contexts(self, question: str, contexts: Sequence[Context]) -> list[ContextScore]:
        signatures = get_signatures(self._matcher, self._senses) if self._senses else ContextSignatures(())
        return score_contexts(
            question,
            self._matcher.find(question[:_MAX_QUESTION_CHARS]),
            contexts,
            signatures,
            embedder=self._embedder,
            store=self._corpus,
            principal=self._principal,
        )

    def _select_relevant(self, question: str, triples: Sequence[Triple]) -> list[Triple]:
        """Return the triples whose action and target the question is about, best first.

        A shared word alone is not relevance (KaPQA, appendix: "The presence of a query word in the tuple does not
        make it relevant"): either the meaning is near, or the question names both the action and its object.
        """
        wanted = set(content_stems(question[:_MAX_QUESTION_CHARS]))
        if not wanted or not triples:
            return []
        near = self._measure_similarities(question, triples)
        scored = []
        for place, triple in enumerate(triples):
            action = _measure_share(wanted, triple.action)
            target = _measure_share(wanted, triple.target)
            named = action > 0 and target >= _RELEVANT_OVERLAP
            meant = near[place] >= _RELEVANT_SIMILARITY and (action > 0 or target > 0)
            if named or meant:
                # -place: equal ones keep the search's order.
                scored.append((near[place] + 0.2 * action + 0.2 * target, -place))
        return [triples[-place] for _, place in sorted(scored, reverse=True)]

    def _measure_similarities(self, question: str, triples: Sequence[Triple]) -> list[float]:
        if self._embedder is None:
            return [0.0] * len(triples)
        vectors = self._embedder.embed_queries([question[:_MAX_QUESTION_CHARS], *(triple.text for triple in triples)])
        cosines = np.asarray(vectors[1:]) @ np.asarray(vectors[0])
        return [float(value) for value in rescale_cosines(cosines, self._embedder)]


def _ask_if_exchanged(near: Mention) -> Mention:
    """Return the mention as an unknown term if only the order of an abbreviation's letters differs."""
    return replace(near, term=None, match="shape") if is_exchanged_code(near.surface, near.term or "") else near


def enhance_question(question: str, triples: Sequence[Triple]) -> str:
    """Return the question and, in one short sentence, the words of the best triples that it lacks (KaPQA 5, step 4).

    A whole question that already contains the best triple's action and target stays unchanged: rewriting well-formed
    questions costs (KaPQA 7.3, 7.5). Never more than twice as long.
    """
    if not triples or not question.strip() or len(question) > _MAX_QUESTION_CHARS:
        return question
    stems = set(content_stems(question))
    best = triples[0]
    if (
        is_question(question)
        and _measure_share(stems, best.target) == 1.0
        and _measure_share(stems, best.action) == 1.0
    ):
        return question
    added: list[str] = []
    # 3 for the separators: a full stop, a blank and another full stop.
    room = int(len(question) * (_MAX_GROWTH - 1)) - 3
    for triple in triples[:_MAX_TRIPLES]:
        for part in (f"{triple.action} {triple.target}", triple.source):
            new = set(content_stems(part)) - stems
            # A part whose words are all present already would only repeat the question.
            if new and len(part) + 2 <= room:
                added.append(part)
                stems |= new
                room -= len(part) + 2
    if not added:
        return question
    text = question.rstrip()
    return f"{text if text.endswith(('?', '.', '!')) else text + '.'} {', '.join(added)}."


def get_signatures(matcher: TermMatcher, senses: Callable[[], Sequence[Sense]]) -> ContextSignatures:
    """Return the signatures that go with a matcher."""
    return matcher.keep(ContextSignatures, lambda: ContextSignatures(senses()))


def _measure_share(stems: set[str], text: str) -> float:
    """Return the share of a text's content words that are among the stems; 0 for a text without any."""
    own = set(content_stems(text))
    return len(own & stems) / len(own) if own else 0.0
