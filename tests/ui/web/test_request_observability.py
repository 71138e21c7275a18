"""Tests of request logging: a client that leaves is no failure, and a failure is logged once."""

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol
from uvicorn.server import ServerState

from argot.settings import Settings
from argot.ui.web.authorization import PAGE_ROOTS
from argot.ui.web.observability import RequestObserver, get_surface

SOCKET = {"type": "websocket", "path": "/ws/socket.io/", "headers": []}
HANDSHAKE = (
    b"GET /ws/socket.io/ HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def watch(app: Any) -> RequestObserver:
    kb: Any = SimpleNamespace(settings=Settings(), metrics=None)
    return RequestObserver(app, kb, SimpleNamespace())  # type: ignore[arg-type]


async def nothing() -> Any:
    raise AssertionError("nothing is to be received")


async def unheard(message: Any) -> None:
    raise AssertionError(message)


async def test_a_client_that_leaves_before_its_connection_is_open_is_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def accepts_too_late(scope: Any, receive: Any, send: Any) -> None:
        raise ClientDisconnected

    with pytest.raises(ClientDisconnected):  # the server handles it without a log message
        await watch(accepts_too_late)(dict(SOCKET), nothing, unheard)
    assert caplog.records == []


async def test_the_server_does_not_log_a_client_that_left_early(caplog: pytest.LogCaptureFixture) -> None:
    """Check the server's own protocol with a connection lost before the application accepts it."""
    began, left, ended, lost = asyncio.Event(), asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        began.set()
        await left.wait()
        try:
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.send", "text": "hello"})
        finally:
            ended.set()

    class Told(AutoWebSocketsProtocol):  # type: ignore[misc, valid-type]
        def connection_lost(self, error: Exception | None) -> None:
            super().connection_lost(error)
            lost.set()

    config = Config(watch(slow), log_config=None, lifespan="off")
    config.load()
    server = await asyncio.get_running_loop().create_server(lambda: Told(config, ServerState(), {}), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HANDSHAKE)
        await asyncio.wait_for(began.wait(), 60)
        writer.transport.abort()
        await asyncio.wait_for(lost.wait(), 60)
        left.set()
        await asyncio.wait_for(ended.wait(), 60)
        await asyncio.sleep(0)  # let the code after the application run
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == []


async def test_a_failure_in_a_connection_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async def fails(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("broken")

    await watch(fails)(dict(SOCKET), nothing, unheard)
    assert [one.getMessage() for one in caplog.records] == ["a connection failed"]


@pytest.mark.parametrize("path", [f"{root}{more}" for root in PAGE_ROOTS for more in ("", "/one")])
def test_every_page_is_counted_under_the_surface_pages(path: str) -> None:
    assert get_surface(path) == "pages"
    assert get_surface(f"/chat{path}") == "chat"
