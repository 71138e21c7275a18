"""Tests that the log contains no secret and no question, whatever writes it and whatever fails (scorecard 23)."""

import json
import logging
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from serving import Served, argot, run

from argot.results import AskEvent, AskResult
from argot.service.observability.instrumentation import request_id, said_now, secrets_now, watch
from argot.service.observability.logs import WITHHELD, Cleaner, JsonLines, Lines, configure, list_secrets
from argot.service.usecases.questions.conversations import Message
from argot.settings import SETTING_FIELDS, Settings
from argot.shown_addresses import STARS

SETTINGS = Settings(model_key=SecretStr("canary-model-key"))


def record(message: str, *values: object, error: BaseException | None = None, **fields: Any) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    made = logging.LogRecord("argot.test", logging.WARNING, "", 0, message, values, info)
    if fields:
        made.fields = fields
    return made


@pytest.fixture(autouse=True)
def _nothing_said() -> Iterator[None]:
    tokens = said_now.set(()), secrets_now.set(()), request_id.set("")
    yield
    for variable, token in zip((said_now, secrets_now, request_id), tokens, strict=True):
        variable.reset(token)


@pytest.mark.parametrize(
    ("text", "canary"),
    [
        ("the key canary-model-key was refused", "canary-model-key"),
        ("Authorization: Bearer canary123456", "canary123456"),
        ("{'authorization': 'Bearer canary123456'}", "canary123456"),
        ("headers=[(b'cookie', b'argot_8000=canary123456')]", "canary123456"),
        ("Set-Cookie: __Host-argot_443=canary123456; Path=/", "canary123456"),
        ("argot_8000=canary123456", "canary123456"),
        ("key argot_canary1234567890abcdef in use", "canary1234567890abcdef"),
        ("xoxb-12-34-canarytoken and xapp-1-A0canarytoken", "canarytoken"),
        ("xoxe.xoxp-1-canarytoken", "canarytoken"),
        ("sk-canary1234567890abcdef", "canary1234567890abcdef"),
        ("name=ann&password=canary123&next=/", "canary123"),
        ('{"password": "canary123"}', "canary123"),
        ("SLACK_SIGNING_SECRET=canary123", "canary123"),
        ("cannot reach http://user:canary123@model.example/v1", "canary123"),
        ("token eyJhbGciOiJI.eyJjYW5hcnki.c2lnbmF0dXJl", "eyJjYW5hcnki"),
    ],
)
def test_text_that_is_or_looks_secret_is_hidden(text: str, canary: str) -> None:
    for form in (Lines(SETTINGS), JsonLines(SETTINGS)):
        line = form.format(record("%s", text))
        assert canary not in line
        assert STARS in line


def test_every_secret_of_the_settings_is_hidden() -> None:
    secret = {name: SecretStr(f"canary-{name}") for name, field in SETTING_FIELDS.items() if
              field.annotation is SecretStr}  # fmt: skip
    assert "model_key" in secret
    assert set(list_secrets(Settings(**secret))) == {f"canary-{name}" for name in secret}


def test_a_password_of_the_current_request_is_hidden() -> None:
    with watch([], "user_add", {"name": "ann", "password": SecretStr("plain words here")}, asks=False):
        assert "plain words" not in Lines(SETTINGS).format(record("failed with plain words here"))


def test_leaving_after_the_result_does_not_count_as_stopping() -> None:
    class Ends:
        last = ""

        def case_ended(self, watched: object, outcome: str) -> None:
            self.last = outcome

    def asking(*events: AskEvent) -> Iterator[None]:
        with watch([ends], "ask", {}, asks=True) as watched:  # type: ignore[arg-type]
            for event in events:
                watched.saw(event.kind, data=event.data)
            yield

    abstained = AskResult(question="?", stand_alone_question="?", status="abstained", thread="", answer="")
    ends, result = Ends(), AskEvent("result", data=abstained)
    for events, outcome in (((result,), "abstained"), ((AskEvent("token", data="a"),), "stopped")):
        begun = asking(*events)
        next(begun)
        begun.close()  # type: ignore[attr-defined]
        assert ends.last == outcome


