"""Half a request does not hold a connection for ever; a slow answer, and a sender that goes on, are left alone.

The clock of these tests goes on only when they say so, or with every look: how busy the machine is decides nothing.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn

from argot.ui.web import slow_clients

HANGS = 120
"""Seconds after which something is taken to hang; no measure of anything."""
HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"


class Clocked(slow_clients.ImpatientProtocol):
    """`now` seconds by its own clock, which goes on by `each_look` whenever it looks; `looks`: how often it has."""

    now, each_look, looks = 0.0, 0.0, 0

    def _now(self) -> float:
        return Clocked.now

    def _look_again(self) -> None:
        Clocked.now += Clocked.each_look
        Clocked.looks += 1
        super()._look_again()


class App:
    """Reads the body, and answers when it is told to."""

    def __init__(self) -> None:
        self.read = b""
        self.may_answer = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            self.read += message.get("body", b"")
            more = message.get("more_body", False)
        if message["type"] == "http.disconnect":
            return
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def serving(monkeypatch: pytest.MonkeyPatch, app: App, each_look: float = 0.0) -> AsyncIterator[int]:
    monkeypatch.setattr(slow_clients, "CHECK_SECONDS", 0.001)
    monkeypatch.setattr(Clocked, "now", 0.0)
    monkeypatch.setattr(Clocked, "each_look", each_look)
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=Clocked, lifespan="off", log_config=None, timeout_keep_alive=HANGS)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await running


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANGS):
        while not holds():  # noqa: ASYNC110 - nobody tells of a look
            await asyncio.sleep(0.001)


async def pass_by(seconds: float) -> None:
    """So much time by the server's clock, and some looks after it."""
    Clocked.now += seconds
    enough = Clocked.looks + 3
    await until(lambda: Clocked.looks >= enough)


@pytest.mark.parametrize("sent", [b"", b"POST / HT", HEAD, HEAD + b"\r\nab"], ids=["nothing", "line", "head", "body"])
async def test_half_a_request_is_closed(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(monkeypatch, App(), each_look=1.0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        assert await asyncio.wait_for(reader.read(), HANGS) == b""
        writer.close()


LONG = b"a" * 8_000_000


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /" + LONG,
        HEAD + b"X: " + LONG,
        HEAD + b"a:\r\n" * 500_000,
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: " + LONG,
    ],
    ids=["address", "header", "headers", "trailer"],
)
async def test_a_head_without_end_is_not_kept(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(monkeypatch, App()) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        with suppress(ConnectionError):  # it was cut while we went on sending
            said = await asyncio.wait_for(reader.read(), HANGS)
            assert said == b"" or said.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400"))
        writer.close()


async def test_a_long_body_and_an_ordinary_long_head_are_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    app = App()
    app.may_answer.set()
    head = b"POST / HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"v" * 300) for n in range(100))
    async with serving(monkeypatch, app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            app.read = b""
            writer.write(head + b"Content-Length: 300000\r\n\r\n" + b"a" * 300_000)
            answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HANGS)
            assert answer.startswith(b"HTTP/1.1 200") and await reader.readexactly(2) == b"ok"
            assert len(app.read) == 300_000
        writer.close()


async def test_who_goes_on_sending_and_who_waits_for_an_answer_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    app = App()
    async with serving(monkeypatch, app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            app.read = b""
            app.may_answer.clear()
            writer.write(HEAD + b"\r\n")
            for read in (b"a", b"ab", b"abc", b"abcd"):
                writer.write(read[-1:])
                await until(lambda read=read: app.read == read)  # type: ignore[misc]
                await pass_by(0.9 * slow_clients.SILENCE_SECONDS)
            await pass_by(10 * slow_clients.SILENCE_SECONDS)
            app.may_answer.set()
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HANGS)
            assert head.startswith(b"HTTP/1.1 200") and await reader.readexactly(2) == b"ok"
        writer.close()
