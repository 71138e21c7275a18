"""Derived texts and triples for a base that is measured: whatever is missing of the kinds a row needs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from argot.corpus.ingestion.derivation import Task, keep, previous_summary, to_do
from argot.evaluate.failure_tolerance import batched
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.tools.llm.deriver import ModelDeriver, PassageFailed
from argot.tools.llm.model_server import ModelServer
from argot.types import DerivableKind

Progress = Callable[[str, int, int], None]
AT_ONCE = 4


async def derive_missing(
    base: TemporaryBase, server: ModelServer, kinds: Sequence[DerivableKind], progress: Progress
) -> int:
    """Makes what is missing, kept passage by passage; how many passages gave nothing of use.

    Raises:
        ModelUnavailable: the server fails; what was made is kept.
    """
    deriver = await ModelDeriver.open(server, kinds)
    recipes = [deriver.recipe(kind) for kind in dict.fromkeys(kinds)]
    connection = base.corpus.store.database.connection()
    jobs = [
        job
        for document in base.corpus.store.documents(EVALUATOR)
        for job in _jobs(to_do(connection, document.id, recipes, renew=False))
    ]
    total, done, failed = sum(map(len, jobs)), 0, 0
    for batch in batched(jobs, AT_ONCE):
        failed += sum(await asyncio.gather(*(_follow(base, deriver, job) for job in batch)))
        done += sum(map(len, batch))
        progress(f"deriving {', '.join(kinds)}", done, total)
    return failed


def _jobs(tasks: Iterable[Task]) -> list[list[Task]]:
    """Each summary is made with the one before it in view (RAIDD 2.2); everything else by itself."""
    tasks = list(tasks)
    chain = [task for task in tasks if task.recipe.kind == "summary"]
    return [*([chain] if chain else []), *([task] for task in tasks if task.recipe.kind != "summary")]


async def _follow(base: TemporaryBase, deriver: ModelDeriver, job: Sequence[Task]) -> int:
    failed = 0
    for task in job:
        found = base.corpus.store.passages(EVALUATOR, task.passages)
        passages = [found[id_][0] for id_ in task.passages]
        summary = task.recipe.kind == "summary"
        connection = base.corpus.store.database.connection()
        previous = previous_summary(connection, passages[0]) if summary else ""
        try:
            made = await deriver.make(task.recipe.kind, passages, previous)
        except PassageFailed:
            failed += 1
            continue
        with base.corpus.changing() as parts:
            keep(parts, [made])
    return failed
