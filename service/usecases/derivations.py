"""Derived texts and triples by the language model, for documents that are in already.

The work runs beside questions and may be stopped at any time: every passage is stored as soon as it is done, and the
next run makes only what is missing.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar
from weakref import WeakSet

from pydantic import Field

from argot.errors import Conflict, InvalidSettings, ModelUnavailable
from argot.service.blocking_work import to_its_end
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Event, Finished, Text, usecase
from argot.types import DerivableKind, Document, Principal

if TYPE_CHECKING:
    from argot.corpus.corpus import Corpus
    from argot.corpus.ingestion.derivation import Made, Recipe, Stock, Task
    from argot.tools.llm.deriver import ModelDeriver

Kinds = Annotated[list[DerivableKind], Field(min_length=1)]
P = ParamSpec("P")
T = TypeVar("T")

FAILURES_IN_A_ROW = 3
"""After this many failed passages in a row there is no use in going on."""
SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class DeriveProblem:
    """A passage (its id) of the document `name` of which nothing could be made, and why."""

    name: str
    passage: str
    kind: DerivableKind
    detail: str


@dataclass(frozen=True, slots=True)
class DeriveReport:
    """Of how many passages texts were `made`, of a `total` that was to be done, and what it took of the model.

    `texts` and `triples` count what was made; `problems` are the first of those that `failed`.
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


@dataclass(frozen=True, slots=True)
class DerivedTexts:
    """How many texts one prompt and model made, of how many passages and documents; `outdated`: by a former prompt."""

    kind: DerivableKind
    prompt: str
    model: str
    documents: int
    passages: int
    texts: int
    outdated: bool


@dataclass(frozen=True, slots=True)
class DerivedList:
    """What was derived, and how many passages all documents have that one may read."""

    rows: list[DerivedTexts]
    passages: int


@dataclass(frozen=True, slots=True)
class RemovedTexts:
    """How many texts were taken out, by kind."""

    removed: dict[DerivableKind, int]


_deriving: WeakSet[KnowledgeBase] = WeakSet()


@usecase("manager", everywhere=True)
async def derive(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    kinds: Kinds,
    documents: list[Text] | None = None,
    renew: bool = False,
) -> AsyncIterator[Event | Finished[DeriveReport]]:
    """Make texts of these kinds for the documents named (all, if none is), where there are none yet.

    Events: `{"kind": "progress", "name", "done", "total"}`, and as the result what was made. With `renew`, also what
    an earlier prompt or another model made is made again and replaced. A passage whose reply is of no use is named and
    tried again by the next run.

    Raises:
        InvalidSettings: no model server is named.
        ModelUnavailable: it does not answer, or not any more; what was made before is kept.
        Conflict: documents are being derived from already.
    """
    server = kb.model_server
    if server is None:
        raise InvalidSettings(
            "Deriving texts takes a language model, and none is named. Set ARGOT_MODEL_URL=http://HOST:PORT/v1 (for a "
            "running service: there, and start it again)."
        )
    if kb in _deriving:
        raise Conflict("Documents are being derived from already. Wait until that is done, or stop it.")
    # With no await since the test above, so that no second run slips in between.
    _deriving.add(kb)
    try:
        from argot.tools.llm.deriver import ModelDeriver

        deriver = await ModelDeriver.open(server, kinds)
        corpus = await kb.load()
        found = await _documents(kb, principal, documents)
        # A kind that is named twice is made once.
        recipes = [deriver.recipe(kind) for kind in dict.fromkeys(kinds)]
        jobs = await kb.blocking(_jobs, corpus, found, recipes, renew)
        run = _Run(kb, corpus, principal, deriver, jobs, names={document.id: document.name for document in found})
        async with aclosing(run.events()) as events:
            async for event in events:
                yield event
        yield Finished(run.result())
    finally:
        _deriving.discard(kb)


@usecase("manager", everywhere=True)
async def derived_list(kb: KnowledgeBase, principal: Principal) -> DerivedList:
    """What was derived of the documents one may read: by kind, prompt and model.

    `rows` hold the numbers of documents, of passages it was made of, and of texts; `outdated`: by a former prompt.
    Triples that came with the documents have neither prompt nor model, and name no passages.
    """
    from argot.corpus.ingestion.derivation import stock
    from argot.tools.llm.deriver import prompt_of

    store = kb.document_store
    readable = {document.id: document for document in await kb.blocking(store.documents, principal)}
    held: defaultdict[Recipe, list[Stock]] = defaultdict(list)
    for one in await kb.blocking(lambda: stock(store.database.connection())):
        if one.document in readable:
            held[one.recipe].append(one)
    rows = [
        DerivedTexts(
            kind=recipe.kind,
            prompt=recipe.prompt,
            model=recipe.model,
            documents=len(found),
            passages=sum(one.passages for one in found),
            texts=sum(one.texts for one in found),
            # What came with a document has no prompt, and cannot be outdated.
            outdated=bool(recipe.prompt) and recipe.prompt != prompt_of(recipe.kind),
        )
        for recipe, found in held.items()
    ]
    return DerivedList(rows, sum(document.passages for document in readable.values()))


@usecase("manager", everywhere=True)
async def derived_remove(
    kb: KnowledgeBase, principal: Principal, *, kinds: Kinds, documents: list[Text] | None = None
) -> RemovedTexts:
    """Take derived texts of these kinds out, of the documents named or of all one may read.

    Triples that came with a document stay.
    """
    from argot.corpus.ingestion import derivation

    corpus = await kb.load()
    removed = dict.fromkeys(kinds, 0)

    def take_out(document: Document) -> None:
        with corpus.changing() as parts:
            for kind in removed:
                removed[kind] += derivation.take_out(parts, document.id, kind)

    for document in await _documents(kb, principal, documents):
        # Taken for each document anew, so that other changes get their turn in between.
        async with kb.writing:
            await _to_its_end(kb, take_out, document)
    return RemovedTexts(removed)


