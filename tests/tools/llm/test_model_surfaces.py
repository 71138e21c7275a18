"""The language model as people use it: through the service, the socket and the command line."""

import asyncio
import io
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.console import Console

from argot.results import AskEvent
from argot.service.knowledge_base import KnowledgeBase
from argot.service.transport.local_socket import serve_socket
from argot.service.usecases import catalogue
from argot.tools.llm.endpoint import Endpoint
from argot.types import Principal
from argot.ui.cli.main import main
from argot.ui.cli.progress import AnswerDisplay

QUESTION = "What is the Word Line voltage during a read?"
ANSWER = "The Word Line voltage during a read is 4.5 V [1]."
LOCAL = Principal("local", sees_all=True)

Argot = Callable[..., str]


@pytest.fixture
def home(tiny_home: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_home, tmp_path / "kb")


@pytest.fixture
def argot(
    home: Path,
    scripted_model: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Argot:
    """Run a command in this process, with the scripted server as its model, and return its output."""
    monkeypatch.setenv("ARGOT_HOME", str(home))
    monkeypatch.setenv("ARGOT_MODEL_URL", scripted_model.url)
    monkeypatch.setenv("ARGOT_MODEL_FIRST_TOKEN_SECONDS", "60")

    def run(*arguments: str) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        out, err = capsys.readouterr()
        assert ended.value.code in (0, None), err
        return out

    return run


# -- the command line --------------------------------------------------------------------------------------------------


def test_the_answer_names_the_model_that_wrote_it(argot: Argot, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", ANSWER)
    out = argot("ask", QUESTION)
    assert "The Word Line voltage during a read is 4.5 V. [1]\n" in out
    assert "Written by the language model scripted" in out
    assert "nand-layout.md" in out
    assert "cited_answer" not in out
    assert "Language model: cited_answer" in argot("ask", QUESTION, "--verbose")


def test_a_fallback_is_reported_in_one_line(argot: Argot, scripted_model: Any) -> None:
    scripted_model.fault("status", code=500)
    out = argot("ask", QUESTION)
    assert "4.5 V" in out
    assert "Written by" not in out
    assert out.count("Note: The language model server failed (500); this answer quotes the documents instead.") == 1


def test_json_output_has_the_calls_their_times_and_the_answerer(argot: Argot, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", ANSWER)
    result = json.loads(argot("ask", QUESTION, "--json", "--profile", "paper"))
    assert (result["answered_by"], result["model"]) == ("model", "scripted")
    assert {call["prompt"] for call in result["model_calls"]} >= {"identify_jargon", "identify_context", "cited_answer"}
    assert all(call["seconds"] > 0 for call in result["model_calls"])
    assert result["timings"]["generate_answer"] > 0
    scripted_model.fault("refuse")
    result = json.loads(argot("ask", QUESTION, "--json"))
    assert (result["answered_by"], result["status"]) == ("extractive", "answered")


def test_a_thread_continues_with_and_without_the_model(argot: Argot, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", ANSWER)
    thread = json.loads(argot("ask", QUESTION, "--json"))["thread"]
    again = json.loads(argot("ask", QUESTION, "--thread", thread, "--profile", "extractive", "--json"))
    assert (again["answered_by"], again["model_calls"]) == ("extractive", [])


def test_streamed_words_are_shown_and_removed_when_retracted() -> None:
    screen = io.StringIO()
    with AnswerDisplay(Console(file=screen, force_terminal=True, width=40, height=8)) as watching:
        watching.show(AskEvent("stage", "generate_answer"))
        for word in ("Pigs ", "fly \x1b[31m", "[bold]high[/bold]. "):
            watching.show(AskEvent("token", "answer", data=word))
        assert watching.written == "Pigs fly  [31m[bold]high[/bold]. "
        watching.show(AskEvent("retract", "answer", data=""))
        assert watching.written == ""
        for number in range(200):
            watching.show(AskEvent("token", "answer", data=f"word{number} "))
        frame = Console(file=io.StringIO(), width=40, height=8, record=True)
        frame.print(watching.render())
        lines = frame.export_text().splitlines()
    assert len(lines) <= 8
    assert "word199" in "".join(lines)
    assert "word0 " not in "".join(lines)
    assert "Writing the answer" in screen.getvalue()


LONG = " ".join(f"word{number}" for number in range(400))
LEFT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background has it ignored
from argot.ui.cli.main import main
main(["ask", sys.argv[1], "--home", sys.argv[2]])
"""


def test_ctrl_c_ends_the_request_to_the_model(
    home: Path, scripted_model: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scripted_model.reply("cited_answer", LONG)
    scripted_model.speed = 0.1
    monkeypatch.setenv("ARGOT_MODEL_URL", scripted_model.url)
    process = subprocess.Popen(
        [sys.executable, "-c", LEFT, QUESTION, str(home)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert scripted_model.wait_until(lambda: bool(scripted_model.asked() and scripted_model.asked()[0].sent))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert "Traceback" not in said
    assert scripted_model.wait_until(lambda: scripted_model.asked()[0].gone)


# -- the service -------------------------------------------------------------------------------------------------------


async def test_events_are_plain_json_with_the_time_of_the_model(home: Path, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", ANSWER)
    async with KnowledgeBase.open(home, scripted_model.settings(home=home)) as kb:
        events = [event async for event in catalogue.dispatch(kb, LOCAL, "ask", {"question": QUESTION})]
    assert json.loads(json.dumps(events)) == events
    ended = [event for event in events if event["name"] == "generate_answer" and event["seconds"]]
    assert ended[0]["model_seconds"] > 0
    assert events[-1]["data"]["answered_by"] == "model"


async def test_closing_the_connection_to_the_service_ends_the_model_request(home: Path, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", LONG)
    scripted_model.speed = 0.1
    async with KnowledgeBase.open(home, scripted_model.settings(home=home)) as kb, serve_socket(kb) as path:
        reader, writer = await asyncio.open_unix_connection(str(path))
        request = {"case": "ask", "parameters": {"question": QUESTION}, "as_user": None}
        writer.write(json.dumps(request).encode() + b"\n")
        while b'"token"' not in await reader.readline():
            pass
        writer.close()
        assert await asyncio.to_thread(scripted_model.wait_until, lambda: scripted_model.asked()[0].gone)


async def test_closing_the_event_stream_ends_the_request_to_the_model(home: Path, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", LONG)
    scripted_model.speed = 0.1
    async with KnowledgeBase.open(home, scripted_model.settings(home=home)) as kb:
        async with aclosing(catalogue.dispatch(kb, LOCAL, "ask", {"question": QUESTION})) as events:
            async for event in events:
                if event["kind"] == "token":
                    break
        assert await asyncio.to_thread(scripted_model.wait_until, lambda: scripted_model.asked()[0].gone)


async def test_the_model_is_warmed_in_the_background_and_may_be_down(
    home: Path, scripted_model: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    scripted_model.fault("hang")
    async with KnowledgeBase.open(home, scripted_model.settings(home=home, model_first_token_seconds=30)) as kb:
        kb.warm_model()
        assert await asyncio.to_thread(scripted_model.wait_until, lambda: bool(scripted_model.requests))
        documents = await catalogue.get_result(kb, LOCAL, "list_documents")
        assert documents
    assert await asyncio.to_thread(scripted_model.wait_until, lambda: scripted_model.requests[0].gone)
    scripted_model.fault("refuse")
    async with KnowledgeBase.open(home, scripted_model.settings(home=home, model_connect_seconds=1)) as kb:
        kb.warm_model()
        assert await asyncio.to_thread(scripted_model.wait_until, lambda: "does not answer yet" in caplog.text)


async def test_a_connection_that_times_out_while_the_process_starts_does_not_count_for_a_question(
    home: Path, scripted_model: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level("INFO")
    scripted_model.reply("cited_answer", ANSWER)
    list_models = Endpoint._list_models

    async def time_out(_: Endpoint) -> list[dict[str, Any]]:
        raise httpx.ConnectTimeout("")

    async with KnowledgeBase.open(home, scripted_model.settings(home=home)) as kb:
        monkeypatch.setattr(Endpoint, "_list_models", time_out)
        kb.warm_model()
        assert await asyncio.to_thread(scripted_model.wait_until, lambda: "does not answer yet" in caplog.text)
        monkeypatch.setattr(Endpoint, "_list_models", list_models)
        result = await catalogue.get_result(kb, LOCAL, "ask", question=QUESTION)
    assert result["answered_by"] == "model"


async def test_without_a_url_there_is_no_server(home: Path, scripted_model: Any) -> None:
    async with KnowledgeBase.open(home, scripted_model.settings(home=home, model_url="")) as kb:
        assert kb.model_server is None
        kb.warm_model()
        result = await catalogue.get_result(kb, LOCAL, "ask", question=QUESTION)
    assert (result["answered_by"], result["model"]) == ("extractive", "")
