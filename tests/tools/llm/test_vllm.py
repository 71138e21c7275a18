"""Argot with a real vLLM on the processor and its small model: whether both use the same protocol.

Protocol, schemas, streaming, concurrency, caching and cancellation are the subject. The model has 135 million weights
and cannot solve its tasks: no test here checks the quality of its output.

`make model-server-setup` sets up what these tests need; without it they are skipped. A server that already runs is
used instead if MODEL_SERVER_URL names it (http://127.0.0.1:8011/v1).
"""

import asyncio
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import numpy as np
import pytest
from repository import ROOT
from safetensors.numpy import save_file

from argot.errors import ModelUnavailable
from argot.prompts.loader import list_prompt_names, prompt, wrap_in_fence
from argot.results import ModelCall
from argot.service.maintenance.model_checks import _loads_adapters
from argot.settings import Settings
from argot.tools.llm.model_server import ModelServer
from argot.tools.llm.session import Model
from argot.tools.llm.token_budget import count_tokens

# On two slow cores beside other tests the replies to all prompts, which the first test waits for, take ten minutes.
pytestmark = [pytest.mark.slow, pytest.mark.vllm, pytest.mark.timeout(1800)]

CONTEXT = 4096
PASSAGE = """The Word Line voltage during a read is 4.5 V. To trim a drive, open the Media panel and click on Trim.
Trimming a drive takes about 40 seconds. A late tariff filing costs 500 dollars a day."""
INPUTS = {
    "about": "NAND layout guide",
    "answer": "The voltage is 4.5 V [1].",
    "answer_a": "4.5 V.",
    "answer_b": "5 V.",
    "answer_c": "About 4 V.",
    "answer_d": "I do not know.",
    "contexts": "\n".join(
        wrap_in_fence("context", text) for text in ("NAND: memory cells and word lines", "Legal: tariffs")
    ),
    "count": "3",
    "heading": "Trimming a drive",
    "history": wrap_in_fence("turn", "What is the WL voltage?") + "\n" + wrap_in_fence("turn", "4.5 V during a read."),
    "now": "What is the voltage of the Word Line during a read?",
    "options": "A. 4.5 V\nB. 5 V\nC. 3.3 V\nD. 12 V",
    "passage": PASSAGE,
    "passages": wrap_in_fence("passage", PASSAGE, n=1),
    "question": "What is the WL voltage during a read?",
    "term": "WL",
    "reference": "4.5 V.",
    "sentences": "1. The voltage is 4.5 V.\n2. A late filing costs 500 dollars a day.",
    "slide": "WL voltage\n- read: 4.5 V\n- program: 18 V",
    "solved": wrap_in_fence("solved_question", "Question: How long does trimming take?\nAnswer: 40 s.", score=80),
    "table": "| step | voltage |\n|---|---|\n| read | 4.5 V |\n| program | 18 V |",
    "title": "NAND layout guide",
    "tried": wrap_in_fence("query", "WL voltage during a read"),
    "triples": "1. (Media panel, trim, drive)\n2. (Word Line, connect, control gates)",
}
LONG_SLIDES = ["Voltages\n" + "\n".join(f"- step {n}: {n * by} V" for n in range(40)) for by in (3, 7, 5, 9)]
"""The small model copies them, for as many tokens as it may; of some, on some processors, only a little."""
CHOICES = {"contexts": ("NAND", "Legal"), "options": ("A", "B", "C", "D"), "others": ("ask_server",)}