async def _documents(kb: KnowledgeBase, principal: Principal, wanted: Sequence[str] | None) -> list[Document]:
    """
    Raises:
        NotFound, InvalidInput: one of those wanted is not there, or its name is that of several.
    """
    store = kb.document_store
    if not wanted:
        return await kb.blocking(store.documents, principal)
    found = [await kb.blocking(store.document, principal, one) for one in wanted]
    return list({document.id: document for document in found}.values())


def _jobs(corpus: Corpus, documents: Sequence[Document], recipes: Sequence[Recipe], renew: bool) -> list[list[Task]]:
    """What is to be done, document by document. The tasks of one job are done in order, jobs side by side."""
    from argot.corpus.ingestion.derivation import to_do

    connection = corpus.store.database.connection()
    jobs: list[list[Task]] = []
    for document in documents:
        tasks = to_do(connection, document.id, recipes, renew=renew)
        # Each summary builds on the one before it.
        if chain := [task for task in tasks if task.recipe.kind == "summary"]:
            jobs.append(chain)
        jobs += [[task] for task in tasks if task.recipe.kind != "summary"]
    return jobs


class _Run:
    """One run of `derive`: some passages at a time go to the model, and what comes of them is stored together."""

    def __init__(
        self,
        kb: KnowledgeBase,
        corpus: Corpus,
        principal: Principal,
        deriver: ModelDeriver,
        jobs: Sequence[Sequence[Task]],
        *,
        names: dict[str, str],
    ) -> None:
        self._kb = kb
        self._corpus = corpus
        self._principal = principal
        self._deriver = deriver
        self._jobs = deque(jobs)
        self._names = names
        self._total = sum(map(len, jobs))
        self._done = 0
        self._in_a_row = 0
        self._waiting: list[Made] = []
        self._told: asyncio.Queue[Event | None] = asyncio.Queue()
        self._counts = {"made": 0, "texts": 0, "triples": 0, "failed": 0}
        self._problems: list[DeriveProblem] = []

    async def events(self) -> AsyncGenerator[Event, None]:
        """
        Raises:
            ModelUnavailable: the server has stopped answering.
        """
        yield self._progress("")
        running = asyncio.create_task(self._side_by_side())
        try:
            while (event := await self._told.get()) is not None:
                yield event
            await running
        except ModelUnavailable as error:
            raise ModelUnavailable(
                f"{error} {self._counts['made']} of {self._total} are made and stored; the same command goes on there."
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

    async def _side_by_side(self) -> None:
        from argot.tools.llm.deriver import AT_ONCE

        # If one worker fails, the others are stopped, and waited for: none may store anything after this run is over.
        workers = [asyncio.create_task(self._work()) for _ in range(AT_ONCE)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            # Ends `events`, which then learns from the task how it went.
            self._told.put_nowait(None)

    async def _work(self) -> None:
        while self._jobs:
            # No await since the test above: no two workers take the same job.
            for task in self._jobs.popleft():
                await self._do(task)
                self._done += 1
                self._told.put_nowait(self._progress(self._names[task.document]))

    async def _do(self, task: Task) -> None:
        found = await self._kb.blocking(self._corpus.store.passages, self._principal, [task.passage])
        # Gone by now, or not to be read any more.
        if not found:
            return
        passage, _ = found[task.passage]
        # Read only now: the task before this one may just have made it.
        previous = await self._kb.blocking(self._previous, passage) if task.recipe.kind == "summary" else ""
        try:
            made = await self._deriver.make(task.recipe.kind, passage, previous)
        except ModelUnavailable as error:
            self._failed(task, error)
            return
        self._in_a_row = 0
        await self._store(made)
        self._counts["made"] += 1
        self._counts["texts"] += len(made.texts)
        self._counts["triples"] += len(made.triples)

    def _previous(self, passage: Any) -> str:
        from argot.corpus.ingestion.derivation import previous_summary

        return previous_summary(self._corpus.store.database.connection(), passage)

    def _failed(self, task: Task, error: ModelUnavailable) -> None:
        """
        Raises:
            ModelUnavailable: it is the server that fails, not the one passage.
        """
        from argot.tools.llm.deriver import PassageFailed

        self._counts["failed"] += 1
        if len(self._problems) < SHOWN_PROBLEMS:
            name, kind = self._names[task.document], task.recipe.kind
            self._problems.append(DeriveProblem(name, task.passage, kind, str(error)))
        # The server answers, so it is worth going on.
        if isinstance(error, PassageFailed):
            return
        self._in_a_row += 1
        if self._in_a_row >= FAILURES_IN_A_ROW:
            raise error

    async def _store(self, made: Made) -> None:
        """Store what was made; it is on the disk when this returns. Whoever gets the lock writes for all who wait."""
        from argot.corpus.ingestion import derivation

        self._waiting.append(made)
        async with self._kb.writing:
            together, self._waiting = self._waiting, []
            # While this worker waited for the lock, another stored its texts as well.
            if not together:
                return

            def work() -> None:
                with self._corpus.changing() as parts:
                    derivation.keep(parts, together)

            try:
                await _to_its_end(self._kb, work)
            except BaseException:
                self._waiting += together  # those who wait find out for themselves
                raise

    def _progress(self, name: str) -> Event:
        return {"kind": "progress", "name": name, "done": self._done, "total": self._total}


async def _to_its_end(kb: KnowledgeBase, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What `work` gives, in a thread. Also if this is cancelled, the caller's lock is held until the work ends."""
    return await to_its_end(asyncio.ensure_future(kb.blocking(work, *given, **named)))
