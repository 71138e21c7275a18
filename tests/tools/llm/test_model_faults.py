"""A model server that misbehaves: each fault ends in time, is retried only where that is safe, and is named."""

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from argot.errors import ModelUnavailable
from argot.tools.llm.limits import is_repeating
from argot.tools.llm.model_server import ContextOverflow, ModelServer
from argot.tools.llm.structured_output import InvalidReply, check_schema, parse_object

INPUTS = {"passages": "The Word Line voltage is 4.5 V.", "question": "What is the WL voltage?"}
QUESTION = "What is the WL of a PUC?"
SHORT = {"model_first_token_seconds": 0.5, "model_seconds": 1.0}
AN_END = 120.0
"""Seconds: a call bounded by one, on a busy machine, is over long before; without its bound it never is."""


def model_of(server: Any, calls: list[Any] | None = None, **settings: Any) -> Any:
    connection = ModelServer.from_settings(server.settings(**settings))
    assert connection
    return connection.session([] if calls is None else calls)


async def ask_json(model: Any) -> Any:
    async with asyncio.timeout(AN_END):
        return await model.json("identify_jargon", question=QUESTION)


async def ask_text(model: Any) -> str:
    async with asyncio.timeout(AN_END):
        return "".join([piece async for piece in model.text("cited_answer", **INPUTS)])


FILTERED = '{"choices": [{"index": 0, "delta": {}, "finish_reason": "content_filter"}]}\n\ndata: [DONE]'
ASKS = pytest.mark.parametrize("ask", [ask_json, ask_text])


def about(name: str, clause: str, **options: Any) -> Any:
    return pytest.param(name, options, clause, id=f"{name}-{'-'.join(map(str, options.values()))}".rstrip("-"))


@ASKS
@pytest.mark.parametrize(
    ("name", "options", "clause"),
    [
        about("hang", "sent nothing within 0.5 s"),
        about("slow", "sent nothing within 0.5 s"),
        about("trickle", "sent nothing within 0.5 s", seconds=0.1),
        about("status", r"refused the key \(401\): set ARGOT_MODEL_KEY", code=401),
        about("status", r"refused the key \(403\): set ARGOT_MODEL_KEY", code=403),
        about("status", r"has too much to do \(429\)", code=429),
        about("status", r"failed \(500\)", code=500),
        about("status", r"failed \(502\)", code=502),
        about("status", r"is not ready \(503\)", code=503),
        about("status", r"failed \(504\)", code=504),
        about("status", r"refused the request \(418\)", code=418),
        about("status", r"answers as no model server does \(202\): see ARGOT_MODEL_URL", code=202),
        about("cut", "broke off"),
        about("end", "broke off its answer"),
        about("error_event", "failed while answering"),
        about("html", "answers with a page.*ARGOT_MODEL_URL"),
        about("redirect", r"sends elsewhere \(307\).*ARGOT_MODEL_URL", code=307),
        about("redirect", r"sends elsewhere \(301\).*ARGOT_MODEL_URL", code=301),
        about("garbage", "broke off the connection"),
        about("huge", "sent more than an answer can be long"),
        about("empty", "sent an empty answer"),
        about("unstreamed", "does not stream its answers"),
        about("event", "held its answer back by a filter", event=FILTERED),
        about("event", "sent what cannot be read", event="no JSON"),
        about("event", "sent what cannot be read|failed", event='{"choices": [{"delta": 7}]}'),
        about("event", "sent what cannot be read|failed", event='{"choices": {"a": "b"}}'),
        about("event", "failed while answering", event='{"error": {"message": "out of memory"}}'),
    ],
)
async def test_each_fault_ends_in_time_and_is_named(
    scripted_model: Any, name: str, options: dict[str, Any], clause: str, ask: Any
) -> None:
    scripted_model.fault(name, **options)
    calls: list[Any] = []
    model = model_of(scripted_model, calls, **(SHORT if "0.5 s" in clause else {}))
    with pytest.raises(ModelUnavailable, match=rf"^The language model server ({clause}).*\.$"):
        await ask(model)
    assert all(call.failed for call in calls)
    sent, recorded = len(scripted_model.requests), len(calls)
    with pytest.raises(ModelUnavailable, match=clause):  # the rest of the run does not try again ...
        await ask(model)
    assert len(calls) == recorded
    if "0.5 s" not in clause:  # there the server may read what it was sent only now
        assert len(scripted_model.requests) == sent
    scripted_model.heal()
    assert await ask(model_of(scripted_model))  # ... the next one does


@pytest.mark.parametrize("name", ["hang", "slow", "cut", "end", "error_event"])
async def test_a_request_is_not_retried_after_a_timeout_or_a_first_piece(scripted_model: Any, name: str) -> None:
    scripted_model.fault(name)
    with pytest.raises(ModelUnavailable):
        await ask_text(model_of(scripted_model, **SHORT))
    assert len(scripted_model.asked()) <= 1


