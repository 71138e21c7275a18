"""Tests of traces of questions sent to an OpenTelemetry endpoint: their content, and the cost of a failing endpoint."""

import asyncio
import json
import logging
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from otlp_receiver import Receiver, attributes, receiving
from pydantic import SecretStr

from argot.errors import InvalidInput, InvalidSettings
from argot.results import AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.telemetry_check import check_telemetry
from argot.service.observability.trace_export import make_traces_url
from argot.service.usecases.questions.questions import ask
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings, load_settings
from argot.tracing import current_trace, trace_step
from argot.types import Principal

ANN = Principal("ann")
QUESTION = "How much does a late tariff filing cost?"
KEY = "canary-key-of-the-model"
STAGES = {"stand_alone", "identify_jargon", "look_up_jargon", "retrieve", "rerank", "generate_answer"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def home(tiny_home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_home, tmp_path / "kb"))


async def asked(kept: Path, *questions: str, **settings: Any) -> list[AskResult]:
    async with KnowledgeBase.open(kept, Settings(**{"home": kept, **settings})) as kb:
        return [await get_answer(ask(kb, ANN, question=one)) for one in questions]


def everything(receiver: Receiver) -> str:
    return " ".join(body.decode("latin-1") for body in receiver.bodies)


async def test_a_question_gives_a_trace_without_any_of_its_words(home: Path, receiver: Receiver) -> None:
    (result,) = await asked(home, QUESTION, trace_endpoint=receiver.url)
    assert set(receiver.paths) == {"/v1/traces"}
    spans = receiver.spans
    (root,) = [one for one in spans if not one.parent_span_id]
    told = attributes(root)
    assert root.name == "question" and len({one.trace_id for one in spans}) == 1
    assert (told["argot.surface"], told["argot.status"], told["argot.case"]) == ("command", "answered", "ask")
    assert told["session.id"] == told["gen_ai.conversation.id"] == result.thread
    assert told["argot.citations"] == 1 and told["argot.first_word_seconds"] > 0

    by_id = {one.span_id: one for one in spans}
    assert {one.name for one in spans} >= STAGES
    (retrieve,) = [one for one in spans if one.name == "retrieve"]
    searches = [one for one in spans if one.name == "search"]
    assert searches and all(one.parent_span_id == retrieve.span_id for one in searches)
    assert attributes(searches[0])["argot.found"] > 0
    for one in spans:
        assert root.start_time_unix_nano <= one.start_time_unix_nano <= one.end_time_unix_nano
        assert one is root or one.parent_span_id in by_id
        assert one.status.code == 0
    for word in ("tariff", "filing", "500 dollars", "Penalties", "handbook"):
        assert word not in everything(receiver), word


async def test_with_contents_set_a_trace_holds_question_and_answer(home: Path, receiver: Receiver) -> None:
    (result,) = await asked(home, QUESTION, trace_endpoint=f"{receiver.url}/api/otel/v1/traces", trace_contents=True)
    assert set(receiver.paths) == {"/api/otel/v1/traces"}
    (root,) = [one for one in receiver.spans if not one.parent_span_id]
    told = attributes(root)
    assert (told["input.value"], told["output.value"]) == (QUESTION, result.answer)
    assert any(attributes(one).get("argot.query") == QUESTION for one in receiver.spans if one.name == "search")
    assert "ann" not in everything(receiver).split()


@pytest.mark.parametrize("contents", [False, True])
async def test_calls_to_the_model_are_spans_within_their_stage(
    home: Path, receiver: Receiver, scripted_model: Any, contents: bool
) -> None:
    scripted_model.replies("cited_answer", "A late tariff filing costs 500 dollars a day [1].")
    given = scripted_model.settings(home=home, model_key=SecretStr(KEY)).flatten(only_given=True)
    leaks = f"{QUESTION} By the way, my key is {KEY} and sk-abcdefghijklmnopqrstuvwx."
    await asked(home, leaks, **{**given, "trace_endpoint": receiver.url, "trace_contents": contents})
    calls = [one for one in receiver.spans if attributes(one).get("gen_ai.operation.name") == "chat"]
    assert calls
    spans = {one.span_id: one for one in receiver.spans}
    for call in calls:
        told = attributes(call)
        assert call.name == f"chat {told['gen_ai.request.model']}" and call.kind == 3
        assert told["gen_ai.usage.input_tokens"] >= 0 and "gen_ai.usage.output_tokens" in told
        assert ("gen_ai.input.messages" in told) == ("gen_ai.output.messages" in told) == contents
        assert attributes(spans[call.parent_span_id])["argot.step"] == "stage"
    (writing,) = [one for one in calls if attributes(one)["argot.prompt"] == "cited_answer"]
    assert spans[writing.parent_span_id].name == "generate_answer"
    if contents:
        (message,) = json.loads(attributes(writing)["gen_ai.output.messages"])
        assert message["role"] == "assistant" and "500 dollars" in message["parts"][0]["content"]
        assert json.loads(attributes(writing)["gen_ai.input.messages"])[0]["role"] == "system"
    else:
        assert "dollars" not in everything(receiver)
    assert KEY not in everything(receiver) and "sk-abcdefgh" not in everything(receiver)


