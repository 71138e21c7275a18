"""Choice of a search strategy on a set of training pairs (AccurateRAG 2.3), awaited or in the background."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from argot.errors import InvalidInput, NotFound
from argot.service.blocking_work import HandOver, progress_events
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.question_sets import SetName, find_question_sets, require_question_sets
from argot.service.usecases.questions.profiles import get_profile
from argot.service.usecases.usecase_registry import Event, Finished, ParameterGroup, Text, usecase
from argot.types import Principal
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRecord, JobRequest, JobRun

if TYPE_CHECKING:
    from argot.evaluate.strategy_suite import StrategyReport
    from argot.measures import Qrels

ChoicePart = Literal["validation", "test"]
"""The parts of a set that may be used for a choice; not the training part, since a tuned model has seen its pairs."""


@dataclass(frozen=True, kw_only=True)
class StrategyQuestion(ParameterGroup):
    """The questions on which strategies are measured: those of one part of a set of pairs.

    `profile`: the present profile; None: the service's. `name`: the name under which the chosen strategy will be saved
    as a profile; whether that is possible is checked before the search.
    """

    data: SetName
    part: ChoicePart = "validation"
    measure: Annotated[Text, Field(max_length=20)] = "ndcg@10"
    profile: Text | None = None
    name: Text | None = None


@dataclass(frozen=True, slots=True)
class StrategyTried:
    """One strategy: its mean with the 95 % interval, and its paired difference to the present strategy."""

    name: str
    mean: float
    interval95: tuple[float, float]
    gain: float
    gain95: tuple[float, float]


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """The outcome of a choice. `chosen` is the best strategy only if the interval shows that it is better than the
    present one (`better`); otherwise it is the present one. `switches` turn `profile` into it.

    `tried`: the number of strategies; `rows`: those to show, best first.
    """

    data: str
    part: ChoicePart
    measure: str
    profile: str
    questions: int
    tried: int
    present: str
    best: str
    chosen: str
    better: bool
    switches: dict[str, Any]
    rows: list[StrategyTried]

    @property
    def about(self) -> str:
        """Return the description of a profile that is made from this choice."""
        return f"Chosen on {self.questions} {self.part} questions of {self.data} by {self.measure}: {self.chosen}."[
            :500
        ]


@dataclass(slots=True)
class StrategyRun:
    """A choice in the background. `step`, `done`, `total`: its progress; `error`: why it failed."""

    asked: StrategyQuestion
    step: str = ""
    done: int = 0
    total: int = 0
    ended: bool = False
    choice: StrategyChoice | None = None
    error: str = ""


STRATEGY = "strategy"
"""The kind of the jobs that choose a search strategy, and their key, which allows only one of them at a time."""
_ASKED, _CHOICE = TypeAdapter(StrategyQuestion), TypeAdapter(StrategyChoice)


@usecase("manager", everywhere=True)
async def strategy_choose(
    kb: KnowledgeBase, principal: Principal, *, asked: StrategyQuestion
) -> AsyncIterator[Event | Finished[StrategyChoice]]:
    """Measure which search finds the passages of a set's questions best, before re-ranking.

    It tries semantic, keyword and hybrid search, with different derived texts and weights, in the documents that the
    caller may read. Questions that are a sentence of their passage are left out, because keywords alone find them.
    Nothing is changed; `profile_save` keeps the result.

    Events: `{"kind": "progress", "name", "done", "total"}`.

    Raises:
        MissingWing: no installed wing keeps sets of pairs.
        NotFound: there is no such set that the caller may see.
        InvalidInput: there is no such measure, or no question of this part has a passage in the documents.
        InvalidSettings, Conflict: there is no such profile, or nothing can be kept under that name.
    """
    async with aclosing(_stream_choice(kb, principal, asked)) as events:
        async for event in events:
            yield event


@usecase("manager", everywhere=True)
async def strategy_start(kb: KnowledgeBase, principal: Principal, *, asked: StrategyQuestion) -> StrategyRun:
    """Start `strategy_choose` in the background; `strategy_run` returns its progress.

    Raises:
        Conflict: a choice is already running.
        MissingWing, NotFound, InvalidInput, InvalidSettings: as `strategy_choose`, at once.
    """
    await _load_questions(kb, principal, asked)
    await get_profile(kb.profiles, asked.profile or kb.settings.profile)
    return _run_of(await kb.jobs.begin(JobRequest(STRATEGY, principal, convert_to_json(asked), asked.data, STRATEGY)))


@usecase("manager", everywhere=True)
async def strategy_run(kb: KnowledgeBase, principal: Principal) -> StrategyRun | None:
    """Return the progress and the result of the choice that was started last.

    None if none is known any more, or if its set was made from documents that the caller may not read.
    """
    job, sets = await kb.jobs.find_latest(STRATEGY, STRATEGY), find_question_sets()
    if job is None or sets is None:
        return None
    try:
        await kb.blocking(sets.require_visible, kb, principal, job.label)
    except NotFound:
        return None
    return _run_of(job)


def _run_of(job: JobRecord) -> StrategyRun:
    choice = None if job.outcome is None else _CHOICE.validate_python(job.outcome)
    error = "It was cancelled." if job.state == "cancelled" else job.error
    asked = _ASKED.validate_python(dict(job.parameters))
    return StrategyRun(asked, job.doing, job.done, job.total, not job.is_under_way, choice, error)


@job_kind(
    STRATEGY,
    busy="A strategy is being chosen already. Wait until that is done.",
    is_retried=False,
    fault="No strategy could be chosen: {error}. Nothing was changed.",
)
async def strategy_work(run: JobRun) -> Any:
    """Choose a strategy and return the `StrategyChoice` as JSON."""
    asked = _ASKED.validate_python(dict(run.parameters))
    async with aclosing(_stream_choice(run.kb, run.principal, asked)) as events:
        async for event in events:
            if isinstance(event, Finished):
                return convert_to_json(event.data)
            run.tell(event["done"], event["total"], event["name"])
    return None


async def _stream_choice(
    kb: KnowledgeBase, principal: Principal, asked: StrategyQuestion
) -> AsyncGenerator[Event | Finished[StrategyChoice]]:
    queries, qrels = await _load_questions(kb, principal, asked)
    profile = await get_profile(kb.profiles, asked.profile or kb.settings.profile)
    corpus = await kb.load()

    def do_work(tell: HandOver[Event | StrategyReport]) -> None:
        from argot.evaluate.strategy_suite import SearchSetting, evaluate_strategies

        def progress(step: str, done: int, total: int) -> None:
            tell({"kind": "progress", "name": step, "done": done, "total": total})

        searched = SearchSetting(corpus, principal, profile)
        tell(evaluate_strategies(searched, asked.data, queries, qrels, str, asked.measure, progress))

    async with aclosing(progress_events(do_work)) as items:
        async for item in items:
            if isinstance(item, dict):
                yield item
            else:
                yield Finished(_build_choice(asked, profile.name, item))


async def _load_questions(
    kb: KnowledgeBase, principal: Principal, asked: StrategyQuestion
) -> tuple[dict[str, str], Qrels]:
    """Return the questions by the ids of their pairs, and the passage that each should find."""
    from argot.measures import ALL_MEASURES

    sets = require_question_sets()
    if asked.measure not in ALL_MEASURES:
        raise InvalidInput(f"There is no measure '{asked.measure}'. Measures: {', '.join(ALL_MEASURES)}.")
    if asked.name:
        await kb.blocking(kb.profiles.require_free, asked.name)
    found = await kb.blocking(sets.load_questions, kb, principal, asked.data, asked.part)
    there = await kb.blocking(kb.document_store.passages, principal, [one.passage_id for one in found])
    if not (kept := [one for one in found if one.passage_id in there]):
        raise InvalidInput(
            f"The {asked.part} part of '{asked.data}' has no question whose passage is in the documents. Those that"
            f" are a sentence of it do not count. See: {sets.command} {asked.data} --part {asked.part}"
        )
    return {one.id: one.question for one in kept}, {one.id: {one.passage_id: 1} for one in kept}


def _build_choice(asked: StrategyQuestion, profile: str, report: StrategyReport) -> StrategyChoice:
    rows = [
        StrategyTried(one.name, one.mean, one.interval95, one.to_present.difference, one.to_present.interval95)
        for one in report.rows
    ]
    return StrategyChoice(
        data=asked.data,
        part=asked.part,
        measure=report.measure,
        profile=profile,
        questions=report.questions,
        tried=report.tried,
        present=report.present,
        best=report.best,
        chosen=report.chosen,
        better=report.better,
        switches=report.switches,
        rows=rows,
    )
