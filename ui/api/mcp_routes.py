"""`/mcp`: the tools for other assistants by MCP's streamable HTTP, with the rights of the person whose key or access
token it is.

Each request stands alone: no session is kept that somebody else could continue, and any process can answer the next
one. Guard and route check host, origin, key or token and size of a request before the SDK reads it.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.access_tokens import MCP_PATH, METADATA_PATH, describe_resource, find_resource
from argot.service.usecases import catalogue
from argot.ui.api.api_route import ApiRoute
from argot.ui.api.mcp_server import build_server
from argot.ui.web.authorization import get_visitor, needs
from argot.ui.web.routers import make_router

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP

_NO_MESSAGE = "The body is no message of MCP (JSON-RPC 2.0, one object, in UTF-8): {}. docs/api.md has examples."


def build_mcp_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(route_class=ApiRoute)
    # Built at the first request: most services are never asked this way.
    load_server = cache(lambda: build_server(VisitorCaller(kb), site=kb.settings.web.public_url))

    @router.post(MCP_PATH, include_in_schema=False)
    @needs("asker", program=True)
    async def mcp(request: Request) -> Response:
        """Answer one message of an assistant that speaks MCP."""
        from mcp.types import JSONRPCMessage

        body = await request.body()
        try:
            # The SDK would answer a body that it cannot parse with status 500.
            JSONRPCMessage.model_validate_json(body)
        except ValidationError as error:
            raise HTTPException(400, _NO_MESSAGE.format(error.errors()[0]["msg"])) from error
        return AssistantResponse(await asyncio.to_thread(load_server), request, body)

    if find_resource(kb.settings):

        @router.get(METADATA_PATH, include_in_schema=False)
        @router.get(METADATA_PATH + MCP_PATH, include_in_schema=False)
        @needs("anonymous", program=True)
        async def metadata() -> Response:
            """Say at which provider an assistant gets an access token."""
            return JSONResponse(describe_resource(kb.settings))

    return router


class VisitorCaller:
    """Calls use cases in this process, on behalf of the visitor whose request is being answered."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb

    async def acall(self, case: str, /, **parameters: Any) -> Any:
        from mcp.server.lowlevel.server import request_ctx

        request = request_ctx.get().request
        assert isinstance(request, Request), "the transport over HTTP hands the request on"
        who = get_visitor(request)
        return await catalogue.get_result(self._kb, who.principal, case, **parameters)


class AssistantResponse(Response):
    """The response of the SDK to one message. When the assistant hangs up, its question is stopped."""

    def __init__(self, server: FastMCP[None], request: Request, body: bytes) -> None:
        super().__init__()
        self._server = server._mcp_server
        self._request = request
        self._body: bytes | None = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        import anyio
        from mcp.server.streamable_http import StreamableHTTPServerTransport
        from sse_starlette.sse import AppStatus

        # When the service stops, answers in progress are finished first (`ui/server.py`: `_finish`).
        AppStatus.enable_automatic_graceful_drain = False
        transport = StreamableHTTPServerTransport(mcp_session_id=None)
        async with transport.connect() as (incoming, outgoing), anyio.create_task_group() as tasks:
            options = self._server.create_initialization_options()
            # A message needs no `initialize` before it, which another request has sent.
            tasks.start_soon(lambda: self._server.run(incoming, outgoing, options, stateless=True))
            try:
                await transport.handle_request(scope, self._receive, send)
            finally:
                tasks.cancel_scope.cancel()

    async def _receive(self) -> Message:
        """Return the body, which has been read and checked, and then the end of the connection."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        return await self._request.receive()