@ASKS
@pytest.mark.parametrize("code", [500, 502, 503])
async def test_a_temporary_failure_is_retried_once(scripted_model: Any, code: int, ask: Any) -> None:
    model = model_of(scripted_model)
    assert await ask(model)
    scripted_model.fault("status", code=code, times=1)
    calls: list[Any] = []
    assert await ask(model_of(scripted_model, calls))
    assert [bool(call.failed) for call in calls] == [True, False]
    scripted_model.fault("status", code=code, times=2)
    with pytest.raises(ModelUnavailable):
        await ask(model_of(scripted_model))


@ASKS
async def test_a_connection_that_breaks_before_the_reply_is_retried(scripted_model: Any, ask: Any) -> None:
    await ask_json(model_of(scripted_model))
    scripted_model.fault("garbage", times=1)
    assert await ask(model_of(scripted_model))


@pytest.fixture
def refusing(scripted_model: Any) -> Iterator[Any]:
    scripted_model.fault("refuse")
    yield scripted_model


async def test_the_run_after_a_refused_connection_asks_again_at_once(refusing: Any) -> None:
    with pytest.raises(ModelUnavailable, match=f"cannot be reached at 127.0.0.1:{refusing.port}: start it"):
        await ask_json(model_of(refusing))
    refusing.heal()
    assert await ask_json(model_of(refusing)) == {"terms": []}


