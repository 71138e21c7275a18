"""A real MCP server, written with the SDK, whose tools answer as a test says: over HTTP in a thread, or, run as a
program, over standard input and output.
"""

import asyncio
import os
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from mcp.server.fastmcp import FastMCP

FLOOD_BYTES = 50_000_000


@dataclass
class ToolServerScript:
    """The server's behaviour, and what it has seen. `secret`: the bearer token it wants; empty: none."""

    url: str = ""
    reply: str = ""
    about: str = "Finds tickets by their words."
    secret: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    requests: list[dict[str, str]] = field(default_factory=list)


def build_server(script: ToolServerScript) -> FastMCP[None]:
    # Stateless: a test that ends in the middle of a call leaves no session behind.
    server: FastMCP[None] = FastMCP("tickets", stateless_http=True, json_response=False, log_level="ERROR")

    def find_ticket(query: str, state: Literal["open", "closed"] = "open") -> str:
        script.calls.append((query, state))
        return script.reply or os.environ.get("TICKETS_REPLY", "") + os.environ.get("ARGOT_CANARY", "")

    async def hang() -> str:
        await asyncio.sleep(600)
        return "late"

    def flood() -> str:
        return "x" * FLOOD_BYTES

    def refuse() -> str:
        raise ValueError("secret reason")

    server.add_tool(find_ticket, description=script.about, structured_output=False)
    for tool in (hang, flood, refuse):
        server.add_tool(tool, structured_output=False)
    return server


@contextmanager
def serving_tools() -> Iterator[ToolServerScript]:
    """Serve at `url`; `/moved` redirects to another host, `/broken` answers with no JSON, `/packed` compresses, and
    `/again` has the client reconnect without end.
    """
    import uvicorn
    from starlette.responses import PlainTextResponse, RedirectResponse, Response

    script = ToolServerScript()
    server = build_server(script)
    app = server.streamable_http_app()

    async def moved(_: Any) -> RedirectResponse:
        return RedirectResponse(script.url.replace("127.0.0.1", "localhost"), 307)

    async def broken(_: Any) -> PlainTextResponse:
        return PlainTextResponse("{no json", media_type="application/json")

    async def packed(_: Any) -> Response:
        headers = {"Content-Encoding": "deflate"}
        return Response(zlib.compress(bytes(FLOOD_BYTES), 1), media_type="application/json", headers=headers)

    async def again(_: Any) -> Response:
        return Response("retry: 0\nid: 1\ndata:\n\n", media_type="text/event-stream")

    app.add_route("/packed", packed, methods=["POST"])
    app.add_route("/again", again, methods=["GET", "POST"])
    app.add_route("/moved", moved, methods=["POST"])
    app.add_route("/broken", broken, methods=["POST"])

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            script.requests.append({**headers, "path": scope["path"]})
            # The description as it is now.
            server._tool_manager._tools["find_ticket"].description = script.about
            if script.secret and headers.get("authorization") != f"Bearer {script.secret}":
                await PlainTextResponse("who?", 401)(scope, receive, send)
                return
        await app(scope, receive, send)

    running = uvicorn.Server(uvicorn.Config(guarded, port=0, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.02)
    script.url = f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/mcp"
    yield script
    running.should_exit = True
    thread.join(20)


if __name__ == "__main__":
    build_server(ToolServerScript()).run("stdio")
