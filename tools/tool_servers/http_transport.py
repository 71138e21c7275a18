"""An MCP server at an address (streamable HTTP), whose answers have a greatest size.

Only the address of the file of servers is asked: no redirect leads to another host.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

import httpx

from argot.tools.llm.address import is_local
from argot.tools.tool_servers.stdio_transport import Fail

if TYPE_CHECKING:
    from argot.tools.tool_servers.stdio_transport import Streams

MAX_RESPONSES = 60
"""Responses that are read in one connection: a server can have the SDK ask again and again, without a pause."""


@asynccontextmanager
async def connect_server(url: str, secret: str, seconds: float, most: int, fail: Fail) -> AsyncIterator[Streams]:
    """Yield the streams of messages from and to the server at this address.

    Args:
        secret: the bearer token; empty: none.
        seconds: the longest wait for the connection, or for data.
        most: bytes of all answers together.
        fail: is called when it cannot be reached, refuses, or sends more.
    """
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {secret}"} if secret else {})
    is_here = is_local(urlsplit(url).hostname or "")
    client = httpx.AsyncClient(
        headers=headers,
        timeout=seconds,
        trust_env=not is_here,  # a proxy is for what leaves this machine
        follow_redirects=False,
        event_hooks={"response": [_Meter(most, fail).check]},
    )
    async with client, streamable_http_client(url, http_client=client) as (received, sent, _):
        yield received, sent


class _Meter:
    """Counts the bytes of all responses, before anything else reads them."""

    def __init__(self, most: int, fail: Fail) -> None:
        self._left, self._fail, self._responses = most, fail, 0

    async def check(self, response: httpx.Response) -> None:
        self._responses += 1
        if self._responses > MAX_RESPONSES:
            self._end("oversized")
        if response.headers.get("content-encoding", "identity") != "identity":
            # A compressed answer may be thousands of times larger than what was counted.
            self._end("oversized")
        # A server need not offer a stream of its own (GET), or an end of the session (DELETE).
        if response.request.method == "POST" and response.status_code >= 400:
            self._end("refused")
        response.stream = _MeteredStream(response.stream, self.count)

    def count(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            self._end("oversized")

    def _end(self, kind: str) -> NoReturn:
        self._fail(kind)
        # The scope ends at its next wait: until then, what has arrived would still be read.
        raise httpx.StreamError(kind)


class _MeteredStream(httpx.AsyncByteStream):
    def __init__(
        self, stream: httpx.SyncByteStream | httpx.AsyncByteStream | None, count: Callable[[int], None]
    ) -> None:
        assert isinstance(stream, httpx.AsyncByteStream)
        self._stream, self._count = stream, count

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._stream:
            self._count(len(data))
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()
