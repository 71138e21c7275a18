"""The client of the model server: events in any pieces, reused connections, certificates and proxies."""

import asyncio
import json
import ssl
import subprocess
import sys
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argot.errors import ModelUnavailable
from argot.settings import Settings
from argot.tools.llm.limits import MAX_EVENT_BYTES, BodyTooLarge
from argot.tools.llm.model_client import GATHER_SECONDS, MAX_UNGATHERED_READS
from argot.tools.llm.model_server import ModelServer
from argot.tools.llm.sse import EventParser

INPUTS = {"passages": "The Word Line voltage is 4.5 V.", "question": "What is the WL voltage?"}
PATIENT = {"model_connect_seconds": 60, "model_first_token_seconds": 600, "model_seconds": 3600}
AN_END = 120.0
"""Seconds after which a call that should end never will."""


def model_of(settings: Settings) -> Any:
    server = ModelServer.from_settings(settings)
    assert server
    return server.session([])


async def said(model: Any) -> str:
    async with asyncio.timeout(AN_END):
        return "".join([piece async for piece in model.text("cited_answer", **INPUTS)])


# -- events -----------------------------------------------------------------------------------------------------------

LINES = st.sampled_from([b"data: a", b"data:b", b"data", b"data: \xc3\xbc", b": ping", b"id: 7", b"event: x", b"", b""])
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(lines=st.lists(st.tuples(LINES, ENDS), max_size=12), cuts=st.lists(st.integers(0, 120), max_size=12))
def test_events_are_parsed_alike_from_any_pieces(lines: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    stream = b"".join(line + end for line, end in lines)
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    parser, bytewise = EventParser(), EventParser()
    in_pieces = [one for a, b in pairwise(places) for one in parser.feed(stream[a:b])]
    in_bytes = [one for n in range(len(stream)) for one in bytewise.feed(stream[n : n + 1])]
    assert in_pieces == in_bytes == EventParser().feed(stream) == expected(stream)


def expected(stream: bytes) -> list[bytes]:
    """Return the events of a complete stream, parsed as the specification says."""
    events: list[bytes] = []
    data: list[bytes] = []
    for line in stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]:
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif not line and data:
            events.append(b"\n".join(data))
            data = []
    return events


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 1000, b"data: " + b"x" * 1000 + b"\n", b"x" * 1000])
def test_an_endless_event_is_refused(piece: bytes) -> None:
    parser = EventParser()
    with pytest.raises(BodyTooLarge):
        for _ in range(MAX_EVENT_BYTES // 900):
            parser.feed(piece)


def test_endless_comments_are_not_an_event() -> None:
    parser = EventParser()
    assert not [one for _ in range(MAX_EVENT_BYTES // 6) for one in parser.feed(b": ping\n")]


# -- connections ------------------------------------------------------------------------------------------------------


async def test_one_connection_serves_several_calls(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "It is 4.5 V [1].")
    model = model_of(scripted_model.settings(**PATIENT))
    assert [await said(model) for _ in range(4)] == ["It is 4.5 V [1]."] * 4
    assert len(scripted_model._handlers) == 1


async def test_a_separate_reasoning_field_is_not_part_of_the_answer(scripted_model: Any) -> None:
    for name in ("reasoning_content", "reasoning"):
        chunk = {"choices": [{"index": 0, "delta": {name: "The asker wants volts."}, "finish_reason": None}]}
        scripted_model.reply("cited_answer", "It is 4.5 V [1].")
        scripted_model.fault("event", event=json.dumps(chunk), times=1)
        scripted_model.fault("slow", seconds=0)
        calls: list[Any] = []
        server = ModelServer.from_settings(scripted_model.settings(**PATIENT))
        assert server
        assert await said(server.session(calls)) == "It is 4.5 V [1]."
        assert calls[0].first_token_seconds > 0
        scripted_model.heal()


def test_answering_a_question_does_not_import_openai() -> None:
    """Check it since neither openai nor LangChain's client of it is installed any more, and importing takes seconds."""
    script = (
        "import sys; "
        "import argot.tools.llm.model_client, argot.tools.llm.model_server, argot.service.usecases.catalogue;"
        "print(*{'openai', 'langchain_openai'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


# -- certificates and proxies -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a self-signed certificate for 127.0.0.1, with its key in the same file."""
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=argot -addext subjectAltName=IP:127.0.0.1"
    made = [*command.split(), "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    try:
        subprocess.run(made, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed here")
    return folder


async def over_tls(certificate: Path, plain_port: int) -> asyncio.Server:
    """Start a proxy that decrypts TLS and forwards the data."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except (ConnectionError, ssl.SSLError):
            pass
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", plain_port)
        await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer))

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    return await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)


@pytest.mark.parametrize("is_named", [True, False])
async def test_a_self_signed_certificate_needs_ssl_cert_file(
    scripted_model: Any, certificate: Path, monkeypatch: pytest.MonkeyPatch, is_named: bool
) -> None:
    if is_named:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    scripted_model.reply("cited_answer", "It is 4.5 V [1].")
    front = await over_tls(certificate, scripted_model.port)
    url = f"https://127.0.0.1:{front.sockets[0].getsockname()[1]}/v1"
    model = model_of(Settings(model_url=url, **PATIENT))
    try:
        if is_named:
            assert await said(model) == "It is 4.5 V [1]."
        else:
            with pytest.raises(ModelUnavailable, match=r"a certificate that is not trusted: .* SSL_CERT_FILE"):
                await said(model)
            assert not scripted_model.requests
    finally:
        await model._server.aclose()
        front.close()


async def test_a_remote_server_is_reached_through_the_configured_proxy(
    scripted_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ALL_PROXY", "all_proxy", "http_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{scripted_model.port}")
    scripted_model.reply("cited_answer", "It is 4.5 V [1].")
    assert await said(model_of(Settings(model_url="http://models.invalid/v1", **PATIENT))) == "It is 4.5 V [1]."
    assert scripted_model.asked()[0].path == "http://models.invalid/v1/chat/completions"


async def test_tokens_are_read_in_groups_after_the_start_of_an_answer(
    scripted_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check also that JSON is not gathered: nobody reads it while it streams, and later stages would wait."""
    rests: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float, *more: Any) -> None:
        if seconds == GATHER_SECONDS:
            rests.append(seconds)
        await sleep(seconds, *more)

    monkeypatch.setattr("argot.tools.llm.model_client.asyncio.sleep", noted)
    words = " ".join(str(number) for number in range(60))
    scripted_model.speed = 0.005
    scripted_model.reply("cited_answer", words)
    model = model_of(scripted_model.settings(**PATIENT))
    assert await said(model) == words
    assert 1 <= len(rests) < 60 - MAX_UNGATHERED_READS
    rests.clear()
    scripted_model.reply("identify_jargon", {"terms": ["word " * 8] * 8})
    await model.json("identify_jargon", question="What is it?")
    assert not rests


# -- stopping ---------------------------------------------------------------------------------------------------------


async def test_a_reply_ends_with_its_last_event(scripted_model: Any) -> None:
    """Check that a server that keeps the body open after [DONE] delays the reader only slightly."""
    scripted_model.reply("cited_answer", "It is 4.5 V [1].")
    scripted_model.fault("after", more=b"data: [DONE]\n\n")
    model = model_of(scripted_model.settings(**PATIENT))
    assert await said(model) == "It is 4.5 V [1]."
    assert await asyncio.to_thread(scripted_model.wait_until, lambda: scripted_model.asked()[0].gone)


async def test_a_reader_that_stops_during_a_pause_ends_the_request(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "word " * 500)
    scripted_model.fault("pause", tokens=3)
    async with aclosing(model_of(scripted_model.settings(**PATIENT)).text("cited_answer", **INPUTS)) as pieces:
        await anext(pieces)
    assert await asyncio.to_thread(scripted_model.wait_until, lambda: scripted_model.asked()[0].gone)