class Served:
    """A vLLM that answers on `url`."""

    def __init__(self, url: str) -> None:
        self.url = url

    def metric(self, name: str) -> float:
        """Return the sum of a counter or gauge over the engines."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        found = re.findall(rf"^{re.escape(name)}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE)
        assert found, f"vLLM has no metric {name}"
        return sum(map(float, found))

    async def works(self) -> None:
        """Wait until a request runs on the server; fail after a minute."""
        assert await _true(lambda: self.metric("vllm:num_requests_running") > 0), "no request came"

    async def rests(self) -> None:
        """Wait until no request runs or waits on the server; fail after a minute."""
        assert await _true(
            lambda: not self.metric("vllm:num_requests_running") + self.metric("vllm:num_requests_waiting")
        ), "it still works on a request that nobody waits for"


async def _true(condition: Callable[[], bool]) -> bool:
    for _ in range(600):
        if condition():
            return True
        await asyncio.sleep(0.1)
    return False


# Not of the session: it takes 4 GB, which nobody else needs.
@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if running := os.environ.get("MODEL_SERVER_URL"):
        yield Served(running)
        return
    if not (ROOT / ".venv-vllm" / ".installed").is_file():
        why = os.environ.get("MODEL_SERVER_PROBLEM", "")
        pytest.skip(f"no vLLM here: {why or 'make model-server-setup builds it (2 GB)'}")
    log = tmp_path_factory.mktemp("vllm") / "log"
    port = _free_port()
    with log.open("w") as output:
        server = subprocess.Popen(
            ["bash", "deploy/vllm/cpu/serve.sh"],
            cwd=ROOT,
            env={**os.environ, "PORT": str(port), "LORA": "8"},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _wait_until_up(server, port, log)
        yield Served(f"http://127.0.0.1:{port}/v1")
    finally:
        _stop(server)


def _wait_until_up(server: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    """Wait until the server answers; serve.sh itself gives up after a while."""
    while server.poll() is None:
        if f"answers on http://127.0.0.1:{port}/v1" in log.read_text():
            return
        time.sleep(0.5)
    pytest.skip("vLLM does not start here: " + " | ".join(log.read_text().splitlines()[-4:]))


def _stop(server: "subprocess.Popen[bytes]") -> None:
    """Stop the whole process group: vLLM's children would otherwise outlive a server that does not end."""
    server.terminate()
    try:
        server.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def patient(url: str, home: Path) -> Settings:
    """Return settings with limits that no slow test machine reaches: bench/latency.py measures time."""
    return Settings(
        home=home,
        model_url=url,
        model="smollm2",
        model_connect_seconds=60,
        model_first_token_seconds=600,
        model_seconds=1800,
    )


@pytest.fixture
def settings(vllm: Served, tmp_path: Path) -> Settings:
    return patient(vllm.url, tmp_path / "kb")


@pytest.fixture
async def server(settings: Settings) -> AsyncIterator[ModelServer]:
    found = ModelServer.from_settings(settings)
    assert found is not None
    yield found
    await found.aclose()


@pytest.fixture
def calls() -> list[ModelCall]:
    return []


@pytest.fixture
def model(server: ModelServer, calls: list[ModelCall]) -> Model:
    return server.session(calls)


def inputs_of(name: str, **given: str) -> dict[str, str]:
    return {wanted: INPUTS[wanted] for wanted in prompt(name).inputs} | given


async def text_of(pieces: Any) -> str:
    return "".join([piece async for piece in pieces])


def came_through(call: ModelCall) -> bool:
    """Tell whether the server completed a call; Argot may have stopped it, as the small model repeats itself."""
    return call.first_token_seconds > 0 and (not call.failed or "stopped" in call.failed)


# -- what every prompt is replied to with ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def replies(vllm: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, list[ModelCall]]]:
    """Return the reply to every prompt, or its error, and the calls it took. Eight are generated at once, which takes
    a fifth of the time that they take one after the other.
    """
    server = ModelServer.from_settings(patient(vllm.url, tmp_path_factory.mktemp("replies")))
    assert server
    eight = asyncio.Semaphore(8)

    async def reply(name: str) -> tuple[Any, list[ModelCall]]:
        calls: list[ModelCall] = []
        model = server.session(calls)
        async with eight:
            try:
                if prompt(name).output == "text":
                    return await text_of(model.text(name, **inputs_of(name))), calls
                return await model.json(name, choices=choices_of(name), **inputs_of(name)), calls
            except ModelUnavailable as error:
                return error, calls

    async def all_of_them() -> dict[str, tuple[Any, list[ModelCall]]]:
        names = list_prompt_names()
        found = await asyncio.gather(*map(reply, names))
        await server.aclose()
        return dict(zip(names, found, strict=True))

    return asyncio.run(all_of_them())


def choices_of(name: str) -> dict[str, tuple[str, ...]]:
    return {one: CHOICES[one] for one in prompt(name).choices()}


