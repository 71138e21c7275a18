"""What a model server may send: valid streams are read alike in every form, and invalid ones are reported."""

import asyncio
import json
import zlib
from typing import Any

import pytest

from argot.errors import ModelUnavailable
from argot.tools.llm.model_server import ModelServer

INPUTS = {"passages": "The Word Line voltage is 4.5 V.", "question": "What is the WL voltage?"}
ANSWER = "It is 4.5 V — über [1]."
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
CHUNKED = HEAD.replace(b"\r\n\r\n", b"\r\ntransfer-encoding: chunked\r\n\r\n")
GZIP = HEAD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
AN_END = 120.0
"""Seconds after which a call that should end never will."""
PATIENT = {"model_connect_seconds": 60, "model_first_token_seconds": 600, "model_seconds": 3600}
"""Seconds: nothing here is about time, so that a busy machine spoils nothing."""


def model_of(server: Any, calls: list[Any] | None = None) -> Any:
    connection = ModelServer.from_settings(server.settings(**PATIENT))
    assert connection
    return connection.session([] if calls is None else calls)


async def said(model: Any) -> str:
    async with asyncio.timeout(AN_END):
        return "".join([piece async for piece in model.text("cited_answer", **INPUTS)])


def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}


def events(ascii_only: bool = True, end: str = "\n\n", indent: int | None = None) -> bytes:
    """Return the answer as three events and the end event."""
    parts = [chunk(ANSWER[:9]), chunk(ANSWER[9:]), chunk("", "stop")]
    written = [json.dumps(part, ensure_ascii=ascii_only, indent=indent) for part in parts]
    return "".join(f"data: {one}{end}".replace("\n ", "\ndata: ") for one in [*written, "[DONE]"]).encode()


# -- streams that read alike -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(events(), id="plain"),
        pytest.param(events(ascii_only=False), id="utf-8"),
        pytest.param(events(end="\r\n\r\n"), id="crlf"),
        pytest.param(events(end="\r\r"), id="cr"),
        pytest.param(b": ping\n\n" + events().replace(b"\n\ndata", b"\n\n: ping\n\ndata"), id="comments"),
        pytest.param(b"\xef\xbb\xbf" + b"\n\n" + events(), id="byte-order-mark"),
        pytest.param(events().replace(b"data: ", b"data:"), id="no-blank"),
        pytest.param(events().replace(b"data: ", b"id: 7\nretry: 1\nevent: message\ndata: "), id="other-fields"),
        pytest.param(events().replace(b"data: [DONE]\n\n", b""), id="no-done"),
        pytest.param(events() + events(), id="more-behind-done"),
        pytest.param(
            events().replace(b'"It is 4.5"', b'[{"type": "thinking"}, {"type": "text", "text": "It is 4.5"}]'),
            id="parts",
        ),
    ],
)
@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
async def test_a_stream_is_read_in_every_valid_form(scripted_model: Any, stream: bytes, version: bytes) -> None:
    scripted_model.fault(
        "raw", head=HEAD.replace(b"1.1", version) + stream, prompt="cited_answer", path="/v1/chat/completions"
    )
    assert await said(model_of(scripted_model)) == ANSWER


@pytest.mark.parametrize("ascii_only", [True, False])
async def test_a_stream_is_read_byte_by_byte(scripted_model: Any, ascii_only: bool) -> None:
    """Send one byte per HTTP chunk, so that every character and escape is split somewhere."""
    pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in events(ascii_only=ascii_only))
    head = CHUNKED + pieces + b"0\r\n\r\n"
    scripted_model.fault("raw", head=head, prompt="cited_answer", path="/v1/chat/completions")
    assert await said(model_of(scripted_model)) == ANSWER


# -- behind the end of a reply -----------------------------------------------------------------------------------------


def counted(**usage: Any) -> bytes:
    return f"data: {json.dumps({'choices': [], 'usage': {**USAGE, **usage}})}\n\n".encode()


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(b"data: no JSON\n\n", id="no-json"),
        pytest.param(b'data: {"choices": [], "usage": "lots"}\n\n', id="words-for-counts"),
        pytest.param(counted(prompt_tokens=1.5), id="half-a-token"),
        pytest.param(counted(prompt_tokens=float("nan")), id="nan"),
        pytest.param(counted(prompt_tokens_details="none"), id="words-for-details"),
        pytest.param(b'data: {"error": {"message": "out of memory"}}\n\n', id="error"),
        pytest.param(b": bye\n\n", id="hung-up"),
    ],
)
async def test_data_after_the_end_of_a_reply_is_ignored(scripted_model: Any, more: bytes) -> None:
    scripted_model.reply("cited_answer", ANSWER)
    scripted_model.fault("after", more=more, hangs_up=True)
    calls: list[Any] = []
    assert await said(model_of(scripted_model, calls)) == ANSWER
    assert [call.failed for call in calls] == [""]


