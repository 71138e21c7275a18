"""Insight into questions and their outcomes, for managers of documents and glossary. It never leaves the machine."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated

from pydantic import AfterValidator

from argot.clock import utc_now
from argot.errors import InvalidInput
from argot.service.insight.insight_results import DayCount, Insight, TermCount
from argot.service.insight.question_counts import count_questions, count_thumbs, find_first_day
from argot.service.insight.unanswered_groups import group_by_subject, open_questions
from argot.service.insight.used_documents import STEP, count_used_documents
from argot.service.knowledge_base import KnowledgeBase
from argot.service.threads.thread_store import Threads
from argot.service.usecases.usecase_registry import Count, Text, usecase
from argot.types import Principal

__all__ = ["STEP", "DayCount", "Insight"]

USUAL_DAYS = 30
MAX_MISSED = 20
EARLIEST, LATEST = "1970-01-01", "2199-12-31"


def _check_day(text: str) -> str:
    try:
        day = date.fromisoformat(text).isoformat() if text.strip() else ""
    except ValueError:
        raise ValueError("it is not a day; write it as 2027-01-31") from None
    # A calendar ends in 9999, and a chart of every month until then would be read by nobody.
    if day and not EARLIEST <= day <= LATEST:
        raise ValueError(f"it is not between {EARLIEST} and {LATEST}")
    return day


Day = Annotated[Text, AfterValidator(_check_day)]
"""A day as 2027-01-31, UTC; may be empty."""


@usecase("manager")
async def insight(
    kb: KnowledgeBase, principal: Principal, *, since: Day = "", until: Day = "", start: Count = 0
) -> Insight:
    """Show the questions of a period and their outcomes.

    The period is from one day to another (2027-01-31, both included; by default the last 30 days). The result has
    questions by day and by surface, their outcomes, those without an answer by subject, thumbs with their reasons,
    documents cited and, from `start` on, never cited, terms missed, waiting times, and calls to the language model. The
    wording of a question is included if the caller may read it elsewhere; whose it is never is.

    Raises:
        InvalidInput: the period ends before it begins.
    """
    until = until or utc_now().date().isoformat()
    since = since or (date.fromisoformat(until) - timedelta(days=USUAL_DAYS - 1)).isoformat()
    if since > until:
        raise InvalidInput(f"The period ends ({until}) before it begins ({since}). Give them the other way round.")
    threads = await kb.threads()
    return await kb.blocking(_collect_insight, kb, principal, threads, since, until, start)


def _collect_insight(  # noqa: PLR0917
    kb: KnowledgeBase, principal: Principal, threads: Threads, since: str, until: str, start: int
) -> Insight:
    after = (date.fromisoformat(until) + timedelta(days=1)).isoformat()
    misses = kb.glossary.misses
    queued = misses.list_shared_questions(principal)
    everywhere = principal.manages_all

    def list_known(terms: list[str]) -> set[str]:
        # Managers see every missed term (`Misses`); other terms only if they may read them.
        senses = kb.glossary.lookup.senses(principal, terms)
        return {term for term in terms if senses.get(term)} | misses.filter_missed(terms)

    with threads.reader() as connection:
        questions = open_questions(connection, since, until, reader=principal.name, judged=everywhere, queued=queued)
        return Insight(
            since=since,
            until=until,
            counted_from=find_first_day(connection),
            counts=count_questions(connection, since, until),
            unanswered=group_by_subject(
                questions, lambda terms: list_known(list(terms)), kb.corpus.embedder.cosine_gain
            ),
            thumbs=count_thumbs(connection, threads.dialect, since, after, in_words=everywhere),
            documents=count_used_documents(kb.document_store, principal, since, until, start),
            missed=[TermCount(*row) for row in misses.list_commonest(principal, since, after, MAX_MISSED)],
        )
