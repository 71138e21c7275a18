"""Corrections by the asker: the other senses of a term, and notifying the glossary's managers that none is right."""

from __future__ import annotations

from dataclasses import dataclass

from argot.results import Jargon
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.questions import Turn, find_reading, run_context
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import Principal, Sense


@dataclass(frozen=True, slots=True)
class OtherSenses:
    """A term of a question, how it was read, and its other meanings."""

    term: str
    question: str
    read: Jargon
    senses: list[Sense]


@dataclass(frozen=True, slots=True)
class ReportedTerm:
    """A term that is reported to the glossary's managers; `shared`: they may read its question."""

    term: str
    question: str
    shared: bool


@usecase("asker")
async def other_senses(kb: KnowledgeBase, principal: Principal, *, thread: Text, turn: Turn, term: Text) -> OtherSenses:
    """List the other meanings of a term of a question; pass one of them to `ask_in_sense`.

    `term` is spelt as in the turn's `jargon` (`surface`). The result has `term`, `question`, `read` (as it was) and
    `senses`.
    """
    found = await (await kb.threads()).own(principal.name, thread)
    run = await run_context(kb, principal, thread=found)
    asked, read = await find_reading(kb, run, thread, turn, term)

    def others() -> list[Sense]:
        offered = kb.glossary.lookup.senses(principal, [read.term, read.surface])
        # Both spellings may lead to the same sense.
        senses = {sense.id: sense for some in offered.values() for sense in some}
        return [sense for sense in senses.values() if sense.id != read.sense_id]

    return OtherSenses(read.surface, asked.question, read, await kb.blocking(others))


@usecase("asker")
async def report_term(
    kb: KnowledgeBase, principal: Principal, *, thread: Text, turn: Turn, term: Text, share: bool = True
) -> ReportedTerm:
    """Report to the glossary's managers that a term of a question has a meaning that the glossary lacks.

    It is added to their queue as a missed term; with `share` they may read this thread's questions that met such terms.
    The asker is notified when the term gets a meaning.
    """
    found = await (await kb.threads()).own(principal.name, thread)
    run = await run_context(kb, principal, thread=found)
    asked, read = await find_reading(kb, run, thread, turn, term)

    def report() -> int:
        # Before `share`, which shares the questions recorded for the thread so far.
        kb.glossary.misses.record(read.term, principal.name, asked.question, thread, shared=share)
        return kb.glossary.misses.share(principal.name, thread) if share else 0

    return ReportedTerm(read.term, asked.question, bool(await kb.blocking(report)))
