"""Tests of answer workers: what is reported, stored and counted when other processes answer questions, and what happens
when such a process ends, is stopped or never starts.
"""

import asyncio
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
import pytest_asyncio
from scripted_server import ScriptedServer
from serving import Served, argot

from argot.errors import InvalidInput
from argot.results import AskEvent, AskResult
from argot.service.answering import messages, worker_pool
from argot.service.answering.answer_worker import AnswerWorker
from argot.service.answering.messages import AnswerEvent, EventsTaken, JobEnded, StartAnswer
from argot.service.answering.worker_pool import WorkerPool, count_workers, run_answer_workers
from argot.service.answering.worker_process import WorkerProcess
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.transport.knowledge_base_client import LocalClient
from argot.service.usecases.operations import monitoring
from argot.service.usecases.operations.monitoring import doctor_findings
from argot.service.usecases.people.api_keys import key_add
from argot.service.usecases.people.users import user_add
from argot.service.usecases.questions.conversations import Message, converse, search
from argot.service.usecases.questions.questions import TurnJob, answer, ask, ask_again
from argot.service.usecases.questions.threads import thread_read
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.tracing import begin_trace

QUESTION = "What does a late tariff filing cost?"
PATIENCE = 300.0
"""Seconds; no measure of anything."""


# -- a service with two workers ---------------------------------------------------------------------------------------


@dataclass
class Running:
    served: Served
    model: ScriptedServer
    key: str

    @property
    def workers(self) -> list[int]:
        return children(self.served.process.pid)

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.served.url, headers=headers, timeout=PATIENCE)

    def ask(self, question: str, **more: Any) -> dict[str, Any]:
        with self.client() as client:
            told: dict[str, Any] = client.post("/api/ask", json={"question": question, **more}).json()
        return told

    def turns(self, thread: str) -> list[dict[str, Any]]:
        shown = argot("threads", "show", thread, "--json", "--as", "ann", "--home", self.served.home)
        found: list[dict[str, Any]] = json.loads(shown)["turns"]
        return found


