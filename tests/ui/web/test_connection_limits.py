"""Tests of limits on connections: an address that opens too many loses its own; other addresses and commands go on."""

import asyncio
import errno
import logging
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import serving
import uvicorn
from serving import Served, argot
from websockets.asyncio.client import connect

from argot.service.knowledge_base import KnowledgeBase
from argot.service.observability.logs import RATE_LIMIT_SECONDS, RateLimitFilter
from argot.service.operations import file_handles
from argot.service.sign_in import access_tokens
from argot.service.transport.knowledge_base_client import LocalClient
from argot.service.usecases.people.api_keys import key_add
from argot.service.usecases.people.users import user_add
from argot.settings import Settings
from argot.ui.web.authentication import parse_networks
from argot.ui.web.connection_limits import (
    MAX_HEAD_BYTES,
    ConnectionLimits,
    CountedProtocol,
    CountedWebSocket,
    get_counted_address,
)

HANGS = 120
"""Seconds after which something is taken to hang; no measure of anything."""
FILES = 600
"""So many the service of these tests may open, as `ulimit -n` says."""
HEAD = b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"


# -- a service under attack -------------------------------------------------------------------------------------------


@contextmanager
def held(port: int, number: int, source: str, sent: bytes = b"") -> Iterator[list[socket.socket]]:
    """Open this number of connections from an address, and send only these bytes on each."""
    with ExitStack() as stack:
        opened = []
        for _ in range(number):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), HANGS, (source, 0)))
            one.sendall(sent)
            opened.append(one)
        yield opened


def asked(port: int, source: str, path: str = "/health", **options: Any) -> httpx.Response:
    with httpx.Client(transport=httpx.HTTPTransport(local_address=source), timeout=HANGS) as client:
        return client.request(options.pop("method", "GET"), f"http://127.0.0.1:{port}{path}", **options)


