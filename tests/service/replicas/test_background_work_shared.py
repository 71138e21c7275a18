"""Tests of background work with two services on one PostgreSQL: known at both services and done once."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import pytest_asyncio
from chroma_server import ChromaRun
from postgresql_server import PostgresqlServer
from tiny_base import TINY_DOCUMENTS

from argot.errors import Conflict
from argot.evaluate.usecases.search_strategies import StrategyQuestion, strategy_run, strategy_start
from argot.learn.store.pair_store import PairStore
from argot.learn.usecases.learning_data import data_import, data_list
from argot.learn.usecases.learning_data_making import data_start, data_stop
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations.background_derivation import put_due
from argot.service.operations.job_work import work_here
from argot.service.usecases import catalogue
from argot.service.usecases.documents.automatic_derivation import derivation_status
from argot.service.usecases.documents.sources import source_add, source_progress, source_sync_start
from argot.service.usecases.documents.uploads import upload
from argot.service.usecases.glossary.mining import glossary_mine_start, glossary_mine_stop, glossary_mined
from argot.service.usecases.operations.job_queue import job_cancel, job_list
from argot.service.usecases.operations.queued_work import stop_job
from argot.service.usecases.questions.conversations import search
from argot.settings import Settings
from argot.work.job_kinds import KINDS
from argot.work.job_types import JobRun

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOCAL = make_local_principal()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def services(
    postgresql_server: PostgresqlServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[KnowledgeBase, KnowledgeBase]]:
    folder = tmp_path_factory.mktemp("services")
    with postgresql_server.database() as url, ChromaRun(folder) as chroma:

        def settings(name: str) -> Settings:
            # Nothing listens at this address, because no test reaches a call of the model.
            model = "http://127.0.0.1:9/v1"
            return Settings(home=folder / name, store=url, chroma_url=chroma.url, model_url=model, stop_seconds=0)

        synced = folder / "synced"
        synced.mkdir()
        for name, text in TINY_DOCUMENTS.items():
            (folder / name).write_text(text)
        one, other = settings("one"), settings("other")
        async with KnowledgeBase.open(one.home, one, create=True) as first:
            paths: list[Any] = [str(folder / name) for name in TINY_DOCUMENTS]
            await catalogue.get_result(first, LOCAL, "add", paths=paths)
            async with KnowledgeBase.open(other.home, other, create=True) as second:
                await import_questions(first)
                await source_add(first, LOCAL, address=str(synced), name="docs")
                yield first, second


async def import_questions(kb: KnowledgeBase) -> None:
    found = (await search(kb, LOCAL, query="What does a late tariff filing cost?")).passages
    pairs = [
        {"question": f"Which {number} words are these?", "passage_id": passage.passage_id, "passage": passage.text,
         "document": passage.document, "kind": "k", "part": "validation"}
        for number, passage in enumerate(found * 10)
    ]  # fmt: skip
    await data_import(kb, LOCAL, name="numbers", text="\n".join(map(json.dumps, pairs)))


async def test_mining_begun_at_one_replica_is_visible_at_the_other(
    services: tuple[KnowledgeBase, KnowledgeBase],
) -> None:
    one, other = services
    await glossary_mine_start(one, LOCAL)
    assert (await glossary_mined(other, LOCAL)).state != "idle"


async def test_a_set_being_made_at_one_replica_is_refused_at_the_other(
    services: tuple[KnowledgeBase, KnowledgeBase], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = services
    storing, go_on = asyncio.Event(), asyncio.Event()
    loop, add = asyncio.get_running_loop(), one.open_store(PairStore).add

    def add_later(*args: Any, **given: Any) -> Any:
        loop.call_soon_threadsafe(storing.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(300)
        return add(*args, **given)

    monkeypatch.setattr(one.open_store(PairStore), "add", add_later)
    await data_start(one, LOCAL, name="made")
    await asyncio.wait_for(storing.wait(), 300)
    try:
        with pytest.raises(Conflict):
            await data_start(other, LOCAL, name="made")
    finally:
        go_on.set()


async def test_a_choice_of_strategy_begun_at_one_replica_is_visible_at_the_other(
    services: tuple[KnowledgeBase, KnowledgeBase],
) -> None:
    one, other = services
    await strategy_start(one, LOCAL, asked=StrategyQuestion(data="numbers"))
    assert await strategy_run(other, LOCAL) is not None


# -- each kind of work ------------------------------------------------------------------------------------------------


Begin = Callable[[KnowledgeBase], Awaitable[Any]]


@dataclass
class Case:
    """A kind of work. `is_busy` says what a service reports of it; `joins` says that a second one is not refused."""

    kind: str
    begin: Begin
    is_busy: Callable[[KnowledgeBase], Awaitable[bool]]
    stop: Begin
    joins: bool = False


@dataclass
class HeldWork:
    """Work of a kind that begins and ends only when it is stopped."""

    runs: list[JobRun] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def work(self, run: JobRun) -> Any:
        self.runs.append(run)
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()


async def is_mining(kb: KnowledgeBase) -> bool:
    return (await glossary_mined(kb, LOCAL)).state == "running"


async def is_made(kb: KnowledgeBase) -> bool:
    return [one.status for one in await data_list(kb, LOCAL) if one.name == "held"] == ["making"]


async def is_chosen(kb: KnowledgeBase) -> bool:
    found = await strategy_run(kb, LOCAL)
    return found is not None and not found.ended


async def is_synced(kb: KnowledgeBase) -> bool:
    return [one.source for one in await source_progress(kb, LOCAL)] == ["docs"]


async def is_derived(kb: KnowledgeBase) -> bool:
    return "being derived" in (await derivation_status(kb, LOCAL)).counts


def is_listed(kind: str) -> Callable[[KnowledgeBase], Awaitable[bool]]:
    async def is_busy(kb: KnowledgeBase) -> bool:
        return [one.state for one in await job_list(kb, LOCAL, kind=kind) if one.state == "running"] == ["running"]

    return is_busy


def cancel_all(kind: str) -> Begin:
    async def stop(kb: KnowledgeBase) -> None:
        for one in await job_list(kb, LOCAL, kind=kind):
            if one.state in ("waiting", "running"):
                await job_cancel(kb, LOCAL, job=one.id)

    return stop


def call(name: str, **given: Any) -> Begin:
    return lambda kb: catalogue.get_result(kb, LOCAL, name, **given)


CASES = [
    Case("mine", lambda kb: glossary_mine_start(kb, LOCAL), is_mining, lambda kb: glossary_mine_stop(kb, LOCAL), True),
    Case("pairs", lambda kb: data_start(kb, LOCAL, name="held"), is_made, lambda kb: data_stop(kb, LOCAL, name="held")),
    Case(
        "strategy",
        lambda kb: strategy_start(kb, LOCAL, asked=StrategyQuestion(data="numbers")),
        is_chosen,
        cancel_all("strategy"),
    ),
    Case("sync", lambda kb: source_sync_start(kb, LOCAL, name="docs"), is_synced, cancel_all("sync")),
    Case("derive", put_due, is_derived, cancel_all("derive"), joins=True),
    Case("reindex", call("reindex"), is_listed("reindex"), cancel_all("reindex")),
    Case(
        "derive_documents",
        call("derive", kinds=["question"]),
        is_listed("derive_documents"),
        cancel_all("derive_documents"),
    ),
]
"""Not `adopt`: services that share their stores adopt no model."""


@pytest_asyncio.fixture(loop_scope="module")
async def working(services: tuple[KnowledgeBase, KnowledgeBase]) -> AsyncIterator[None]:
    """Let the first service run jobs, as `argot serve` does."""
    for job in await services[0].jobs.list_jobs():
        if job.is_under_way:
            await stop_job(services[0].jobs, job.id)
    task = asyncio.create_task(work_here(services[0]))
    while not await services[0].jobs.has_workers("sync"):  # noqa: ASYNC110  the queue tells nobody of it
        await asyncio.sleep(0.05)
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.usefixtures("working")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
async def test_each_kind_of_work_runs_once_and_can_be_stopped_from_the_other_replica(
    services: tuple[KnowledgeBase, KnowledgeBase], monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    (one, other), held = services, HeldWork()
    monkeypatch.setitem(KINDS, case.kind, replace(KINDS[case.kind], work=held.work))
    begun = asyncio.ensure_future(case.begin(one))
    async with asyncio.timeout(120):
        await held.began.wait()
        if case.joins:
            await begun
    jobs = {job.id for job in await other.jobs.list_jobs(case.kind) if job.is_under_way}
    assert jobs and held.runs[0].kb is one and await case.is_busy(one) and await case.is_busy(other)
    if case.joins:
        await case.begin(other)
    else:
        with pytest.raises(Conflict):
            await case.begin(other)
    assert {job.id for job in await one.jobs.list_jobs(case.kind) if job.is_under_way} == jobs
    async with asyncio.timeout(120):
        await case.stop(other)
        await held.stopped.wait()
        for number in jobs:
            assert [job.state async for job in one.jobs.follow(number)][-1] == "cancelled"
    assert len(held.runs) <= len(jobs) and not await case.is_busy(one) and not await case.is_busy(other)
    await asyncio.gather(begun, return_exceptions=True)


@pytest.mark.usefixtures("working")
async def test_an_upload_to_one_replica_is_visible_and_stopped_at_the_other(
    services: tuple[KnowledgeBase, KnowledgeBase], monkeypatch: pytest.MonkeyPatch
) -> None:
    (one, other), held = services, HeldWork()
    monkeypatch.setitem(KINDS, "upload", replace(KINDS["upload"], work=held.work))
    sending = asyncio.create_task(upload(one, LOCAL, name="pump.md", data=b"# Pump"))
    async with asyncio.timeout(120):
        await held.began.wait()
        assert await is_listed("upload")(other)
        await cancel_all("upload")(other)
        with pytest.raises(Conflict, match="was cancelled"):
            await sending
        await held.stopped.wait()