def test_every_prompt_has_its_inputs_here() -> None:
    """Needs no vLLM: what a new prompt needs is missed on every machine, not only where a vLLM is built."""
    lacking = {
        name: {*prompt(name).inputs} - {*INPUTS} | {*prompt(name).choices()} - {*CHOICES}
        for name in list_prompt_names()
    }
    assert not any(lacking.values()), lacking


@pytest.mark.parametrize("name", [name for name in list_prompt_names() if prompt(name).output == "json"])
def test_a_prompt_with_a_schema_gets_a_valid_object(replies: dict[str, tuple[Any, list[ModelCall]]], name: str) -> None:
    reply, calls = replies[name]
    jsonschema.validate(reply, prompt(name).schema(**choices_of(name)) or {})
    assert not calls[-1].failed


@pytest.mark.parametrize("name", [name for name in list_prompt_names() if prompt(name).output == "text"])
def test_a_prompt_without_a_schema_gets_text(replies: dict[str, tuple[Any, list[ModelCall]]], name: str) -> None:
    reply, calls = replies[name]
    assert isinstance(reply, str), reply
    assert reply.strip()
    assert calls[0].completion_tokens > 0 or calls[0].failed


# -- streaming, concurrency, cache, cancellation -----------------------------------------------------------------------


async def test_text_is_streamed_while_it_is_generated(model: Model, calls: list[ModelCall]) -> None:
    pieces = [piece async for piece in model.text("slide_description", **inputs_of("slide_description"))]
    assert len(pieces) >= 10
    assert 0 < calls[0].first_token_seconds < calls[0].seconds


async def test_eight_replies_are_generated_at_once(vllm: Served, server: ModelServer) -> None:
    async def reply(number: int) -> list[ModelCall]:
        calls: list[ModelCall] = []
        await text_of(
            server.session(calls).text("table_description", **inputs_of("table_description", title=f"No. {number}"))
        )
        return calls

    replies = [asyncio.create_task(reply(number)) for number in range(8)]
    most = 0.0
    while not all(one.done() for one in replies):
        most = max(most, vllm.metric("vllm:num_requests_running"))
        await asyncio.sleep(0.1)
    calls = [call for one in replies for call in one.result()]
    assert len(calls) == 8
    assert all(call.completion_tokens for call in calls)
    assert most >= 2, "they were written one after the other"


async def test_a_second_question_uses_the_prefix_cache(vllm: Served, model: Model, calls: list[ModelCall]) -> None:
    await model.json("identify_jargon", question="What is the WL voltage during a read?")
    before = vllm.metric("vllm:prefix_cache_hits_total")
    await model.json("identify_jargon", question="When must a TFL be filed?")
    assert vllm.metric("vllm:prefix_cache_hits_total") - before >= calls[-1].prompt_tokens / 2


async def a_long_reply(server: ModelServer) -> tuple[dict[str, str], int]:
    """Return inputs of `slide_description` that get a long reply, and the tokens of that reply."""
    calls: list[ModelCall] = []
    for slide in LONG_SLIDES:
        inputs = inputs_of("slide_description", slide=slide)
        await text_of(server.session(calls).text("slide_description", **inputs))
        if calls[-1].completion_tokens > 200:
            return inputs, calls[-1].completion_tokens
    pytest.fail(f"no reply is long enough to be stopped half-way: {[call.completion_tokens for call in calls]} tokens")


async def test_an_abandoned_answer_is_not_generated_to_its_end(
    vllm: Served, server: ModelServer, calls: list[ModelCall]
) -> None:
    long, whole = await a_long_reply(server)
    await vllm.rests()
    before = vllm.metric("vllm:generation_tokens_total")
    async with aclosing(server.session(calls).text("slide_description", **long)) as pieces:
        await anext(pieces)
    await vllm.rests()
    written = vllm.metric("vllm:generation_tokens_total") - before
    assert 0 < written < whole / 2
    assert calls[0].failed
    assert 0 < calls[0].completion_tokens <= written


