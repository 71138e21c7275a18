"""Listeners to every ended use case: the metrics; for questions also the rows that `insight` reads, and traces."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from argot.errors import ArgotError
from argot.results import AskResult
from argot.service.observability.instrumentation import CaseRecord, Listener
from argot.service.threads.question_log import FAILED, UNANSWERED, WEAK, AskedQuestion, note_question

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase

logger = logging.getLogger(__name__)

MAX_TERMS = 20
"""Maximum terms of one question."""
_SEARCHES = "search"
"""The use case that finds passages and answers nothing."""


def make_listeners(kb: KnowledgeBase, *, asks: bool) -> list[Listener]:
    """Return the listeners to a run of a use case, which begins now."""
    found: list[Listener] = [] if kb.metrics is None else [kb.metrics]
    if asks:
        found.append(_QuestionNotes(kb))
        if kb.tracing is not None:
            found.append(kb.tracing.question())
    return found


class _QuestionNotes:
    """Records the outcome of each question, when nobody waits for it any more."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb

    def case_ended(self, run: CaseRecord, outcome: str) -> None:
        if run.name == _SEARCHES or (run.result is None and not _is_failure(run, outcome)):
            return
        kb, asked = self._kb, _describe_question(run, outcome)

        async def note() -> None:
            threads = await kb.threads()
            await note_question(threads, await kb.blocking(_add_vector, kb, asked) if asked.question else asked)

        kb.chores.add(note)


def _is_failure(run: CaseRecord, outcome: str) -> bool:
    """Return whether the service failed: a refusal, or a fault of the question, is no failure."""
    return outcome in FAILED and not run.asked_amiss


def _describe_question(run: CaseRecord, outcome: str) -> AskedQuestion:
    result = run.result
    if result is None:
        return AskedQuestion("", 0, run.at, run.surface, outcome, run.seconds)
    calls = result.model_calls
    # For an unstored conversation no words are stored either.
    in_words = result.status in UNANSWERED and bool(result.thread)
    return AskedQuestion(
        thread=result.thread,
        turn=result.turn,
        at=run.at,
        surface=run.surface,
        status=WEAK if result.status == "answered" and result.is_weak else result.status,
        seconds=run.seconds,
        first_word=run.first,
        calls=len(calls),
        failed_calls=sum(bool(call.failed) for call in calls),
        sent=sum(call.prompt_tokens for call in calls),
        received=sum(call.completion_tokens for call in calls),
        question=result.question if in_words else "",
        terms=_list_terms(result) if in_words else (),
    )


def _list_terms(result: AskResult) -> list[str]:
    """Return the terms read in the question, in the glossary's spelling, and the undefined ones."""
    found = (*(one.term for one in result.jargon if one.sense_id), *(one.term for one in result.misses))
    return list(dict.fromkeys(found))[:MAX_TERMS]


def _add_vector(kb: KnowledgeBase, question: AskedQuestion) -> AskedQuestion:
    """Add the vector by which questions are grouped; none if the embedder fails, because the count matters more."""
    import numpy

    try:
        embedder = kb.corpus.embedder
        vector = embedder.embed_queries([question.question])[0].astype(numpy.float16).tobytes()
    except ArgotError:
        logger.warning("a question without an answer could not be embedded, and is in no group", exc_info=True)
        return question
    return replace(question, embedder=embedder.fingerprint, vector=vector)
