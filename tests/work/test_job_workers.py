"""Tests of `argot work` on PostgreSQL: real processes that are killed, stopped or cut off from the server."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from chroma_server import ChromaRun
from job_workers import Working
from postgresql_server import MISSING, PostgresqlServer, programs, running
from serving import run

from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.job_check import check_jobs
from argot.service.operations.job_work import parse_kinds
from argot.service.usecases.documents.documents import list_documents
from argot.service.usecases.documents.sources import source_add, source_list, source_progress, source_sync_start
from argot.service.usecases.documents.uploads import upload
from argot.service.usecases.operations.job_queue import job_cancel, job_retry
from argot.settings import Settings
from argot.work.job_types import JobRecord, JobRequest

ME = make_local_principal()
LOST = 2.0
FILES = 150


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    """Provide a PostgreSQL server for this file only, because it is restarted."""
    if programs() is None:
        pytest.skip(MISSING)
    with tempfile.TemporaryDirectory(prefix="argot-jobs-") as folder:
        Path(folder).chmod(0o755)
        with running(Path(folder) / "server") as started:
            yield started


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaRun]:
    with ChromaRun(tmp_path_factory.mktemp("chroma")) as started:
        yield started


@pytest.fixture
def given(server: PostgresqlServer, chroma: ChromaRun) -> Iterator[dict[str, Any]]:
    """Provide the settings that all processes of a test share."""
    with server.database() as url:
        yield {
            "store": url,
            "chroma_url": chroma.url,
            "job_lost_seconds": LOST,
            "job_retry_seconds": 0.05,
            "stop_seconds": 0,
            "threads": 1,
        }


@pytest.fixture
async def kb(tmp_path: Path, given: dict[str, Any]) -> AsyncIterator[KnowledgeBase]:
    """Provide the process that submits jobs and runs none."""
    home = tmp_path / "asking"
    async with KnowledgeBase.open(home, Settings(home=home, **given), create=True) as opened:
        yield opened


Worker = Callable[..., Working]


@pytest.fixture
def worker(kb: KnowledgeBase, tmp_path: Path, given: dict[str, Any]) -> Iterator[Worker]:
    """Provide a function that starts `argot work` on the same stores, as on another machine."""
    variables = {f"ARGOT_{name.upper()}": str(value) for name, value in given.items()}
    with ExitStack() as stack:
        started: list[Working] = []

        def start(*options: str) -> Working:
            started.append(Working(tmp_path / f"work{len(started)}", *options, **variables))
            return stack.enter_context(started[-1])

        yield start


async def there(path: Path) -> None:
    while not path.exists():  # noqa: ASYNC110, ASYNC240  another process makes it
        await asyncio.sleep(0.05)


async def ended(kb: KnowledgeBase, number: int) -> JobRecord:
    return [job async for job in kb.jobs.follow(number)][-1]


async def until(kb: KnowledgeBase, number: int, state: str) -> JobRecord:
    async for job in kb.jobs.follow(number):
        if job.state == state:
            return job
    raise AssertionError(f"job {number} ended: {job}")


def logging_job(path: Path, number: int, key: str = "", *, until: str = "/") -> JobRequest:
    given = {"path": str(path), "number": number, "until": until}
    return JobRequest("log", ME, given, label=f"log {number}", key=key)


def folder_of(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"a{number}.md").write_text(f"# Anvil {number}\n\nAnvil {number} weighs {90 + number} kilos.\n")
    return folder


async def test_a_worker_on_another_machine_adds_an_uploaded_file(kb: KnowledgeBase, worker: Worker) -> None:
    at_work = worker("--kinds", "upload,fetch")
    while not await kb.jobs.has_workers("upload"):  # noqa: ASYNC110  it is another process
        await asyncio.sleep(0.05)
    came = await upload(kb, ME, name="anvil.md", data=b"# Anvil\n\nIt weighs 95 kilos.\n", tags=["iron"])
    assert came.kind == "added" and came.document is not None and came.document.tags == ("iron",)
    again = await upload(kb, ME, name="anvil.md", data=b"# Anvil\n\nIt weighs 95 kilos.\n")
    assert again.kind == "unchanged" and [one.id for one in await list_documents(kb, ME)] == [came.document.id]
    first, second = sorted(await kb.jobs.list_jobs("upload"), key=lambda job: job.id)
    assert (first.state, first.label, first.asked_by) == ("done", "anvil.md", ME.name)
    assert first.worker.endswith(f":{at_work.process.pid}") and second.state == "done"
    with pytest.raises(Exception, match=r"broken\.pdf was not added"):
        await upload(kb, ME, name="broken.pdf", data=b"%PDF-1.7 and no more")
    assert (await kb.jobs.list_jobs("upload"))[0].state == "failed"
    assert at_work.stop() == 0 and not await kb.jobs.has_workers("upload")


async def test_another_worker_continues_the_job_of_a_killed_worker(
    kb: KnowledgeBase, worker: Worker, tmp_path: Path
) -> None:
    first = worker()
    await source_add(kb, ME, address=str(folder_of(tmp_path)), every="6h")
    await source_sync_start(kb, ME, name="docs")
    (job,) = await kb.jobs.list_jobs("sync")
    # The first progress report comes at once, while many documents are still to come.
    while not job.done:
        assert job.is_under_way
        await asyncio.sleep(0.01)
        job = await kb.jobs.job(job.id)
    assert [one.source for one in await source_progress(kb, ME)] == ["docs"]
    await asyncio.to_thread(first.kill)
    second = worker()
    done = await ended(kb, job.id)
    assert done.state == "done" and done.tries == 2 and done.worker.endswith(f":{second.process.pid}")
    assert sorted(one.name for one in await list_documents(kb, ME)) == sorted(f"a{n}.md" for n in range(FILES))
    (source,) = await source_list(kb, ME)
    assert (source.state, source.documents, source.failed) == ("synced", FILES, 0)


async def test_a_job_that_kills_its_workers_is_set_aside_after_three_tries(
    kb: KnowledgeBase, worker: Worker, given: dict[str, Any], tmp_path: Path
) -> None:
    job = await kb.jobs.submit(JobRequest("poison", ME, label="of arsenic", key="poison"))
    for _ in range(3):
        assert worker("--kinds", "poison").ended() == -9
    worker("--kinds", "log")
    aside = await ended(kb, job.id)
    assert aside.state == "aside" and aside.tries == 3 and "ended while it was at it" in aside.error
    (found,) = [one for one in await check_jobs(kb.jobs) if not one["ok"]]
    assert found["name"] == f"job {job.id}" and "of arsenic" in found["detail"]
    assert found["remedy"] == f"argot jobs retry {job.id}"
    variables = {f"ARGOT_{name.upper()}": str(value) for name, value in given.items()}
    command = ["--home", str(tmp_path / "looking")]
    listed = json.loads(await asyncio.to_thread(_said, "jobs", "--json", *command, **variables))
    assert [(one["state"], one["tries"]) for one in listed] == [("aside", 3)]
    assert (await job_retry(kb, ME, job=job.id)).state == "waiting"
    assert (await job_cancel(kb, ME, job=job.id)).state == "cancelled"


def _said(*arguments: str, **variables: str) -> str:
    done = run(*arguments, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_two_workers_never_do_the_same_job(kb: KnowledgeBase, worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "log"
    worker("--kinds", "log"), worker("--kinds", "log")
    jobs = [await kb.jobs.submit(logging_job(path, number)) for number in range(30)]
    assert {(await ended(kb, job.id)).state for job in jobs} == {"done"}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(number for what, number, _ in lines if what == "begin") == list(range(30))
    assert len({pid for _, _, pid in lines}) == 2


async def test_no_other_worker_takes_the_job_of_a_paused_worker(
    kb: KnowledgeBase, worker: Worker, tmp_path: Path
) -> None:
    path, gate = tmp_path / "log", tmp_path / "gate"
    first = worker("--kinds", "log")
    job = await kb.jobs.submit(logging_job(path, 1, "key", until=str(gate)))
    await until(kb, job.id, "running")
    await there(path)
    first.process.send_signal(19)  # SIGSTOP: its heartbeat lapses, and its lock is still held
    worker("--kinds", "log")
    while "Another process" not in (seen := await kb.jobs.job(job.id)).error:
        assert seen.is_under_way
        await asyncio.sleep(0.05)
    assert path.read_text().count("begin") == 1
    gate.touch()
    first.process.send_signal(18)
    assert (await ended(kb, job.id)).state == "done"


async def test_a_job_continues_after_a_restart_of_postgresql(
    kb: KnowledgeBase, worker: Worker, server: PostgresqlServer, tmp_path: Path
) -> None:
    path, gate = tmp_path / "log", tmp_path / "gate"
    at_work = worker()
    job = await kb.jobs.submit(logging_job(path, 1, until=str(gate)))
    await there(path)
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
    gate.touch()
    assert (await ended(kb, job.id)).state == "done"
    # The same worker takes the next job.
    again = await kb.jobs.submit(logging_job(path, 2))
    assert (await ended(kb, again.id)).outcome == at_work.process.pid


async def test_a_stopped_worker_returns_its_job_to_the_queue(kb: KnowledgeBase, worker: Worker, tmp_path: Path) -> None:
    path, gate = tmp_path / "log", tmp_path / "gate"
    first = worker("--kinds", "log")
    job = await kb.jobs.submit(logging_job(path, 1, until=str(gate)))
    await there(path)
    assert await asyncio.to_thread(first.stop) == 0
    given_back = await kb.jobs.job(job.id)
    assert given_back.state == "waiting" and given_back.tries == 0 and "was stopped" in given_back.error
    gate.touch()
    worker("--kinds", "log")
    assert (await ended(kb, job.id)).state == "done"


def test_the_work_command_names_the_settings_it_needs(tmp_path: Path) -> None:
    done = run("work", "--home", str(tmp_path / "kb"))
    assert done.returncode and "ARGOT_STORE=postgresql://" in done.stderr and "ARGOT_CHROMA_URL" in done.stderr
    known = {"ARGOT_STORE": "postgresql://nobody@127.0.0.1:9/x", "ARGOT_CHROMA_URL": "http://127.0.0.1:9"}
    done = run("work", "--kinds", "sing", "--home", str(tmp_path / "kb"), **known)
    assert done.returncode and "'sing' is not a kind of job. Kinds: " in done.stderr


def test_a_worker_without_a_model_server_takes_no_job_that_needs_one() -> None:
    alone, with_model = (parse_kinds("", Settings(model_url=url)) for url in ("", "http://127.0.0.1:1/v1"))
    assert set(with_model) - set(alone) == {"derive", "derive_documents", "pairs"} and {"sync", "mine"} <= set(alone)
    assert parse_kinds("pairs, sync", Settings()) == ["pairs", "sync"]
