"""One connection to an MCP server, for one call: nothing of it is kept for another asker.

It takes at most the server's time limit, and reads at most `MAX_ANSWER_BYTES`. The server is told no name of an asker,
and is offered nothing (no model, no files, no questions to people).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from argot import __version__
from argot.errors import InvalidSettings
from argot.tools.tool_servers.server_file import ToolServer
from argot.tools.tool_servers.stdio_transport import Fail, run_server

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp import ClientSession
    from mcp.shared.message import SessionMessage
    from mcp.types import CallToolResult, Tool

    from argot.tools.tool_servers.stdio_transport import Streams

logger = logging.getLogger(__name__)
# It would log what a server sends, with the text. A filter, because a later set-up of logging enables loggers again.
logging.getLogger("mcp.client.streamable_http").addFilter(lambda _: False)

T = TypeVar("T")

FaultKind = Literal["unreachable", "timeout", "oversized", "malformed", "refused", "gone", "changed", "unsendable"]
"""Why a call failed: "gone" and "changed" are faults of the tool, "unsendable" of the arguments, the others of the
server."""
MAX_ANSWER_BYTES = 4_000_000
"""Bytes that a server may send in one connection, its list of tools among them."""
MAX_PAGES = 20
"""Pages of a list of tools that are read."""


class ServerFault(Exception):
    """A server, or a call of it, failed. People and the model learn only its `kind`."""

    def __init__(self, kind: FaultKind) -> None:
        self.kind = kind
        super().__init__(kind)


async def with_session(name: str, server: ToolServer, work: Callable[[ClientSession], Awaitable[T]]) -> T:
    """Connect to a server, do some work there, and disconnect.

    Raises:
        ServerFault: the work was not done within the limits.
    """
    import anyio
    from pydantic import ValidationError

    fault: list[FaultKind] = []
    found: list[T] = []
    try:
        # It takes a second the first time, for which other answers must not wait.
        await asyncio.to_thread(import_module, "mcp.client.streamable_http")
        with anyio.move_on_after(server.seconds) as scope:

            def fail(kind: Any) -> None:
                fault.append(kind)
                scope.cancel()

            async with _open_session(server, fail) as session:
                found.append(await work(session))
    # Whatever a server, or the library that reads it, comes up with: the answer goes on without it.
    except Exception as error:
        kind, cause = _read_fault(error, ValidationError)
        # Only the kind of error: its text may repeat what was sent, or what the server says.
        logger.warning("the server of tools %s failed: %s", name, cause)
        fault.append(kind)
    if found:  # what fails while the connection is closed changes nothing
        return found[0]
    raise ServerFault(fault[0] if fault else "timeout")


def _read_fault(error: Exception, invalid: type[Exception]) -> tuple[FaultKind, str]:
    """Return the fault behind an error or a group of them, and the class of the error."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    cause = type(error).__name__
    if isinstance(error, ServerFault):
        return error.kind, error.kind
    if isinstance(error, InvalidSettings):
        return "unreachable", str(error)
    if cause in {"McpError", "HTTPStatusError"}:
        return "refused", cause
    return "malformed" if isinstance(error, invalid) else "unreachable", cause


@asynccontextmanager
async def _open_session(server: ToolServer, fail: Fail) -> AsyncIterator[ClientSession]:
    from mcp import ClientSession
    from mcp.types import Implementation

    async def end_if_malformed(message: object) -> None:
        if isinstance(message, Exception):  # the answer to a request is no message of the protocol
            fail("malformed")

    async with (
        _open_transport(server, fail) as (received, sent),
        _pass_answers(received) as answers,
        ClientSession(
            answers,
            sent,
            message_handler=end_if_malformed,
            client_info=Implementation(name="argot", version=__version__),
        ) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def _pass_answers(
    received: MemoryObjectReceiveStream[SessionMessage | Exception],
) -> AsyncIterator[MemoryObjectReceiveStream[SessionMessage | Exception]]:
    """Yield the answers of a server, and what is no message; its own requests and notices are dropped.

    The SDK would log some of these with their text, and send a reply to each request, however many there are.
    """
    import anyio
    from mcp.types import JSONRPCError, JSONRPCResponse

    into, answers = anyio.create_memory_object_stream[Any](0)

    async def pass_on() -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with into:
                async for one in received:
                    if isinstance(one, Exception):
                        await into.send(one)
                    elif isinstance(one.message.root, JSONRPCResponse | JSONRPCError):
                        is_ours = isinstance(one.message.root.id, int)  # the SDK would log another one
                        await into.send(one if is_ours else ValueError("an answer to no request"))

    async with anyio.create_task_group() as group, answers:
        group.start_soon(pass_on)
        yield answers
        group.cancel_scope.cancel()


def _open_transport(server: ToolServer, fail: Fail) -> AbstractAsyncContextManager[Streams]:
    secret = server.read_secret()
    if server.url:
        from argot.tools.tool_servers.http_transport import connect_server

        return connect_server(server.url, secret, server.seconds, MAX_ANSWER_BYTES, fail)
    variables = {server.secret_variable: secret} if secret else {}
    return run_server(server.command, variables, MAX_ANSWER_BYTES, fail)


async def list_tools(session: ClientSession) -> list[Tool]:
    """Return the tools that the server has, as it describes them now."""
    from mcp.types import PaginatedRequestParams

    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        tools += page.tools
        cursor = page.nextCursor
        if not cursor:
            break
    return tools


async def send_call(session: ClientSession, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    """Call a tool, and return the result as the server sends it."""
    from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest

    # Not by `call_tool`: it checks the result against the server's own schema, which may have it fetch any address.
    params = CallToolRequestParams(name=tool, arguments=arguments)
    return await session.send_request(ClientRequest(CallToolRequest(params=params)), CallToolResult)
