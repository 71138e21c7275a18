"""Tests of all implementations of `Jobs`: in this process, and a queue on PostgreSQL with a worker."""

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from argot.errors import Conflict, InvalidInput, ModelUnavailable, NotFound
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.work.job_kinds import KINDS, job_kind
from argot.work.job_types import JobRecord, JobRequest, JobRun, Jobs, PutOff
from argot.work.local_jobs import LocalJobs

ME = make_local_principal()
BUSY = "'{label}' is at work."


class Scripted:
    """Jobs of the kinds `scripted` and `scripted_long`, with the outcome of each try given by the job's label."""

    def __init__(self) -> None:
        self.runs: list[JobRun] = []
        self.fails: list[Exception] = []
        self.gate: asyncio.Event | None = None
        self.began = asyncio.Event()
        self.stopped = False
        self.at_once = self.most_at_once = 0

    async def work(self, run: JobRun) -> Any:
        self.runs.append(run)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            run.tell(1, 3, "first")
            self.began.set()
            if self.gate is not None:
                await self.gate.wait()
            if self.fails:
                raise self.fails.pop(0)
        except asyncio.CancelledError:
            self.stopped = True
            raise
        finally:
            self.at_once -= 1
        return {"data": (run.data or b"").decode(), **run.parameters}


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    script = Scripted()
    job_kind("scripted", busy=BUSY, lane="awaited")(script.work)
    job_kind("scripted_long", busy=BUSY)(script.work)
    job_kind("scripted_once", busy=BUSY, is_retried=False)(script.work)
    yield script
    del KINDS["scripted"], KINDS["scripted_long"], KINDS["scripted_once"]


