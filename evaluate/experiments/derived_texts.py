"""The creation of derived texts and triples that a row needs and the measured knowledge base lacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from argot.corpus.ingestion.derivation import DerivationTask, keep, list_tasks, read_previous_summary
from argot.evaluate.failure_tolerance import group_items
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.tools.llm.deriver import ModelDeriver, PassageFailed
from argot.tools.llm.model_server import ModelServer
from argot.types import DerivableKind

Progress = Callable[[str, int, int], None]
PARALLEL_CALLS = 4


async def derive_missing(
    base: TemporaryBase, server: ModelServer, kinds: Sequence[DerivableKind], progress: Progress
) -> int:
    """Make the missing texts, saved passage by passage, and return how many passages gave nothing useful.

    Raises:
        ModelUnavailable: the server fails; the texts made so far are kept.
    """
    deriver = await ModelDeriver.open(server, kinds)
    recipes = [deriver.recipe(kind) for kind in dict.fromkeys(kinds)]
    connection = base.corpus.store.database.connection()
    jobs = [
        job
        for document in base.corpus.store.documents(EVALUATOR)
        for job in _group_tasks(list_tasks(connection, document.id, recipes, renew=False))
    ]
    total, done, failed = sum(map(len, jobs)), 0, 0
    for batch in group_items(jobs, PARALLEL_CALLS):
        failed += sum(await asyncio.gather(*(_follow(base, deriver, job) for job in batch)))
        done += sum(map(len, batch))
        progress(f"deriving {', '.join(kinds)}", done, total)
    return failed


def _group_tasks(tasks: Iterable[DerivationTask]) -> list[list[DerivationTask]]:
    """Group tasks. A summary is made from the passage and the previous summary (RAIDD 2.2); other texts are
    independent.
    """
    tasks = list(tasks)
    chain = [task for task in tasks if task.recipe.kind == "summary"]
    return [*([chain] if chain else []), *([task] for task in tasks if task.recipe.kind != "summary")]


async def _follow(base: TemporaryBase, deriver: ModelDeriver, job: Sequence[DerivationTask]) -> int:
    failed = 0
    for task in job:
        found = base.corpus.store.passages(EVALUATOR, task.passages)
        passages = [found[id_][0] for id_ in task.passages]
        summary = task.recipe.kind == "summary"
        connection = base.corpus.store.database.connection()
        previous = read_previous_summary(connection, passages[0]) if summary else ""
        try:
            made = await deriver.make(task.recipe.kind, passages, previous)
        except PassageFailed:
            failed += 1
            continue
        with base.corpus.changing() as parts:
            keep(parts, [made])
    return failed