async def test_a_cancelled_question_stops_generating_a_structured_reply(
    vllm: Served, model: Model, server: ModelServer
) -> None:
    await server.served_model()
    await vllm.rests()
    before = vllm.metric("vllm:generation_tokens_total")
    asking = asyncio.create_task(model.json("qa_standard", **inputs_of("qa_standard")))
    await vllm.works()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await vllm.rests()
    assert vllm.metric("vllm:generation_tokens_total") - before < 200


# -- tokens ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["What is the WL voltage?", "Qué significa «PUC»? 電圧は? 🙂 0x7F/ES-NIRE-10ns"])
async def test_token_counts_equal_those_of_the_server(
    server: ModelServer, model: Model, calls: list[ModelCall], question: str
) -> None:
    counted = await count_tokens(
        server, prompt("judge_correct").messages(**inputs_of("judge_correct", question=question))
    )
    await model.json("judge_correct", **inputs_of("judge_correct", question=question))
    assert [call.prompt_tokens for call in calls] == [counted]


@pytest.mark.parametrize(
    "text", [PASSAGE * 4, "0x7F3A-ES/NIRE_10ns 電圧🙂 " * 40, "a\n" * 600], ids=["words", "codes", "lines"]
)
async def test_the_best_passages_that_fit_the_context_are_sent(
    model: Model, calls: list[ModelCall], server: ModelServer, text: str
) -> None:
    passages = [wrap_in_fence("passage", text, n=number) for number in range(1, 101)]
    fitting = await model.fit("cited_answer", "passages", passages, question=INPUTS["question"])
    kept = fitting.count("<passage ")
    assert 1 <= kept < 100
    assert fitting == "\n\n".join(passages[:kept])
    await text_of(model.text("cited_answer", passages=fitting, question=INPUTS["question"]))
    assert came_through(calls[0])
    sent = prompt("cited_answer").messages(passages=fitting, question=INPUTS["question"])
    assert await count_tokens(server, sent) <= CONTEXT - server.settings.model_server.answer_tokens
    one_more = prompt("cited_answer").messages(passages="\n\n".join(passages[: kept + 4]), question=INPUTS["question"])
    assert await count_tokens(server, one_more) > CONTEXT - server.settings.model_server.answer_tokens, (
        "more would have fitted"
    )


# -- a question's whole journey ----------------------------------------------------------------------------------------


def argot(settings: Settings, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "argot.ui.cli.main", *words, "--home", str(settings.home)],
        check=False,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "ARGOT_MODEL_URL": settings.model_server.url,
            "ARGOT_MODEL": settings.model_server.name,
            "ARGOT_MODEL_CONNECT_SECONDS": "60",
            "ARGOT_MODEL_FIRST_TOKEN_SECONDS": "600",
            "ARGOT_MODEL_SECONDS": "1800",
        },
    )


def test_the_paper_profile_asks_the_model_at_every_step(tiny_home: Path, settings: Settings) -> None:
    shutil.copytree(tiny_home, settings.home)
    done = argot(settings, "ask", "--json", "--profile", "paper", "How do I trim a drive with the MPL?")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["model"] == "smollm2"
    assert result["status"] in ("answered", "abstained")
    calls = [ModelCall(**call) for call in result["model_calls"]]
    asked = {call.prompt for call in calls if came_through(call)}
    assert asked >= {"identify_jargon", "identify_context", "triple_relevance", "enhance_query", "cited_answer"}
    numbers = {passage["n"] for passage in result["passages"]}
    for sentence in result["sentences"]:
        assert sentence["supported"] == bool(sentence["citations"])
        assert {citation["n"] for citation in sentence["citations"]} <= numbers


def in_process(kb: Any, settings: Settings, server: ModelServer, **profile: Any) -> Callable[[str, str], Any]:
    """Return a function that asks a question in a thread of its own and returns the result."""
    from langgraph.checkpoint.memory import InMemorySaver

    from argot.graph.build import build_graph
    from argot.graph.run import ask
    from argot.graph.run_context import build_run_context
    from argot.profile import Profile
    from argot.types import Principal

    run = build_run_context(
        kb.corpus, kb.glossary, Principal("ann"), Profile(**profile), settings=settings, server=server
    )
    graph = build_graph(InMemorySaver())

    async def result_of(question: str, thread: str) -> Any:
        *_, last = [event async for event in ask(graph, run, question, thread)]
        return last.data

    return result_of