def test_a_users_words_are_withheld_from_logged_errors() -> None:
    question = "Who was dismissed from the Hamburg office in March?"
    try:
        raise ValueError(f"cannot parse {question[:38]!r}... at 3")
    except ValueError as error:
        caught = error
    with watch([], "ask", {"question": question, "thread": None}, asks=False):
        for form in (Lines(SETTINGS), JsonLines(SETTINGS)):
            line = form.format(record("a question could not be answered", error=caught))
            assert "Hamburg" not in line
            assert "a question could not be answered" in line
            assert "ValueError" in line and WITHHELD in line
            assert "test_logs.py" in line
    said_now.set(())
    assert "Hamburg" in Lines(SETTINGS).format(record("x", error=caught))


@pytest.mark.parametrize("case", ["converse", "ask"])
def test_words_of_a_conversation_are_withheld_from_logs_too(case: str) -> None:
    said = "Who was dismissed from the Hamburg office in March?"
    given: dict[str, Any] = {"messages": [Message(role="user", content=said)]}
    with watch([], case, given if case == "converse" else {"question": "?", "heard": [said]}, asks=False):
        line = Lines(SETTINGS).format(record("cannot parse: %s", said[:38]))
    assert "Hamburg" not in line and WITHHELD in line


def test_short_words_are_not_withheld_from_the_log() -> None:
    said_now.set(("no", "the", "a b"))
    assert "the stores are open, a b no" in Lines(SETTINGS).format(record("the stores are open, a b no"))


def test_each_json_line_is_one_object() -> None:
    request_id.set("abc123")
    try:
        raise ValueError("two\nlines")
    except ValueError as error:
        text = JsonLines(SETTINGS).format(
            record("odd \x1b[31m\u202e %s", "\ud800", error=error, seconds=0.5, status="done")
        )
    assert "\n" not in text and text.isascii()
    told = json.loads(text)
    assert {"at", "level", "logger", "message", "request", "surface", "trace"} <= told.keys()
    assert (told["level"], told["request"], told["seconds"], told["status"]) == ("WARNING", "abc123", 0.5, "done")


def test_values_that_do_not_fit_a_message_cause_no_error() -> None:
    assert "do not fit" in Lines(SETTINGS).format(record("%d of %d", "x"))


def test_cleaning_a_hostile_text_takes_little_time() -> None:
    """Check it because backtracking patterns would take minutes on such texts; it takes a fraction of a second."""
    cleaner = Cleaner(["canary"])
    said_now.set(("word " * 4000,))
    began = time.thread_time()
    for text in ("a" * 20_000, "password" * 2_500, "://" * 7_000, "eyJ" * 7_000, "argot_" * 3_000, "cookie= " * 2_500):
        cleaner(text)
    assert time.thread_time() - began < 60