@pytest.fixture
async def kb(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(tmp_path / "kb", Settings(), create=True) as opened:
        yield opened


@pytest.fixture(params=["here", "queue"])
async def jobs(request: pytest.FixtureRequest, kb: KnowledgeBase, scripted: Scripted) -> AsyncIterator[Jobs]:
    local = LocalJobs(kb, 0.01)
    if request.param == "here":
        yield local
        await local.close()
        return
    from argot.postgresql.locks import SessionLocks
    from argot.postgresql.stores import PostgresqlStores
    from argot.work.queue_jobs import QueueJobs
    from argot.work.queue_store import QueueStore
    from argot.work.queue_worker import QueueWorker, WorkerLimits

    server = request.getfixturevalue("postgresql_server")
    stores = PostgresqlStores(server.url("postgres"), f"t{secrets.token_hex(8)}")
    locks = SessionLocks(stores)
    limits = WorkerLimits(jobs=3, stop_seconds=0, lost_after=30, first_wait=0.01, poll_seconds=0.1)

    async def work_on(jobs: QueueJobs, kind: str) -> None:
        await QueueWorker(kb, jobs, [kind], limits, name=kind).run()

    queue = QueueJobs(QueueStore(stores), local, locks, 30, work_on)
    working = asyncio.create_task(QueueWorker(kb, queue, ["scripted", "scripted_long"], limits).run())
    yield queue
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working
    await queue.close()
    stores.close()


async def ended(jobs: Jobs, number: int) -> JobRecord:
    seen = [job async for job in jobs.follow(number)]
    return seen[-1]


def wanted(label: str = "one", **more: Any) -> JobRequest:
    return JobRequest(**{"kind": "scripted", "by": ME, "label": label, **more})


async def test_a_job_runs_with_its_parameters_and_data(jobs: Jobs, scripted: Scripted) -> None:
    put = await jobs.submit(wanted(parameters={"name": "Grüße \x00"}, data=b"bytes"))
    assert put.kind == "scripted" and put.label == "one" and put.asked_by == ME.name and put.put_at
    job = await ended(jobs, put.id)
    assert job.state == "done" and job.outcome == {"data": "bytes", "name": "Grüße \x00"} and job.tries == 1
    assert job.started_at and job.ended_at and not job.error and (job.done, job.total) in ((1, 3), (0, 0))
    (listed,) = await jobs.list_jobs()
    assert listed.id == put.id and listed.outcome is None
    assert scripted.runs[0].principal == ME and scripted.runs[0].kb is not None
    assert await jobs.list_jobs("another") == []
    with pytest.raises(NotFound, match="no job 999999"):
        await jobs.job(999_999)


async def test_only_one_job_of_a_key_runs_at_a_time(jobs: Jobs, scripted: Scripted) -> None:
    scripted.gate = asyncio.Event()
    first = await jobs.submit(wanted("docs", key="sync:docs"))
    with pytest.raises(Conflict, match="'docs' is at work"):
        await jobs.submit(wanted("docs", key="sync:docs"))
    await scripted.began.wait()
    with pytest.raises(Conflict, match="'docs' is at work"):
        await jobs.submit(wanted("docs", key="sync:docs"))
    with pytest.raises(Conflict, match="'docs' is at work"):
        async with jobs.run_here(wanted("docs", key="sync:docs")):
            raise AssertionError("it is under way elsewhere")
    other = await jobs.submit(wanted("other", key="sync:other"))
    scripted.gate.set()
    assert (await ended(jobs, first.id)).state == "done" and (await ended(jobs, other.id)).state == "done"
    async with jobs.run_here(wanted("docs", key="sync:docs")) as tell:
        tell(2, 5, "a.md")
        (running,) = [job for job in await jobs.list_jobs() if job.is_under_way]
        assert (running.state, running.done, running.total, running.doing) == ("running", 2, 5, "a.md")
    assert not [job for job in await jobs.list_jobs() if job.is_under_way]


async def test_concurrent_submissions_with_one_key_create_one_job(jobs: Jobs, scripted: Scripted) -> None:
    scripted.gate = asyncio.Event()
    puts = [jobs.submit(wanted("docs", key="sync:docs")) for _ in range(8)]
    came = await asyncio.gather(*puts, return_exceptions=True)
    assert [isinstance(one, JobRecord) for one in came].count(True) == 1
    scripted.gate.set()


async def test_the_progress_of_a_running_job_is_visible(jobs: Jobs, scripted: Scripted) -> None:
    scripted.gate = asyncio.Event()
    put = await jobs.submit(wanted())
    async for job in jobs.follow(put.id):
        if job.total and not scripted.gate.is_set():
            assert (job.state, job.done, job.total, job.doing) == ("running", 1, 3, "first") and job.worker
            scripted.gate.set()
    assert job.state == "done"


async def test_a_job_with_invalid_input_fails_at_once(jobs: Jobs, scripted: Scripted) -> None:
    scripted.fails = [InvalidInput("plan.pdf was not added: it is encrypted.")]
    job = await ended(jobs, (await jobs.submit(wanted(data=b"x"))).id)
    assert job.state == "failed" and job.tries == 1 and job.error_kind == "InvalidInput"
    assert job.error == "plan.pdf was not added: it is encrypted."


async def test_a_failing_job_is_tried_three_times_and_then_set_aside(jobs: Jobs, scripted: Scripted) -> None:
    scripted.fails = [RuntimeError(f"poison {n}") for n in range(3)]
    job = await ended(jobs, (await jobs.submit(wanted("bad", key="k", data=b"kept"))).id)
    assert job.state == "aside" and job.tries == 3 and "poison 2" in job.error and len(scripted.runs) == 3
    # Work that only checks what is due does not submit a job again that was set aside.
    assert (await jobs.submit(wanted("bad", key="k"), again=False)).id == job.id and len(scripted.runs) == 3
    back = await jobs.retry(job.id)
    assert back.state in ("waiting", "running", "done")
    done = await ended(jobs, job.id)
    assert done.state == "done" and done.tries == 1 and done.outcome == {"data": "kept"} and not done.error
    with pytest.raises(Conflict, match="is done"):
        await jobs.retry(job.id)


async def test_a_job_without_retries_fails_at_its_first_failure(jobs: Jobs, scripted: Scripted) -> None:
    assert await jobs.find_latest("scripted_once", "k") is None
    scripted.fails = [RuntimeError("poison")]
    begun = await jobs.begin(wanted(kind="scripted_once", key="k"))
    failed = await ended(jobs, begun.id)
    assert (failed.state, failed.tries, len(scripted.runs)) == ("failed", 1, 1) and "poison" in failed.error
    again = await ended(jobs, (await jobs.begin(wanted(kind="scripted_once", key="k", data=b"x"))).id)
    assert again.state == "done" and again == await jobs.find_latest("scripted_once", "k")


async def test_a_fault_is_reported_in_the_words_of_its_job_kind(jobs: Jobs, scripted: Scripted) -> None:
    job_kind("scripted_once", busy=BUSY, is_retried=False, fault="It broke: {error}.")(scripted.work)
    scripted.fails = [RuntimeError("poison"), InvalidInput("It is encrypted.")]
    for error in ("It broke: poison.", "It is encrypted."):
        failed = await ended(jobs, (await jobs.begin(wanted(kind="scripted_once"))).id)
        assert (failed.state, failed.error) == ("failed", error)


async def test_only_one_task_at_a_time_has_the_turn(jobs: Jobs) -> None:
    noted: list[int] = []

    async def take(number: int) -> None:
        async with jobs.turn("mining"):
            noted.append(number)
            await asyncio.sleep(0.05)
            noted.append(number)

    await asyncio.gather(*(take(number) for number in range(3)))
    assert sorted(noted) == [0, 0, 1, 1, 2, 2] and noted[::2] == noted[1::2]


async def test_submitting_a_job_that_was_set_aside_creates_a_new_one(jobs: Jobs, scripted: Scripted) -> None:
    scripted.fails = [RuntimeError("poison")] * 3
    aside = await ended(jobs, (await jobs.submit(wanted(key="k"))).id)
    new = await jobs.submit(wanted(key="k"))
    assert aside.state == "aside" and new.id != aside.id and (await ended(jobs, new.id)).state == "done"
    with pytest.raises(NotFound):
        await jobs.job(aside.id)


async def test_a_postponed_job_does_not_count_as_a_try(jobs: Jobs, scripted: Scripted) -> None:
    scripted.fails = [PutOff("The server rests.", 0.0), *[ModelUnavailable("No model.")] * 3]
    job = await ended(jobs, (await jobs.submit(wanted())).id)
    assert job.state == "done" and job.tries == 1 and len(scripted.runs) == 5


async def test_a_running_job_can_be_cancelled_and_retried(jobs: Jobs, scripted: Scripted) -> None:
    scripted.gate = asyncio.Event()
    put = await jobs.submit(wanted(key="k", data=b"again"))
    await scripted.began.wait()
    await jobs.cancel(put.id)
    job = await ended(jobs, put.id)
    assert job.state == "cancelled" and scripted.stopped and job.ended_at
    with pytest.raises(Conflict, match="is cancelled"):
        await jobs.cancel(put.id)
    scripted.gate.set()
    await jobs.retry(put.id)
    assert (await ended(jobs, put.id)).outcome == {"data": "again"}


async def test_a_job_is_not_retried_while_another_of_its_key_runs(jobs: Jobs, scripted: Scripted) -> None:
    scripted.fails = [InvalidInput("no")]
    failed = await ended(jobs, (await jobs.submit(wanted("docs", key="k"))).id)
    scripted.gate = asyncio.Event()
    new = await jobs.submit(wanted("docs", key="k"))
    with pytest.raises(Conflict):
        await jobs.retry(failed.id)
    scripted.gate.set()
    assert (await ended(jobs, new.id)).state == "done"


async def test_erasing_a_user_removes_their_jobs(jobs: Jobs, scripted: Scripted) -> None:
    job = await ended(jobs, (await jobs.submit(wanted("of mine"))).id)
    await jobs.forget("somebody else")
    assert [one.id for one in await jobs.list_jobs()] == [job.id]
    await jobs.forget(ME.name)
    assert await jobs.list_jobs() == []


async def test_long_jobs_do_not_delay_other_jobs(jobs: Jobs, scripted: Scripted) -> None:
    scripted.gate = asyncio.Event()
    long = [await jobs.submit(wanted(kind="scripted_long")) for _ in range(5)]
    await scripted.began.wait()
    scripted.began.clear()
    awaited = await jobs.submit(wanted())
    async for job in jobs.follow(awaited.id):
        if job.state == "running":
            scripted.gate.set()
    assert {(await ended(jobs, one.id)).state for one in long} == {"done"}


# -- a stop while a thread writes to the queue ------------------------------------------------------------------------


class HeldWrite:
    """Method of the queue's store whose next call waits in its thread until the test lets it go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        from argot.work.queue_store import QueueStore

        self.began, self.go_on, self.ended = threading.Event(), threading.Event(), threading.Event()
        write = getattr(QueueStore, name)

        def wait_and_write(*given: Any) -> None:
            self.began.set()
            assert self.go_on.wait(60)
            write(*given)
            self.ended.set()

        monkeypatch.setattr(QueueStore, name, wait_and_write)

    async def wait_for(self, moment: threading.Event) -> None:
        assert await asyncio.to_thread(moment.wait, 60)

    def go_on_soon(self) -> None:
        """Let the write go on once all tasks of the loop have had their turn."""
        asyncio.get_running_loop().call_later(0.2, self.go_on.set)


@pytest.mark.parametrize("jobs", ["queue"], indirect=True)
async def test_a_stopped_worker_is_not_counted_after_a_late_heartbeat(
    jobs: Any, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from argot.work.queue_worker import QueueWorker, WorkerLimits

    heartbeat = HeldWrite(monkeypatch, "note_worker")
    limits = WorkerLimits(jobs=1, stop_seconds=0, lost_after=30, first_wait=0.01, poll_seconds=0.1)
    working = asyncio.create_task(QueueWorker(kb, jobs, ["scripted_once"], limits, name="late").run())
    await heartbeat.wait_for(heartbeat.began)
    working.cancel()
    heartbeat.go_on_soon()
    with suppress(asyncio.CancelledError):
        await working
    await heartbeat.wait_for(heartbeat.ended)
    assert "scripted_once" not in {kind for kinds in jobs.store.workers(30).values() for kind in kinds}


@pytest.mark.parametrize("jobs", ["queue"], indirect=True)
async def test_late_progress_does_not_replace_the_outcome_of_a_job(
    jobs: Any, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = HeldWrite(monkeypatch, "tell")
    scripted.gate = asyncio.Event()
    put = await jobs.submit(wanted(parameters={"name": "anvil"}))
    await progress.wait_for(progress.began)
    scripted.gate.set()
    progress.go_on_soon()
    await ended(jobs, put.id)
    await progress.wait_for(progress.ended)
    job = await jobs.job(put.id)
    assert (job.state, job.doing, job.outcome) == ("done", "", {"data": "", "name": "anvil"})
