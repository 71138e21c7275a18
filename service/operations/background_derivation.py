"""Texts derived of documents without being asked, while the service runs: one task at a time, when nobody asks.

Documents that came in last go first. What was made stands in corpus.db as soon as it is made, so a kill loses no more
than what was in hand. A passage that fails fails its document, which is tried again after an hour, then two, and so on.
A server that does not answer is waited for, and is no document's fault. Calls are counted by the day.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from argot.clock import utc_now
from argot.corpus.corpus import Corpus
from argot.corpus.ingestion import derivation
from argot.corpus.ingestion.derivation import DerivationTask, DerivedBatch, Recipe
from argot.corpus.ingestion.derivation_states import DerivationStates
from argot.errors import ArgotError, Conflict, ModelUnavailable
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.automatic_derivation import (
    DERIVE,
    UNASKED,
    describe_wanted_texts,
    doing_now,
    find_budget_day,
    list_wanted_kinds,
    make_derivation_key,
)
from argot.service.usecases.documents.derivation_run import (
    DERIVE_DOCUMENTS,
    FAILURES_IN_A_ROW,
    DerivingTurn,
    make_texts,
    to_the_end,
)
from argot.service.usecases.documents.derivers import Derivers
from argot.service.usecases.operations.queued_work import wait_for_end
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRequest, JobRun
from argot.work.schedule import ScheduleState, schedule_work

QUIET_SECONDS = 60.0
BATCH_JOBS = 20
RULES_TOGETHER = 64
"""Tasks by rules that are stored together: they take no time."""


@schedule_work(UNASKED, first=15.0, every=20.0, rest=60.0, is_wanted=lambda settings: bool(list_wanted_kinds(settings)))
async def derive_unasked(kb: KnowledgeBase) -> None:
    """Derive the texts that are due: in this process, or by a job if another one takes such jobs.

    Raises:
        ModelUnavailable, VectorsUnavailable: as `derive_due`.
    """
    await (put_due(kb) if await kb.jobs.has_workers(DERIVE) else derive_due(kb))


async def derive_due(kb: KnowledgeBase) -> None:
    """Derive the missing texts of each document that is due, until none is left or the day's budget is spent.

    Raises:
        ModelUnavailable: the server does not answer. What was made before is kept.
        VectorsUnavailable: what is made could not be stored.
    """
    corpus = await kb.load()
    # Before a model is asked, which costs.
    await kb.blocking(lambda: corpus.vectors)
    states, wanted, doing = DerivationStates(corpus.store.database), describe_wanted_texts(kb.settings), doing_now(kb)
    dealt_with: set[str] = set()
    due: list[str] = []
    listed_at = None
    while True:
        # What came in meanwhile goes first.
        if listed_at != (version := await kb.blocking(_read_version, corpus)):
            listed_at = version
            found = await kb.blocking(states.due, wanted, utc_now())
            due = [id_ for id_ in reversed(found) if id_ not in dealt_with]
            due.sort(key=lambda id_: id_ not in doing.put_off)
        if not due:
            return
        doing.document = due.pop()
        try:
            work = _DocumentDerivation(kb, corpus, states, await _open_maker(kb), doing.document, wanted)
            if not await work.to_its_end():
                return
        except ModelUnavailable:
            # Another one has its turn next: it may be this one that the server cannot cope with.
            doing.put_off.add(doing.document)
            raise
        finally:
            dealt_with.add(doing.document)
            doing.document = ""
        doing.put_off.discard(work.document)
        kb.part(ScheduleState).resting.pop(UNASKED, None)


# -- where jobs go through a queue ------------------------------------------------------------------------------------


async def put_due(kb: KnowledgeBase) -> None:
    """Have others derive of the documents that are due: a few at a time, those that came in last first."""
    corpus, wanted = await kb.load(), describe_wanted_texts(kb.settings)
    states = DerivationStates(corpus.store.database)
    free = BATCH_JOBS - sum(job.is_under_way for job in await kb.jobs.list_jobs(DERIVE))
    if free <= 0 or await _is_spent(kb, states):
        return
    due = await kb.blocking(states.due, wanted, utc_now())
    for id_ in due[:free]:
        label = await kb.blocking(_name, corpus, id_)
        parameters = {"document": id_, "wanted": wanted}
        job = JobRequest(DERIVE, make_local_principal(), parameters, label=label, key=make_derivation_key(id_))
        try:
            await kb.jobs.submit(job, again=False)
        except Conflict:  # it is under way
            continue


def _name(corpus: Corpus, document: str) -> str:
    return corpus.store.document(make_local_principal(), document).name


@job_kind(DERIVE, busy="Texts of '{label}' are being derived.", is_possible=lambda one: bool(list_wanted_kinds(one)))
async def derive_work(run: JobRun) -> Any:
    """Derive the missing texts of one document.

    Raises:
        ArgotError: this machine would derive other texts than the service that asked.
        ModelUnavailable, VectorsUnavailable: as `derive_due`; that is no document's fault, and no try.
    """
    kb, document, wanted = run.kb, run.parameters["document"], run.parameters["wanted"]
    if wanted != describe_wanted_texts(kb.settings):
        raise ArgotError(
            f"The service wants {wanted or 'nothing'} derived, and this machine would derive"
            f" {describe_wanted_texts(kb.settings) or 'nothing'}. Set ARGOT_MODEL_URL, ARGOT_VISION_URL,"
            " ARGOT_DERIVE_KINDS and ARGOT_DERIVE_IN_BACKGROUND alike on both, or leave 'derive' out: argot work"
            " --kinds sync,upload,fetch"
        )
    corpus = await kb.load()
    await kb.blocking(lambda: corpus.vectors)
    states = DerivationStates(corpus.store.database)
    work = _DocumentDerivation(kb, corpus, states, await _open_maker(kb), document, wanted)
    return {"derived": await work.to_its_end()}


# -- one document -----------------------------------------------------------------------------------------------------


def _read_version(corpus: Corpus) -> int:
    return corpus.store.version


async def _open_maker(kb: KnowledgeBase) -> Derivers:
    """
    Raises:
        ModelUnavailable: a server does not answer.
    """
    return await Derivers.open(kb, list_wanted_kinds(kb.settings))


async def _is_spent(kb: KnowledgeBase, states: DerivationStates) -> bool:
    limit = kb.settings.derivation.calls_per_day
    # Rules cost nothing.
    if not limit or (kb.model_server is None and kb.vision_server is None):
        return False
    return (await kb.blocking(states.read_spending, find_budget_day(utc_now()))).calls >= limit


@dataclass
class _DocumentDerivation:
    """Derivation of the texts that one document lacks."""

    kb: KnowledgeBase
    corpus: Corpus
    states: DerivationStates
    maker: Derivers
    document: str
    wanted: str
    failures: list[str] = field(default_factory=list)
    in_a_row: int = 0

    async def to_its_end(self) -> bool:
        """Derive the texts; return whether that came to an end: not where the day's budget is spent.

        Raises:
            ModelUnavailable: the server does not answer any more.
        """
        kb, recipes = self.kb, [self.maker.recipe(kind) for kind in list_wanted_kinds(self.kb.settings)]
        tasks = await kb.blocking(self._list_tasks, recipes)
        together = RULES_TOGETHER if self.maker.is_by_rules else 1
        for start in range(0, len(tasks), together):
            # Questions go first, and so does what somebody has asked to be derived.
            while not await kb.gates.questions.wait_until_quiet(QUIET_SECONDS):
                pass
            await self._wait_for_asked()
            if await self._is_spent():
                return False
            async with kb.part(DerivingTurn):
                await self._do(tasks[start : start + together])
        await kb.blocking(self.states.note, self.document, self.wanted, recipes, self.failures, utc_now())
        return True

    def _list_tasks(self, recipes: Sequence[Recipe]) -> list[DerivationTask]:
        return derivation.list_tasks(self.corpus.store.database.connection(), self.document, recipes, renew=False)

    async def _wait_for_asked(self) -> None:
        """Wait while a derivation that somebody asked for runs, at this service or another."""
        for job in await self.kb.jobs.list_jobs(DERIVE_DOCUMENTS):
            if job.state == "running":
                await wait_for_end(self.kb.jobs, job.id)

    async def _is_spent(self) -> bool:
        return await _is_spent(self.kb, self.states)

    async def _do(self, tasks: Sequence[DerivationTask]) -> None:
        made = [one for task in tasks if (one := await self._make_texts(task)) is not None]
        if made:
            async with self.kb.writing:
                await to_the_end(self.kb, self._keep, made)

    async def _make_texts(self, task: DerivationTask) -> DerivedBatch | None:
        if await self.kb.blocking(self._is_done, task):
            return None
        try:
            made = await make_texts(self.kb, self.corpus, make_local_principal(), self.maker, task)
        except ModelUnavailable as error:
            from argot.tools.llm.deriver import PassageFailed

            self.failures.append(f"{task.recipe.kind}: {error}")
            self.in_a_row = 0 if isinstance(error, PassageFailed) else self.in_a_row + 1
            if self.in_a_row >= FAILURES_IN_A_ROW:
                raise
            return None
        finally:
            await self._count()
        self.in_a_row = 0
        return made

    def _is_done(self, task: DerivationTask) -> bool:
        return derivation.is_done(self.corpus.store.database.connection(), task)

    def _keep(self, batches: Sequence[DerivedBatch]) -> None:
        with self.corpus.changing() as parts:
            derivation.keep(parts, batches)

    async def _count(self) -> None:
        """Record the time and tokens of the calls since the last record."""
        if (spent := self.maker.spent.take()).calls:
            tokens = spent.prompt_tokens + spent.completion_tokens
            await self.kb.blocking(self.states.record_spending, find_budget_day(utc_now()), spent.calls, tokens)
