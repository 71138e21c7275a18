"""An evaluation on a set of pairs that somebody waits for: the command line's way to `set_evaluations`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from argot.evaluate.store.evaluation_store import make_absence
from argot.evaluate.usecases.set_evaluations import (
    EvaluationQuestion,
    EvaluationView,
    build_evaluation_job,
    evaluation_list,
)
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.operations.queued_work import follow_job
from argot.service.usecases.usecase_registry import Event, Finished, usecase
from argot.types import Principal


@usecase("manager", everywhere=True)
async def evaluation_measure(
    kb: KnowledgeBase, principal: Principal, *, asked: EvaluationQuestion
) -> AsyncIterator[Event | Finished[EvaluationView]]:
    """Evaluate as `evaluation_start` does, and return the figures, which are kept. Stopped, it keeps none.

    Events: `{"kind": "progress", "name", "done", "total"}`.

    Raises: as `evaluation_start`.
    """
    kept = ""
    async with aclosing(follow_job(kb.jobs, await build_evaluation_job(kb, principal, asked))) as events:
        async for event in events:
            if isinstance(event, Finished):
                kept = event.data
            else:
                yield event
    found = next((one for one in await evaluation_list(kb, principal) if one.id == kept), None)
    if found is None:  # its set was removed meanwhile
        raise make_absence(kept)
    yield Finished(found)