async def test_a_server_that_never_closes_a_finished_reply_is_not_waited_for(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", ANSWER)
    scripted_model.fault("after")
    assert await said(model_of(scripted_model)) == ANSWER
    assert scripted_model.wait_until(lambda: scripted_model.asked()[0].gone)


async def test_a_server_that_marks_every_piece_as_last_is_read_to_the_end(
    scripted_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argot.tools.llm.completion.TRAILER_SECONDS", AN_END)
    pieces = [chunk(word, "stop") for word in ("It ", "is ", "4.5 V.")]
    stream = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces).encode()
    scripted_model.fault("raw", head=HEAD + stream, prompt="cited_answer", path="/v1/chat/completions")
    assert await said(model_of(scripted_model)) == "It is 4.5 V."


UNREADABLE = "sent what cannot be read:"
ODD = "something that is no part of an answer"


def odd(**delta: Any) -> bytes:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': None}]})}\n\n".encode()


# -- what is no reply --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "clause"),
    [
        pytest.param(b"", "broke off the connection", id="nothing"),
        pytest.param(HEAD[:30], "broke off the connection", id="half-a-header"),
        pytest.param(b"HTTP/1.1 abc OK\r\n\r\n", "broke off the connection", id="no-status"),
        pytest.param(b"HTTP/1.1 101 Up\r\nupgrade: x\r\n\r\n", "broke off the connection", id="another-protocol"),
        pytest.param(HEAD[:-2] + b"x: " + b"y" * 200_000, "broke off the connection", id="header-without-end"),
        pytest.param(CHUNKED + b"zz\r\n" + events(), "broke off the connection", id="no-size-of-a-chunk"),
        pytest.param(CHUNKED + b"5\r\n" + events(), "broke off the connection", id="wrong-size-of-a-chunk"),
        pytest.param(GZIP + b"\x1f\x8bnothing" * 9, "sent what cannot be read: a compression", id="no-gzip"),
        pytest.param(GZIP + events(), "sent what cannot be read: a compression", id="not-compressed"),
        pytest.param(GZIP + zlib.compress(b"x" * 10**7, wbits=31), "sent more than an answer can be long", id="bomb"),
        pytest.param(HEAD, "sent an empty answer", id="no-event"),
        pytest.param(HEAD + b"data: [DONE]\n\n", "sent an empty answer", id="done-at-once"),
        pytest.param(HEAD + b"<html>Log in</html>", "sent an empty answer", id="a-page-that-says-it-streams"),
        pytest.param(HEAD + b"data: " + b"[" * 100_000 + b"\n\n", f"{UNREADABLE} JSON of too many layers", id="deep"),
        pytest.param(HEAD + b'data: {"choices": "\xff"}\n\n', f"{UNREADABLE} no UTF-8", id="no-utf-8"),
        pytest.param(HEAD + b"data: no JSON\n\n", f"{UNREADABLE} broken JSON", id="no-json"),
        pytest.param(HEAD + b"data: null\n\n", f"{UNREADABLE} {ODD}", id="null"),
        pytest.param(HEAD + b"data: [7]\n\n", f"{UNREADABLE} {ODD}", id="list"),
        pytest.param(HEAD + b'data: {"choices": [7]}\n\n', f"{UNREADABLE} {ODD}", id="number-for-a-choice"),
        pytest.param(HEAD + odd(content=7), f"{UNREADABLE} {ODD}", id="number-for-a-text"),
        pytest.param(HEAD + odd(role="user", content="x"), f"{UNREADABLE} {ODD}", id="an-asker's-words"),
        pytest.param(HEAD + odd(content="x", tool_calls=7), f"{UNREADABLE} {ODD}", id="number-for-tools"),
    ],
)
async def test_an_invalid_reply_is_reported_with_its_fault(scripted_model: Any, head: bytes, clause: str) -> None:
    scripted_model.fault("raw", head=head, prompt="cited_answer", path="/v1/chat/completions")
    with pytest.raises(ModelUnavailable, match=rf"^The language model server {clause}.*\.$"):
        await said(model_of(scripted_model))
    scripted_model.heal()
    assert await said(model_of(scripted_model))