def test_a_service_with_few_file_handles_survives_idle_and_slow_connections(
    tiny_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    with LocalClient(KnowledgeBase.open(home, Settings(home=home))) as client:
        client.call(user_add, name="ann", password="tilted copper llama 9", role="admin")
        key = client.call(key_add, name="test", user="ann").key
    bounded = ["sh", "-c", f'ulimit -n {FILES} && exec "$0" "$@"', *serving.COMMAND]
    monkeypatch.setattr(serving, "COMMAND", bounded)
    with Served(home, ARGOT_CONNECTIONS_PER_ADDRESS="50") as served:
        monkeypatch.undo()
        port = served.port
        with (
            held(port, 300, "127.0.0.1"),
            held(port, 150, "127.0.0.2", b"GET /health HT"),
            held(port, 150, "127.0.0.3", HEAD + b"\r\nhalf"),
        ):
            for source in ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"):
                assert asked(port, source).json() == {"status": "ok"}
            question = {"question": "What does a late tariff filing cost?"}
            headers = {"Authorization": f"Bearer {key}"}
            answer = asked(port, "127.0.0.1", "/api/ask", method="POST", json=question, headers=headers)
            assert answer.status_code == 200
            assert "argot_http_requests_total" in argot("metrics", "--home", home)
            assert sum(1 for _ in Path(f"/proc/{served.process.pid}/fd").iterdir()) < FILES
        lines = served.wait_for_lines("connections are open")
        assert len(lines) == 1 and "connections_per_address" in lines[0]
        assert len("".join(served.said)) < 5000


# -- which connection is closed ---------------------------------------------------------------------------------------


class App:
    """An application that reads the body and answers when told to; it accepts and keeps websockets."""

    def __init__(self, body: bytes = b"ok") -> None:
        self.may_answer = asyncio.Event()
        self.asked = self.windows = 0
        self.body = body

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            self.windows += 1
            await receive()
            self.windows -= 1
            return
        while (await receive()).get("more_body"):
            pass
        self.asked += 1
        await self.may_answer.wait()
        length = str(len(self.body)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": self.body})


@asynccontextmanager
async def open_server(app: App, limits: ConnectionLimits) -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app,
        http=partial(CountedProtocol, limits=limits),  # type: ignore[arg-type]
        ws=partial(CountedWebSocket, limits=limits),  # type: ignore[arg-type]
        lifespan="off",
        log_config=None,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_keep_alive=HANGS,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await running


@dataclass
class Peer:
    """A connection; asyncio closes one whose writer is not referenced."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


async def opened(port: int, source: str, said: bytes = b"") -> Peer:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    writer.write(said)
    return Peer(reader, writer)


async def until(holds: Any) -> None:
    async with asyncio.timeout(HANGS):
        while not holds():  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.001)


async def ended(peer: Peer) -> bytes:
    """Return what came until the other side closed the connection; wait endlessly if it does not."""
    try:
        return await asyncio.wait_for(peer.reader.read(), HANGS)
    except ConnectionResetError:
        return b""


GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def test_the_longest_idle_connection_is_closed_and_active_ones_stay() -> None:
    app = App()
    async with open_server(app, ConnectionLimits(per_address=3)) as port:
        answered = await opened(port, "127.0.0.1", GET)
        await until(lambda: app.asked == 1)
        idle = await opened(port, "127.0.0.1")
        half = await opened(port, "127.0.0.1", b"GET / HT")
        newcomer = await opened(port, "127.0.0.1", GET)
        assert await ended(idle) == b""
        app.may_answer.set()
        for peer in (answered, newcomer):
            assert (await peer.reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        assert not half.reader.at_eof()


async def test_a_newcomer_is_refused_if_no_connection_is_idle() -> None:
    app = App()
    async with open_server(app, ConnectionLimits(per_address=2)) as port:
        kept = [await opened(port, "127.0.0.1", GET) for _ in range(2)]
        await until(lambda: app.asked == 2)
        refused = await opened(port, "127.0.0.1")
        assert (await ended(refused)).startswith(b"HTTP/1.1 503")
        kept.append(other := await opened(port, "127.0.0.2", GET))
        app.may_answer.set()
        assert (await other.reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")


async def test_open_windows_count_as_connections_until_they_close() -> None:
    app = App()
    async with open_server(app, ConnectionLimits(per_address=2)) as port:
        address = f"ws://127.0.0.1:{port}"
        async with connect(address), connect(address):
            refused = await opened(port, "127.0.0.1")
            assert (await ended(refused)).startswith(b"HTTP/1.1 503")
        await until(lambda: app.windows == 0)
        app.may_answer.set()
        for _ in range(3):
            peer = await opened(port, "127.0.0.1", GET)
            assert (await peer.reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
            peer.writer.close()


async def test_a_client_that_does_not_read_its_answer_is_disconnected() -> None:
    app = App(b"x" * 50_000_000)
    app.may_answer.set()
    async with open_server(app, ConnectionLimits(per_address=1)) as port:
        with socket.create_connection(("127.0.0.1", port)) as deaf:
            deaf.sendall(GET)
            await until(lambda: app.asked == 1)
            newcomer = await opened(port, "127.0.0.1", GET)
            assert (await newcomer.reader.read(20)).startswith(b"HTTP/1.1 200")
            newcomer.writer.close()


async def test_a_trusted_proxy_is_limited_only_by_the_total() -> None:
    app = App()
    limits = ConnectionLimits(total=4, per_address=1, proxies=parse_networks("127.0.0.9"))
    async with open_server(app, limits) as port:
        kept = []
        for number in range(3):
            kept.append(await opened(port, "127.0.0.9", GET))
            await until(lambda number=number: app.asked == number + 1)  # type: ignore[misc]
        idle = await opened(port, "127.0.0.9")
        kept.append(
            await opened(port, "127.0.0.1", GET)
        )  # now there are four in all, so one of an address with most of them is closed
        assert await ended(idle) == b""
        await until(lambda: app.asked == 4)
        refused = await opened(port, "127.0.0.9")
        assert (await ended(refused)).startswith(b"HTTP/1.1 503")


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
async def test_an_endless_request_head_ends_the_connection(sent: bytes) -> None:
    async with open_server(App(), ConnectionLimits()) as port:
        peer = await opened(port, "127.0.0.1", sent)
        with suppress(ConnectionError):  # closed while the client was still sending
            assert (said := await ended(peer)) == b"" or said.startswith(b"HTTP/1.1 400")


async def test_a_long_body_and_an_ordinary_long_head_are_accepted() -> None:
    app = App()
    app.may_answer.set()
    head = b"POST / HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"v" * 300) for n in range(100))
    async with open_server(app, ConnectionLimits()) as port:
        peer = await opened(port, "127.0.0.1")
        for _ in range(2):
            peer.writer.write(head + b"Content-Length: 300000\r\n\r\n" + b"a" * 300_000)
            assert (await peer.reader.readuntil(b"\r\n\r\nok")).startswith(b"HTTP/1.1 200")
        peer.writer.close()


def test_an_ipv6_network_counts_as_one_address() -> None:
    assert (
        get_counted_address("2001:db8:1:2::1")
        == get_counted_address("2001:db8:1:2:ffff::9")
        != get_counted_address("2001:db8:1:3::1")
    )
    assert get_counted_address("::ffff:192.0.2.1") == get_counted_address("192.0.2.1") == "192.0.2.1"


# -- file handles -----------------------------------------------------------------------------------------------------


def test_a_service_may_open_as_many_files_as_the_system_allows() -> None:
    script = (
        "import resource; from argot.service.operations import file_handles as handles\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (200, 900))\n"
        "print(handles.raise_limit(), *resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["900", "900", "900"]
    assert file_handles.raise_limit() == resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def test_some_file_handles_are_reserved() -> None:
    assert file_handles.count_for_connections(65_536) == 65_024
    assert file_handles.count_for_connections(1024) == 512
    assert file_handles.count_for_connections(256) == 64


def test_a_lack_of_file_handles_is_logged_once_a_minute() -> None:
    now = 0.0
    rate_limit = RateLimitFilter(lambda: now)

    def logged(error: Exception) -> logging.LogRecord | None:
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "accept", (), (type(error), error, None))
        return record if rate_limit.filter(record) else None

    out = OSError(errno.EMFILE, "Too many open files")
    wrapped = RuntimeError("cannot serve")
    wrapped.__cause__ = out
    first = logged(out)
    assert first and "LimitNOFILE" in str(first.__dict__["fields"])
    assert not logged(out) and not logged(wrapped) and logged(ValueError("another")) and logged(OSError(2, "none"))
    now = RATE_LIMIT_SECONDS
    again = logged(out)
    assert again and again.__dict__["fields"]["held_back"] == 2


def test_made_up_tokens_do_not_hide_in_the_log_why_a_real_one_is_refused() -> None:
    rate_limit, name = RateLimitFilter(lambda: 0.0), access_tokens.logger.name

    def is_logged(text: str) -> bool:
        return bool(rate_limit.filter(logging.LogRecord(name, logging.WARNING, "", 0, text, (), None)))

    made_up, real = "an assistant sent no signed JWT: %s", "an assistant could not sign in: %s"
    assert [is_logged(text) for text in (made_up, made_up, real, real)] == [True, False, True, False]
