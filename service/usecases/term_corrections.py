"""Not what I meant: the other senses of a term, and telling the glossary's managers that it is none of them."""

from __future__ import annotations

from typing import Any

from argot.service.json_values import jsonable
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions import Turn, run_context, understood
from argot.service.usecases.registry import Text, case
from argot.types import Principal, Sense


@case("asker")
async def other_senses(
    kb: KnowledgeBase, principal: Principal, *, thread: Text, turn: Turn, term: Text
) -> dict[str, Any]:
    """What a term of a question may mean besides what it was taken for; to be given to `ask_in_sense`.

    `term` as the turn's `jargon` spells it (`surface`). Gives `term`, `question`, `read` (as it was) and `senses`.
    """
    found = await (await kb.threads()).own(principal.name, thread)
    run = await run_context(kb, principal, thread=found)
    asked, read = await understood(kb, run, thread, turn, term)

    def others() -> list[Sense]:
        offered = kb.glossary.lookup.senses(principal, [read.term, read.surface])
        senses = {sense.id: sense for some in offered.values() for sense in some}
        return [sense for sense in senses.values() if sense.id != read.sense_id]

    senses = [jsonable(sense) for sense in await kb.blocking(others)]
    return {"term": read.surface, "question": asked.question, "read": jsonable(read), "senses": senses}


@case("asker")
async def report_term(
    kb: KnowledgeBase, principal: Principal, *, thread: Text, turn: Turn, term: Text, share: bool = True
) -> dict[str, Any]:
    """Tell the glossary's managers that a term of a question means something that the glossary lacks.

    It goes into their queue as a missed term; with `share` they may read this thread's questions that met such terms.
    The asker is told when there is a meaning.
    """
    found = await (await kb.threads()).own(principal.name, thread)
    run = await run_context(kb, principal, thread=found)
    asked, read = await understood(kb, run, thread, turn, term)

    def report() -> int:
        kb.glossary.misses.record(read.term, principal.name, asked.question, thread, shared=share)
        return kb.glossary.misses.share(principal.name, thread) if share else 0

    return {"term": read.term, "question": asked.question, "shared": bool(await kb.blocking(report))}