async def test_runs_after_a_connection_timeout_do_not_wait_again(
    scripted_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ModelServer.from_settings(scripted_model.settings())
    assert server
    await server.load()
    fault = server.fault(httpx.ConnectTimeout(""))
    assert "cannot be reached" in fault.clause
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await ask_text(model_of(scripted_model))
    assert scripted_model.requests == []
    monkeypatch.setattr("argot.tools.llm.model_server.time.monotonic", lambda: time.time() * 2)  # later
    server.refuse_if_down()


async def test_a_connection_timeout_of_a_busy_process_is_retried(
    scripted_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the retry, since a local connection succeeds or fails at once: one busy second must not lose the answer."""
    send, late = httpx.AsyncClient.send, iter([True])

    async def late_at_first(*given: Any, **more: Any) -> Any:
        if next(late, False):
            raise httpx.ConnectTimeout("")
        return await send(*given, **more)

    monkeypatch.setattr(httpx.AsyncClient, "send", late_at_first)
    for _ in range(2):  # and the next run asks it, too
        assert await ask_json(model_of(scripted_model)) == {"terms": []}


async def test_a_refused_connection_is_retried_once(refusing: Any) -> None:
    calls: list[Any] = []
    with pytest.raises(ModelUnavailable):
        await ask_json(model_of(refusing, calls))
    assert len(calls) == 2


async def test_a_server_that_dies_during_an_answer_raises_an_error(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "word " * 100)
    scripted_model.fault("pause", tokens=3)
    pieces: list[str] = []
    with pytest.raises(ModelUnavailable, match="broke off"):
        async for piece in model_of(scripted_model).text("cited_answer", **INPUTS):
            pieces.append(piece)
            if len(pieces) == 1:
                await asyncio.to_thread(scripted_model.fault, "refuse")
    assert 1 <= len(pieces) <= 3


@ASKS
@pytest.mark.parametrize(
    ("fault", "options"),
    [
        ("text", {"text": "abcdefghij" * 200_000}),  # one token, by its own count
        ("event", {"event": "x\ndata: " * 100_000}),  # one event of many lines
    ],
)
async def test_an_answer_beyond_the_size_limit_is_not_read(
    scripted_model: Any, fault: str, options: dict[str, Any], ask: Any
) -> None:
    """Check the limit on characters, whatever the server counts as tokens: the work grows with the length."""
    scripted_model.fault(fault, **options)
    with pytest.raises(ModelUnavailable, match="sent more than an answer can be long"):
        await ask(model_of(scripted_model))


async def test_control_and_surrogate_characters_of_a_reply_are_removed(scripted_model: Any) -> None:
    delta = {"choices": [{"index": 0, "delta": {"content": "4.5\ud800 \x00\x1b[31mV\u202e. "}}]}
    scripted_model.reply("cited_answer", "It is.")
    scripted_model.fault("event", event=json.dumps(delta))
    assert await ask_text(model_of(scripted_model)) == "4.5 [31mV. It is."
    scripted_model.heal()
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    scripted_model.reply("cited_answer", f"\ufeffIt\u200b is\u2060 4.5\xa0V{hidden}.\u2028می\u200cخواهم 👩\u200d🔧.")
    assert await ask_text(model_of(scripted_model)) == "It is 4.5\xa0V.\nمی\u200cخواهم 👩\u200d🔧."
    scripted_model.fault("text", text='{"terms": ["W\\ud800L\\u0000"]}')
    assert await ask_json(model_of(scripted_model)) == {"terms": ["WL"]}


@pytest.mark.parametrize("count", [10**30, -1, "12"])
async def test_an_invalid_token_count_does_not_spoil_the_answer(scripted_model: Any, count: Any) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": count, "total_tokens": 1}
    scripted_model.reply("cited_answer", "It is 4.5 V.")
    scripted_model.fault("event", event=json.dumps({"choices": [], "usage": usage}))
    calls: list[Any] = []
    assert await ask_text(model_of(scripted_model, calls)) == "It is 4.5 V."
    assert not calls[0].failed


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "snappy"])
async def test_an_unsupported_content_encoding_is_refused(scripted_model: Any, coding: str) -> None:
    from argot.tools.llm.address import parse_address
    from argot.tools.llm.faults import WrongAnswer
    from argot.tools.llm.model_client import ModelClient

    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: {coding}\r\n\r\n".encode()
    scripted_model.fault("raw", head=head)
    client = ModelClient(scripted_model.settings(), parse_address(scripted_model.url))
    with pytest.raises(WrongAnswer, match="cannot be read"):
        await client.stream({}, "")
    await client.aclose()


# -- replies


@pytest.mark.parametrize(("name", "reason"), [("invalid_json", "no JSON"), ("wrong_schema", "it lacks terms")])
async def test_invalid_json_replies_fail_and_finally_end_the_run(scripted_model: Any, name: str, reason: str) -> None:
    scripted_model.fault(name, prompt="identify_jargon")
    calls: list[Any] = []
    model = model_of(scripted_model, calls)
    with pytest.raises(ModelUnavailable, match=f"did not reply with the JSON it was asked for: {reason}"):
        await ask_json(model)
    assert len(calls) == 2  # asked again once, with the schema in words
    assert "JSON schema" in scripted_model.asked()[1].system
    assert model.failed is None  # the server lives: a text can still be had
    assert await ask_text(model)
    with pytest.raises(ModelUnavailable):
        await ask_json(model)
    assert model.failed  # but not for ever


async def test_a_single_invalid_reply_is_retried(scripted_model: Any) -> None:
    scripted_model.fault("invalid_json", times=1)
    assert await ask_json(model_of(scripted_model)) == {"terms": []}


async def test_endless_blanks_in_a_reply_are_cut_short(scripted_model: Any) -> None:
    scripted_model.fault("blanks")
    scripted_model.speed = 0.001
    with pytest.raises(ModelUnavailable, match="broken JSON"):
        await ask_json(model_of(scripted_model))
    assert all(len(one.sent) <= one.body["max_tokens"] for one in scripted_model.asked())


async def test_a_reply_before_endless_blanks_is_used(scripted_model: Any) -> None:
    scripted_model.heal()
    scripted_model.fault("text", text='{"terms": ["WL"]}' + "\n" * 5000)
    assert await ask_json(model_of(scripted_model)) == {"terms": ["WL"]}


async def test_a_model_that_repeats_itself_is_stopped(scripted_model: Any) -> None:
    scripted_model.fault("loop")
    scripted_model.speed = 0.001
    calls: list[Any] = []
    model = model_of(scripted_model, calls, model_answer_tokens=4000, model_context=8000)
    scripted_model.context = 8000
    assert 200 < len(await ask_text(model)) < 2000
    assert (calls[0].failed, model.failed) == ("repeated itself and was stopped", None)
    assert scripted_model.wait_until(lambda: scripted_model.asked()[0].gone)


async def test_a_text_beyond_the_token_limit_is_cut_with_an_ellipsis(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", " ".join(str(n) for n in range(5000)))
    *words, last = (await ask_text(model_of(scripted_model, model_answer_tokens=50))).split()
    assert (len(words), last) == (50, "…")  # who reads it sees that it broke off


async def test_the_duration_of_a_streaming_call_is_bounded(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", " ".join(str(n) for n in range(5000)))
    scripted_model.speed = 0.1
    with pytest.raises(ModelUnavailable, match="was not done within 6 s"):
        await ask_text(model_of(scripted_model, model_seconds=6))


async def test_the_time_a_slow_reader_takes_is_not_bounded(
    scripted_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that only waiting for the server is bounded: the caller's own work must not be cancelled."""
    bounds: list[asyncio.Timeout] = []
    timeout = asyncio.timeout

    def noted(seconds: float | None) -> asyncio.Timeout:
        bounds.append(timeout(seconds))
        return bounds[-1]

    monkeypatch.setattr(asyncio, "timeout", noted)
    scripted_model.reply("cited_answer", "It is 4.5 V [1].")
    pieces = []
    async for piece in model_of(scripted_model).text("cited_answer", **INPUTS):
        pieces.append(piece)
        assert bounds and not [one for one in bounds if "active" in repr(one)], "a bound runs on"
    assert "".join(pieces) == "It is 4.5 V [1]."


# -- stopping


async def test_closing_the_text_ends_the_request(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "word " * 500)
    scripted_model.fault("pause", tokens=5)
    calls: list[Any] = []
    async with aclosing(model_of(scripted_model, calls).text("cited_answer", **INPUTS)) as pieces:
        assert await anext(pieces)
    (request,) = scripted_model.asked()
    assert scripted_model.wait_until(lambda: request.gone)
    assert len(request.sent) <= 5
    assert calls[0].failed == "was stopped by its reader"


@ASKS
@pytest.mark.parametrize("fault", ["slow", "pause"])
async def test_cancelling_the_task_ends_the_request(scripted_model: Any, ask: Any, fault: str) -> None:
    scripted_model.reply("cited_answer", "word " * 500)
    scripted_model.reply("identify_jargon", "word " * 500)
    scripted_model.fault(fault, tokens=5)
    calls: list[Any] = []
    task = asyncio.create_task(ask(model_of(scripted_model, calls)))
    begun = lambda: [one for one in scripted_model.asked() if fault == "slow" or len(one.sent) == 5]  # noqa: E731
    assert await asyncio.to_thread(scripted_model.wait_until, begun)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert scripted_model.wait_until(lambda: scripted_model.asked()[0].gone)
    assert calls[0].failed == "was cancelled"


async def test_a_stopped_text_frees_its_connection(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", " ".join(str(n) for n in range(50)))
    model = model_of(scripted_model)
    for _ in range(3):
        async with aclosing(model.text("cited_answer", **INPUTS)) as pieces:
            await anext(pieces)
    assert (await ask_text(model)).split() == [str(n) for n in range(50)]


# -- too long


async def test_a_context_overflow_has_its_own_error_and_does_not_end_the_run(scripted_model: Any) -> None:
    scripted_model.fault("overflow", times=1)
    model = model_of(scripted_model)
    with pytest.raises(ContextOverflow, match="longer than its model's context"):
        await ask_text(model)
    assert model.failed is None
    assert await ask_text(model)


async def test_a_question_longer_than_the_context_overflows(scripted_model: Any) -> None:
    scripted_model.context = 600
    with pytest.raises(ContextOverflow):
        await model_of(scripted_model).json("identify_jargon", question="word " * 2000)


# -- the parts


@pytest.mark.parametrize(
    "text",
    ["na " * 100, "One line of it.\n" * 20, "An answer first. " + "ha" * 200, " " * 300],
)
def test_repeating_text_is_recognised(text: str) -> None:
    assert is_repeating(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "word " * 10,
        "".join(f"| {n} C | {n * 3} mA | pass |\n" for n in range(40)),
        "\n".join(f"{n}. Open the panel and press the button {n}." for n in range(30)),
    ],
)
def test_ordinary_text_is_not_taken_for_repetition(text: str) -> None:
    assert not is_repeating(text)


SCHEMA = {
    "type": "object",
    "properties": {
        "label": {"enum": ["a", "b"]},
        "score": {"type": "integer", "minimum": 1, "maximum": 5},
        "terms": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 3}},
    },
    "required": ["label"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "text",
    [
        '{"label": "a"}',
        'Sure:\n```json\n{"label": "b", "score": 5}\n```',
        '{"label": "a", "terms": ["x", "yz"]} and more',
    ],
)
def test_replies_that_fit_the_schema_are_parsed(text: str) -> None:
    assert parse_object(text, SCHEMA)["label"] in "ab"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON"),
        ("[1]", "no JSON"),
        ('{"label": "a"', "broken JSON"),
        ("{" * 100_000, "broken JSON"),
        ('{"label": "c"}', "label breaks enum"),
        ("{}", "it lacks label"),
        ('{"label": "a", "more": 1}', "nobody asked for"),
        ('{"label": "a", "score": 6}', "score breaks maximum"),
        ('{"label": "a", "score": true}', "score is not of type integer"),
        ('{"label": "a", "score": "5"}', "score is not of type integer"),
        ('{"label": "a", "terms": ["abcd"]}', r"terms\[0\] breaks maxLength"),
        ('{"label": "a", "terms": ["a", "b", "c"]}', "terms breaks maxItems"),
    ],
)
def test_replies_that_do_not_fit_the_schema_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidReply, match=reason):
        parse_object(text, SCHEMA)


def test_an_unsupported_schema_keyword_is_refused() -> None:
    with pytest.raises(ValueError, match="pattern"):
        check_schema("x", {"type": "string", "pattern": "y"})