async def test_failures_in_a_trace_are_described_by_their_class_only(
    home: Path, receiver: Receiver, scripted_model: Any
) -> None:
    scripted_model.fault("status", prompt="cited_answer", code=500, message="cannot read 'late tariff'")
    given = scripted_model.settings(home=home).flatten(only_given=True)
    await asked(home, QUESTION, **{**given, "trace_endpoint": receiver.url})
    failed = [one for one in receiver.spans if one.status.code == 2]
    assert failed and {one.status.message for one in failed} == {"ModelCallFailed"}
    assert all(attributes(one)["error.type"] == "ModelCallFailed" for one in failed)
    receiver.bodies.clear()
    with pytest.raises(InvalidInput):
        await asked(home, "?" * 5000, trace_endpoint=receiver.url)
    (root,) = receiver.spans
    assert (root.status.code, root.status.message) == (2, "InvalidInput")
    assert "????" not in everything(receiver)


async def test_a_stage_that_asks_back_is_not_marked_as_failed(home: Path, receiver: Receiver) -> None:
    (result,) = await asked(home, "What is a PUC?", trace_endpoint=receiver.url)
    assert result.status == "needs_choice"
    (stage,) = [one for one in receiver.spans if attributes(one).get("argot.asks_back")]
    assert stage.name == "choose_sense" and stage.status.code == 0


async def test_an_unreachable_or_slow_trace_endpoint_is_logged_once_and_costs_no_time(
    home: Path, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    for settings, hold in ({"trace_endpoint": "http://127.0.0.1:9"}, False), ({"trace_endpoint": receiver.url}, True):
        if hold:
            receiver.answers.clear()
        caplog.clear()
        with caplog.at_level(logging.INFO):
            begun = time.monotonic()
            async with KnowledgeBase.open(home, Settings(home=home, **settings)) as kb:
                for _ in range(3):
                    assert (await get_answer(ask(kb, ANN, question=QUESTION))).status == "answered"
                    sending = kb.tracing
                    assert sending is not None
                    if not hold:  # send at once rather than at the regular interval
                        await asyncio.to_thread(sending._provider.force_flush)
            assert time.monotonic() - begun < 60
        said = [one.getMessage() for one in caplog.records if "traces" in one.getMessage()]
        assert len(said) == (0 if hold else 1), said
        assert not any(one.name.startswith("opentelemetry") for one in caplog.records)


async def test_tracing_that_is_off_records_nothing(home: Path) -> None:
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        assert kb.tracing is None
        await get_answer(ask(kb, ANN, question="hello"))
        assert current_trace() is None
    with trace_step("search", "x") as step:
        step.said["query"] = "kept by nobody"


def test_without_a_trace_endpoint_opentelemetry_is_not_imported() -> None:
    code = "import sys; import argot.service.knowledge_base; print('opentelemetry' in str(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"


def test_the_trace_address_is_completed_and_checked(receiver: Receiver) -> None:
    assert make_traces_url("http://c:4318") == make_traces_url("http://c:4318/") == "http://c:4318/v1/traces"
    assert (
        make_traces_url("https://l.example/api/public/otel/v1/traces") == "https://l.example/api/public/otel/v1/traces"
    )
    with pytest.raises(InvalidSettings, match="trace_endpoint"):
        load_settings(trace_endpoint="collector:4318")

    def found(endpoint: str) -> tuple[bool, str]:
        one, _ = check_telemetry(Settings(trace_endpoint=endpoint))
        return one["ok"], one["detail"]

    assert found("") == (True, "sent nowhere (docs/insight.md)")
    assert found(receiver.url) == (True, f"{receiver.url}/v1/traces answers; without contents")
    receiver.code = 401
    ok, detail = found(receiver.url)
    assert not ok and "401" in detail
    ok, detail = found("http://user:hidden-word@127.0.0.1:9")
    assert not ok and "hidden-word" not in detail