def children(pid: int) -> list[int]:
    """Return the answer workers of a service, found by their command lines."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text("ascii").split()):
            if b"answer_worker" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def until(reached: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, what
        time.sleep(0.05)


@pytest.fixture(scope="module")
def running(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    home = shutil.copytree(tiny_home, tmp_path_factory.mktemp("workers") / "kb")
    with LocalClient(KnowledgeBase.open(home, Settings(home=home))) as client:
        client.call(user_add, name="ann", groups=[])
        key = client.call(key_add, name="test", user="ann").key
    model = ScriptedServer().start()
    model.reply("cited_answer", "A late tariff filing costs 500 dollars a day [1]. That is all there is to say [1].")
    with Served(home, ARGOT_MODEL_URL=model.url, ARGOT_WORKERS="2") as served:
        until(lambda: len(children(served.process.pid)) == 2, "two workers")
        yield Running(served, model, key)
    model.close()


def test_workers_answer_questions_and_their_metrics_are_counted(running: Running) -> None:
    first = running.ask(QUESTION)
    assert first["status"] == "answered" and "500 dollars" in first["answer"]
    assert running.ask("And what of the vault?", thread=first["thread"])["turn"] == 1
    assert running.ask("")["error"]["message"]
    assert running.ask(QUESTION, context="Nowhere")["error"]["message"].startswith("There is no context 'Nowhere'")
    text = argot("metrics", "--home", running.served.home)
    for told in (
        'argot_stage_seconds_count{stage="retrieve"}',
        'argot_model_calls_total{outcome="ok",prompt="cited_answer"}',
        'argot_questions_total{status="answered",surface="api"}',
        "argot_answer_workers_resident_bytes",
    ):
        assert told in text, told


def test_a_document_added_by_a_command_is_found_by_the_workers_at_once(running: Running, tmp_path: Path) -> None:
    (tmp_path / "moths.md").write_text("# Moths\n\nThe Zyzzyva moth of the archive is fed at 17:40 each Friday.\n")
    argot("add", tmp_path / "moths.md", "--home", running.served.home)
    argot("glossary", "add", "ZYM", "Tools", "Zyzzyva moth", "--home", running.served.home)
    found = running.ask("When is the ZYM fed?")
    assert any("17:40" in passage["text"] for passage in found["passages"])
    assert [one["expansion"] for one in found["jargon"]] == ["Zyzzyva moth"]


def test_a_question_survives_the_kill_of_its_worker(running: Running) -> None:
    running.model.fault("pause", prompt="cited_answer", tokens=3)
    killed: list[int] = []
    events: list[str] = []
    asked = {"json": {"question": QUESTION}, "headers": {"Accept": "text/event-stream"}}
    with running.client() as client, client.stream("POST", "/api/ask", **asked) as reply:
        for line in reply.iter_lines():
            if line == "event: token" and not killed:
                killed = running.workers
                for one in killed:
                    os.kill(one, signal.SIGKILL)
                running.model.heal()
            events.append(line)
    told = [line.removeprefix("event: ") for line in events if line.startswith("event: ")]
    assert killed and told[-1] == "result", events[-3:]
    assert "token" in told[told.index("retract") :], "the answer is told anew, from its beginning"
    result = json.loads(events[len(events) - 1 - events[::-1].index("event: result") + 1][6:])
    assert result["status"] == "answered" and "500 dollars" in result["answer"]
    assert [turn["question"] for turn in running.turns(result["thread"])] == [QUESTION]
    until(lambda: len(set(running.workers) - set(killed)) == 2, "two others")
    with running.client() as client:
        assert client.get("/api/me").status_code == 200


def test_a_question_that_ends_two_workers_is_given_up(running: Running) -> None:
    running.model.fault("hang", prompt="cited_answer")
    before = len(running.model.asked("cited_answer"))
    told: list[dict[str, Any]] = []
    asking = threading.Thread(target=lambda: told.append(running.ask(QUESTION)))
    asking.start()
    for attempt in (1, 2):
        assert running.model.wait_until(lambda n=attempt: len(running.model.asked("cited_answer")) >= before + n, 300)
        for one in running.workers:
            os.kill(one, signal.SIGKILL)
    asking.join(PATIENCE)
    running.model.heal()
    assert "given up" in told[0]["error"]["message"]
    assert len(running.model.asked("cited_answer")) == before + 2
    assert running.ask(QUESTION)["status"] == "answered"


def test_a_client_that_disconnects_stops_its_answer(running: Running) -> None:
    running.model.fault("pause", prompt="cited_answer", tokens=3)
    asked = {"json": {"question": QUESTION}, "headers": {"Accept": "text/event-stream"}}
    with running.client() as client, client.stream("POST", "/api/ask", **asked) as reply:
        for line in reply.iter_lines():
            if line == "event: token":
                break
    assert running.model.wait_until(lambda: running.model.asked("cited_answer")[-1].gone, 300)
    running.model.heal()
    assert running.ask(QUESTION)["status"] == "answered"


def test_workers_end_when_the_service_is_stopped_or_killed(running: Running) -> None:
    """Kill the service, so that this is the last test with it."""
    workers = running.workers
    running.served.stop()
    assert not any(Path(f"/proc/{one}").exists() for one in workers)
    running.served.start()
    until(lambda: running.workers, "workers")
    workers = running.workers
    running.served.stop(signal.SIGKILL)
    until(lambda: not any(Path(f"/proc/{one}").exists() for one in workers), "workers without a service end")


# -- in the process of the test ---------------------------------------------------------------------------------------


@asynccontextmanager
async def open_with_worker(home: Path) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(home, Settings(home=home, workers=1)) as opened, run_answer_workers(opened):
        await opened.warm()
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_kb(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[KnowledgeBase]:
    """Provide a knowledge base with one answer worker that tests share; the last of them spoils it."""
    async with open_with_worker(shutil.copytree(tiny_home, tmp_path_factory.mktemp("shared") / "kb")) as opened:
        yield opened


@pytest.fixture
async def idle_kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    """Provide a knowledge base without answer workers."""
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home, workers=0)) as opened:
        yield opened


def pool_of(kb: KnowledgeBase) -> WorkerPool:
    assert isinstance(kb.answers, WorkerPool)
    return kb.answers


@pytest.mark.asyncio(loop_scope="module")
async def test_every_way_of_asking_uses_a_worker(shared_kb: KnowledgeBase) -> None:
    who, pool = make_local_principal(), pool_of(shared_kb)
    back = await get_answer(ask(shared_kb, who, question="What does the PUC do?", switches={"sense_margin": 1.0}))
    assert back.status == "needs_choice"
    # The next worker knows the question back.
    await kill(pool)
    legal = next(one.answer for one in back.choices if one.context == "Legal")
    chosen = await get_answer(answer(shared_kb, who, thread=back.thread, choice=legal))
    assert chosen.status == "answered" and [one.context for one in chosen.jargon] == ["Legal"]
    again = await get_answer(ask_again(shared_kb, who, thread=back.thread))
    assert again.turn == chosen.turn
    spoken = await get_answer(converse(shared_kb, who, messages=[Message("user", QUESTION)]))
    assert spoken.status == "answered" and not spoken.thread
    assert (await search(shared_kb, who, query=QUESTION)).passages
    with pytest.raises(InvalidInput, match="not a date"):
        await get_answer(ask(shared_kb, who, question=QUESTION, since="yesterday"))


async def kill(pool: WorkerPool) -> None:
    worker = pool._workers[0]
    os.kill(worker.pid, signal.SIGKILL)
    await worker.ended.wait()


@pytest.mark.asyncio(loop_scope="module")
async def test_a_turn_already_stored_is_not_asked_again(shared_kb: KnowledgeBase) -> None:
    """Check a worker that ended after its last step was stored and before the client was told."""
    who = make_local_principal()
    thread = (await (await shared_kb.threads()).start(who.name, QUESTION)).id
    job = TurnJob(who, thread, QUESTION)
    first = [event async for event in shared_kb.answers.events(job)]
    second = [event async for event in shared_kb.answers.events(job)]
    assert [event.kind for event in second] == ["result"]
    assert isinstance(first[-1].data, AskResult) and isinstance(second[-1].data, AskResult)
    assert second[-1].data.answer == first[-1].data.answer
    assert len((await thread_read(shared_kb, who, thread=thread)).turns) == 1


@pytest.mark.asyncio(loop_scope="module")
async def test_doctor_lists_the_answer_workers(shared_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitoring, "check_process", lambda settings: [])
    (found,) = await doctor_findings(shared_kb, make_local_principal())
    assert f"1 of 1 answer workers: {pool_of(shared_kb)._workers[0].pid} (" in found["detail"]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_trace_contains_the_steps_of_the_worker(shared_kb: KnowledgeBase) -> None:
    trace = begin_trace(contents=False)
    await get_answer(ask(shared_kb, make_local_principal(), question=QUESTION))
    steps = trace.close()
    assert {"retrieve", "generate_answer"} <= {step.name for step in steps if step.kind == "stage"}
    search = next(step for step in steps if step.kind == "search")
    assert search.parent is not None and steps[search.parent].kind == "stage"


@pytest.mark.asyncio(loop_scope="module")
async def test_changed_models_are_in_force_after_the_workers_are_renewed(shared_kb: KnowledgeBase) -> None:
    kb, pool, who = shared_kb, pool_of(shared_kb), make_local_principal()
    worker = pool._workers[0]
    await kb.answers.renew(kb.settings.replace(reranker="lexical"))
    assert worker.ready and (await get_answer(ask(kb, who, question=QUESTION))).status == "answered"
    # A worker that cannot load its models is replaced; its successor starts with the latest settings.
    await kb.answers.renew(kb.settings.replace(reranker="/nowhere/at/all"))
    assert not worker.ready
    await kb.answers.renew(kb.settings)
    assert (await get_answer(ask(kb, who, question=QUESTION))).status == "answered"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_worker_that_never_starts_is_reported(
    shared_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spoil the knowledge base, so that this is the last test with it."""
    monkeypatch.setattr(worker_pool, "START_SECONDS", 0.1)
    kb, pool = shared_kb, pool_of(shared_kb)
    pool._settings = pool._settings.replace(reranker="/nowhere/at/all")
    await kill(pool)
    with pytest.raises(Exception, match="No process that answers questions is ready"):
        await get_answer(ask(kb, make_local_principal(), question=QUESTION))
    with pytest.raises(Exception, match="No process that answers questions is ready"):
        await kb.require_answering()
    assert "none is ready" in pool.describe()


