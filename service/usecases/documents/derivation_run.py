"""Derivation by the language model: the work to do, one task of it, and a requested run of many."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from argot.errors import ModelUnavailable
from argot.service.blocking_work import to_its_end
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Event
from argot.types import DerivableKind, Document, Passage, Principal

if TYPE_CHECKING:
    from argot.corpus.corpus import Corpus
    from argot.corpus.ingestion.derivation import DerivationTask, DerivedBatch, Recipe
    from argot.service.usecases.documents.derivers import Derivers, Making

P = ParamSpec("P")
T = TypeVar("T")

DERIVE_DOCUMENTS = "derive_documents"
"""The kind of the jobs that derive texts because somebody asked, and the key of the one that there is at a time."""
FAILURES_IN_A_ROW = 3
"""After this many failed passages in a row the run stops."""
SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class DeriveProblem:
    """A passage (its id) of the document `name` from which nothing could be derived, and why."""

    name: str
    passage: str
    kind: DerivableKind
    detail: str


@dataclass(frozen=True, slots=True)
class DeriveReport:
    """Numbers of passages from which texts were `made`, of the `total` to do, and of the model's tokens.

    `texts` and `triples` count the results; `problems` are the first of those that `failed`.
    """

    made: int
    texts: int
    triples: int
    failed: int
    total: int
    problems: list[DeriveProblem]
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    model_seconds: float


class DerivingTurn(asyncio.Lock):
    """The turn for deriving in this process: of a requested run, or of one automatic task at a time."""


def plan_jobs(
    corpus: Corpus, documents: Sequence[Document], recipes: Sequence[Recipe], renew: bool
) -> list[list[DerivationTask]]:
    """List the tasks document by document. Those of one job are done in order, jobs in parallel."""
    from argot.corpus.ingestion.derivation import list_tasks

    connection = corpus.store.database.connection()
    jobs: list[list[DerivationTask]] = []
    for document in documents:
        tasks = list_tasks(connection, document.id, recipes, renew=renew)
        # Each summary builds on the one before it.
        if chain := [task for task in tasks if task.recipe.kind == "summary"]:
            jobs.append(chain)
        jobs += [[task] for task in tasks if task.recipe.kind != "summary"]
    return jobs


async def make_texts(
    kb: KnowledgeBase, corpus: Corpus, principal: Principal, deriver: Making, task: DerivationTask
) -> DerivedBatch | None:
    """Do one task; return None if its passages are deleted by now, or may no longer be read.

    Raises:
        ModelUnavailable: it has no result.
    """
    found = await kb.blocking(corpus.store.passages, principal, task.passages)
    if len(found) < len(task.passages):
        return None
    passages = [found[id_][0] for id_ in task.passages]
    previous = ""
    # Read only now: the previous task may just have made it.
    if task.recipe.kind == "summary":
        previous = await kb.blocking(_find_previous, corpus, passages[0])
    return await deriver.make(task.recipe.kind, passages, previous)


def _find_previous(corpus: Corpus, passage: Passage) -> str:
    from argot.corpus.ingestion.derivation import read_previous_summary

    return read_previous_summary(corpus.store.database.connection(), passage)


class DerivationRun:
    """One run of `derive`: some passages at a time go to the model, and their results are stored together."""

    def __init__(
        self,
        kb: KnowledgeBase,
        corpus: Corpus,
        principal: Principal,
        deriver: Derivers,
        jobs: Sequence[Sequence[DerivationTask]],
        *,
        names: dict[str, str],
    ) -> None:
        self._kb = kb
        self._corpus = corpus
        self._principal = principal
        self._deriver = deriver
        self._jobs = deque(jobs)
        self._names = names
        self._total = sum(len(task.passages) for job in jobs for task in job)
        self._done = 0
        self._in_a_row = 0
        self._waiting: list[DerivedBatch] = []
        self._told: asyncio.Queue[Event | None] = asyncio.Queue()
        self._counts = {"made": 0, "texts": 0, "triples": 0, "failed": 0}
        self._problems: list[DeriveProblem] = []

    async def events(self) -> AsyncGenerator[Event, None]:
        """
        Raises:
            ModelUnavailable: the server has stopped answering.
        """
        yield self._make_progress("")
        running = asyncio.create_task(self._run_side_by_side())
        try:
            while (event := await self._told.get()) is not None:
                yield event
            await running
        except ModelUnavailable as error:
            raise ModelUnavailable(
                f"{error} {self._counts['made']} of {self._total} are made and stored; the same command continues "
                "there."
            ) from error
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    def result(self) -> DeriveReport:
        spent = self._deriver.spent
        return DeriveReport(
            **self._counts,
            total=self._total,
            problems=self._problems,
            model=self._deriver.model,
            calls=spent.calls,
            prompt_tokens=spent.prompt_tokens,
            completion_tokens=spent.completion_tokens,
            model_seconds=round(spent.seconds, 1),
        )

    async def _run_side_by_side(self) -> None:
        from argot.tools.llm.deriver import MAX_PARALLEL_CALLS

        # If one worker fails, the others are stopped, and awaited: none may store anything after this run is over.
        workers = [asyncio.create_task(self._work()) for _ in range(MAX_PARALLEL_CALLS)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            # Ends `events`, which then gets the outcome from the task.
            self._told.put_nowait(None)

    async def _work(self) -> None:
        while self._jobs:
            # No await since the test above: no two workers take the same job.
            for task in self._jobs.popleft():
                await self._do(task)
                self._done += len(task.passages)
                self._told.put_nowait(self._make_progress(self._names[task.document]))

    async def _do(self, task: DerivationTask) -> None:
        try:
            made = await make_texts(self._kb, self._corpus, self._principal, self._deriver, task)
        except ModelUnavailable as error:
            self._note_failure(task, error)
            return
        if made is None:
            return
        self._in_a_row = 0
        await self._store(made)
        self._counts["made"] += len(made.passages)
        self._counts["texts"] += len(made.texts)
        self._counts["triples"] += len(made.triples)

    def _note_failure(self, task: DerivationTask, error: ModelUnavailable) -> None:
        """
        Raises:
            ModelUnavailable: the server fails, not just one passage.
        """
        from argot.tools.llm.deriver import PassageFailed

        self._counts["failed"] += len(task.passages)
        if len(self._problems) < SHOWN_PROBLEMS:
            name, kind = self._names[task.document], task.recipe.kind
            self._problems.append(DeriveProblem(name, task.passages[0], kind, str(error)))
        # The server answers, so it is worth continuing.
        if isinstance(error, PassageFailed):
            return
        self._in_a_row += 1
        if self._in_a_row >= FAILURES_IN_A_ROW:
            raise error

    async def _store(self, batch: DerivedBatch) -> None:
        """Store the results; they are durable when this returns. The holder of the lock writes for all who wait."""
        from argot.corpus.ingestion import derivation

        self._waiting.append(batch)
        async with self._kb.writing:
            together, self._waiting = self._waiting, []
            # While this worker waited for the lock, another stored its texts as well.
            if not together:
                return

            def work() -> None:
                with self._corpus.changing() as parts:
                    derivation.keep(parts, together)

            try:
                await to_the_end(self._kb, work)
            except BaseException:
                self._waiting += together  # the waiting ones detect that themselves
                raise

    def _make_progress(self, name: str) -> Event:
        return {"kind": "progress", "name": name, "done": self._done, "total": self._total}


async def to_the_end(kb: KnowledgeBase, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Return the result of `work`, run in a thread. Even if cancelled, the caller's lock stays until the work ends."""
    return await to_its_end(asyncio.ensure_future(kb.blocking(work, *given, **named)))