@contextmanager
def own_root() -> Iterator[logging.Logger]:
    """Provide the root logger, and uvicorn's, as in a new process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = []
    levels = {name: logging.getLogger(name).level for name in ("openai", "aiosqlite", "chainlit", "httpx")}
    # A server that an earlier test ran in this process sends uvicorn's messages to a handler of its own.
    servers = [logging.getLogger(name) for name in ("uvicorn", "uvicorn.error")]
    states = [(one.handlers[:], one.level, one.propagate) for one in servers]
    for one in servers:
        one.handlers[:], one.propagate = [], True
        one.setLevel(logging.NOTSET)
    try:
        yield root
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        for name, number in levels.items():
            logging.getLogger(name).setLevel(number)
        for one, (kept, own_level, propagate) in zip(servers, states, strict=True):
            one.handlers[:], one.propagate = kept, propagate
            one.setLevel(own_level)


def test_packages_that_log_request_contents_stay_quiet_at_debug(capsys: pytest.CaptureFixture[str]) -> None:
    with own_root() as root:
        configure(Settings(log_level="DEBUG", log_format="json"))
        for name in (
            "openai._base_client",
            "aiosqlite",
            "chainlit",
            "httpx",
            "markdown_it.rules_block.list",
            "slack_sdk.web",
            "chromadb.x",
        ):
            logging.getLogger(name).debug("request with the question")
            logging.getLogger(name).info("request with the question")
        logging.getLogger("argot.service").debug("own word")
        assert len(root.handlers) == 1
        configure(Settings(log_level="DEBUG"))
        assert len(root.handlers) == 1
        logging.getLogger("uvicorn.error").warning("second form")
    said = capsys.readouterr().err
    assert "the question" not in said
    assert json.loads(said.splitlines()[0])["message"] == "own word"
    assert "WARNING uvicorn.error: second form" in said


# -- a running service in which everything fails (scorecard 23) -------------------------------------------------------

CANARIES = {
    "model key": "canarymodelkey5711",
    "password": "canary tilted llama 57",
    "wrong password": "canary wrong llama 58",
    "question": "canaryquestion59",
    "header": "canaryheader60",
}


@pytest.fixture(scope="module")
def failing(
    tiny_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Served, httpx.Client, Callable[[], str]]]:
    """Provide a service whose model server refuses its key and repeats it, and ann, who signs in."""
    from scripted_server import ScriptedServer

    model = ScriptedServer().start()
    message = f"Incorrect API key provided: {CANARIES['model key']}. You asked {CANARIES['question']}"
    model.fault("status", code=401, message=message)
    home = shutil.copytree(tiny_home, tmp_path_factory.mktemp("logs") / "kb")
    argot("user", "add", "ann", "--password", "--role", "admin", "--home", home, typed=CANARIES["password"] + "\n")
    settings = {"ARGOT_MODEL_URL": model.url, "ARGOT_MODEL_KEY": CANARIES["model key"], "ARGOT_MODEL": "scripted"}
    with (
        Served(home, **settings, ARGOT_LOG_LEVEL="DEBUG", ARGOT_LOG_FORMAT="json") as served,
        httpx.Client(base_url=served.url, timeout=120) as client,
    ):
        yield served, client, lambda: "".join(served.said)
    model.close()


def test_secrets_are_absent_from_logs_answers_and_errors_while_everything_fails(
    failing: tuple[Served, httpx.Client, Callable[[], str]],
) -> None:
    served, client, log = failing
    origin = {"Origin": served.url}
    shown = [client.post("/sign-in", data={"name": "ann", "password": CANARIES["wrong password"]}, headers=origin).text]
    signed_in = client.post("/sign-in", data={"name": "ann", "password": CANARIES["password"]}, headers=origin)
    assert signed_in.status_code == 303
    (session,) = [cookie.value for cookie in client.cookies.jar]
    assert session
    told = argot("ask", f"What is the {CANARIES['question']} of a late tariff filing?", "--json", "--as", "ann",
                 "--home", served.home)  # fmt: skip
    shown.append(told)
    assert "401" in told or "refus" in told.lower(), "the model was asked, and failed"
    headers = {"Authorization": f"Bearer {CANARIES['header']}", "X-CSRF-Token": CANARIES["header"], **origin}
    asked = ("GET /nothing", "POST /account/password", "GET /account", "PUT /feedback", "POST /project/threads",
             "GET /project/thread/nothing", "GET /metrics", "POST /v1/chat/completions", "POST /api/ask")  # fmt: skip
    for method, path in (one.split() for one in asked):
        answer = client.request(method, path, headers=headers, content=b"{not json")
        shown.append(answer.text)
    shown.append(run("doctor", "--json", "--home", served.home).stdout)
    assert "the settings shown are its own" in shown[-1]
    shown.append(client.get("/metrics").text)
    assert "argot_questions_total" in shown[-1]
    served.stop()
    lines = [json.loads(line) for line in log().splitlines() if line.startswith("{")]
    assert any(
        line["logger"] == "argot.service.observability.instrumentation" and line["message"].startswith("question")
        for line in lines
    )
    assert any(line.get("request") for line in lines)
    said = log()
    for name, canary in {**CANARIES, "session": session}.items():
        assert canary not in said, f"{name} is in the log"
        if name != "question":
            assert [text[:500] for text in shown if canary in text] == [], f"{name} is in an answer"
    assert CANARIES["question"] not in shown[-1]