async def test_eight_concurrent_questions_are_all_answered(
    tiny_kb: Any, settings: Settings, server: ModelServer
) -> None:
    result_of = in_process(tiny_kb, settings, server)
    questions = [f"What is the WL voltage during read number {number}?" for number in range(8)]
    results = await asyncio.gather(*(result_of(question, question) for question in questions))
    assert [result.question for result in results] == questions
    for result in results:
        assert result.status in ("answered", "abstained")
        assert "cited_answer" in [call.prompt for call in result.model_calls]
        assert all(came_through(call) for call in result.model_calls)


async def test_a_question_with_more_passages_than_fit_is_answered(
    vllm: Served, tiny_kb: Any, settings: Settings, server: ModelServer
) -> None:
    before = vllm.metric("vllm:prompt_tokens_total")
    for number in range(6):
        tiny_kb.add(f"part-{number}.md", f"# Voltages of part {number}\n\n" + f"{PASSAGE} See part {number}.\n" * 20)
    result_of = in_process(tiny_kb, settings, server, passages=50, passages_for_answer=50)
    result = await result_of("What is the WL voltage during a read?", "t")
    (written,) = [call for call in result.model_calls if call.prompt == "cited_answer"]
    assert result.status in ("answered", "abstained")
    assert came_through(written)
    assert vllm.metric("vllm:prompt_tokens_total") - before > CONTEXT / 2, "the passages would have fitted anyway"


# -- adapters ----------------------------------------------------------------------------------------------------------


def an_adapter(folder: Path, strength: float) -> Path:
    """Write a random adapter for the attention of the small model; with strength 0 it changes nothing."""
    layers, size, rank = 30, 576, 8
    chance = np.random.default_rng(7)
    weights = {}
    for layer in range(layers):
        place = f"base_model.model.model.layers.{layer}.self_attn.o_proj"
        weights[f"{place}.lora_A.weight"] = chance.normal(0, 0.1, (rank, size)).astype(np.float32)
        weights[f"{place}.lora_B.weight"] = chance.normal(0, 0.1, (size, rank)).astype(np.float32) * strength
    folder.mkdir()
    save_file(weights, folder / "adapter_model.safetensors")
    card = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": rank, "lora_alpha": rank, "target_modules": ["o_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(card))
    return folder


async def test_an_adapter_is_loaded_and_replaced_while_the_server_runs(
    settings: Settings, server: ModelServer, tmp_path: Path
) -> None:
    if not await _loads_adapters(server):
        pytest.skip("this vLLM was started without LORA=8")
    order = server.connection().order
    tuned = ModelServer.from_settings(settings.replace(model="tuned"))
    assert tuned is not None
    before = await beginning(server)
    strong, idle = an_adapter(tmp_path / "strong", strength=100.0), an_adapter(tmp_path / "idle", strength=0.0)
    await order(f"{server.address.api}/load_lora_adapter", {"lora_name": "tuned", "lora_path": str(strong)})
    assert await beginning(tuned) != before
    assert await beginning(server) == before, "its model has changed, too"
    await order(f"{server.address.api}/unload_lora_adapter", {"lora_name": "tuned"})
    await order(f"{server.address.api}/load_lora_adapter", {"lora_name": "tuned", "lora_path": str(idle)})
    assert await beginning(tuned) == before, "the adapter before it still answers"
    await tuned.aclose()


async def beginning(server: ModelServer) -> str:
    """Return the first eight or so tokens of a description of a slide."""
    async with aclosing(server.session([]).text("slide_description", **inputs_of("slide_description"))) as pieces:
        said = ""
        async for piece in pieces:
            said += piece
            if len(said) >= 32:
                break
    return said[:32]


def test_the_doctor_reports_what_the_server_offers(tiny_home: Path, settings: Settings) -> None:
    shutil.copytree(tiny_home, settings.home)
    done = argot(settings, "doctor", "--json")
    findings = [finding for finding in json.loads(done.stdout) if "model" in finding["name"]]
    said = json.dumps(findings)
    assert "smollm2" in said
    assert str(CONTEXT) in said.replace(",", "")
    assert all(finding["ok"] for finding in findings)