# -- single classes ---------------------------------------------------------------------------------------------------


class Job:
    """A job of a thousand pieces."""

    async def events(self, kb: object) -> AsyncIterator[AskEvent]:
        for _ in range(1000):
            yield AskEvent("token", "answer", data="x")


class Sent:
    """The worker's end of a connection that records what is sent."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def put(self, message: Any) -> None:
        self.messages.append(message)

    async def send(self, message: Any) -> None:
        self.put(message)
        await asyncio.sleep(0)

    def count(self, kind: type) -> int:
        return sum(isinstance(one, kind) for one in self.messages)


async def test_a_worker_sends_no_more_events_than_its_window_allows() -> None:
    sent = Sent()
    worker = AnswerWorker(sent, None)  # type: ignore[arg-type]
    worker._begin(StartAnswer(1, Job()))  # type: ignore[arg-type]
    for _ in range(3000):
        await asyncio.sleep(0)
    assert sent.count(AnswerEvent) == messages.WINDOW
    for _ in range(1000 - messages.WINDOW):
        worker._under_way[1].window.release()
    await worker._under_way[1].task
    assert sent.count(AnswerEvent) == 1000 and not worker._under_way


async def test_a_job_cancelled_before_its_start_is_reported_as_ended() -> None:
    sent = Sent()
    worker = AnswerWorker(sent, None)  # type: ignore[arg-type]
    worker._begin(StartAnswer(1, Job()))  # type: ignore[arg-type]
    task = worker._under_way[1].task
    task.cancel()
    await asyncio.wait({task})
    await asyncio.sleep(0)
    assert sent.messages == [JobEnded(1)]


def test_messages_are_unchanged_after_encoding_and_decoding() -> None:
    job = TurnJob(
        make_local_principal(), "t1", "wörd\u2028", senses={"PUC": 2}, heard=("so",), switches={"rerank": False}
    )
    for message in (
        StartAnswer(3, job, "api", "r", ("said",), True),
        EventsTaken(3, 5),
        JobEnded(3, {"type": "NotFound"}),
    ):
        data = messages._ADAPTER.dump_json(message)
        assert messages._ADAPTER.validate_json(data) == message


async def test_a_worker_that_sends_an_unreadable_message_is_replaced(
    idle_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = asyncio.Event()
    lives: list[int] = []

    class Broken(WorkerProcess):
        async def run(self, settings: Callable[[], Settings], on_ready: Callable[[], Awaitable[None]]) -> None:
            lives.append(1)
            if len(lives) == 1:
                raise ValueError("no message")
            started.set()

    monkeypatch.setattr(worker_pool, "WorkerProcess", Broken)
    monkeypatch.setattr(worker_pool, "PAUSES", (0.0,))
    pool = WorkerPool(idle_kb, 1)
    pool.start()
    async with asyncio.timeout(PATIENCE):
        await started.wait()
    for task in pool._keeping:
        task.cancel()
    assert pool.lost


async def test_a_question_that_cannot_be_sent_does_not_count_as_load(idle_kb: KnowledgeBase) -> None:
    class Refusing:
        def put(self, message: object) -> None:
            raise ValueError("no UTF-8")

    worker = WorkerProcess(idle_kb)
    worker._link = cast(Any, Refusing())
    with pytest.raises(ValueError, match="no UTF-8"):
        async for _ in worker.events(cast(Any, None)):
            pass
    assert worker.load == 0


def test_the_number_of_workers_follows_processors_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "measure_memory", lambda: 64 << 30)
    for cores, expected in ((1, 0), (2, 0), (4, 2), (64, 8)):
        monkeypatch.setattr(worker_pool, "count_processors", lambda n=cores: n)
        assert count_workers(Settings()) == expected
        assert count_workers(Settings(workers=3)) == 3
    monkeypatch.setattr(worker_pool, "measure_memory", lambda: 2 << 30)
    assert count_workers(Settings()) == 1
