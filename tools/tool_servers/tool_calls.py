"""A call of an allowed tool, from the model's words to the text of the result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argot.tools.llm.structured_output import strip_unprintable
from argot.tools.tool_servers.sent_arguments import read_arguments
from argot.tools.tool_servers.server_file import AllowedTool, ToolServer
from argot.tools.tool_servers.server_session import ServerFault, list_tools, send_call, with_session
from argot.tools.tool_servers.tool_listing import make_digest
from argot.types import Principal

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import CallToolResult

PIECE_CHARS = 1200
"""Greatest length of a piece of a result: about that of a passage."""

MAX_SPREAD_CHARS = 200_000
"""A longer result stays on the lines that it has: spreading megabytes, most of which is cut, would hold others up."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that an asker may use. `label`, such as "tickets.find_ticket", is how the model names it."""

    server_name: str
    server: ToolServer
    name: str
    allowed: AllowedTool

    @property
    def label(self) -> str:
        return f"{self.server_name}.{self.name}"

    @property
    def description(self) -> str:
        """A line about it for the model, from the administrator's file alone."""
        about = " ".join(self.allowed.description.split())
        return f"{self.label}({self.allowed.arguments}){f': {about}' if about else ''}"


def list_offered(servers: Mapping[str, ToolServer], principal: Principal) -> list[OfferedTool]:
    """Return the tools that a principal may use."""
    return [
        OfferedTool(server_name, server, name, allowed)
        for server_name, server in servers.items()
        if server.may_use(principal)
        for name, allowed in server.tools.items()
    ]


async def call_tool(tool: OfferedTool, arguments: str, questions: Sequence[str]) -> str:
    """Call a tool and return the text of its result, cut at the server's limit; empty if it has none.

    Args:
        tool: the tool.
        arguments: as the model wrote them, in JSON.
        questions: the texts whose words may be sent (`AllowedTool.sends`).

    Raises:
        ServerFault: there is no result.
    """
    checked = read_arguments(arguments, tool.allowed, questions)

    async def work(session: ClientSession) -> CallToolResult:
        there = {one.name: one for one in await list_tools(session)}
        if (found := there.get(tool.name)) is None:
            raise ServerFault("gone")
        if make_digest(found) != tool.allowed.digest:
            raise ServerFault("changed")
        return await send_call(session, tool.name, checked)

    result = await with_session(tool.server_name, tool.server, work)
    if result.isError:
        raise ServerFault("refused")
    most = tool.server.max_result_chars
    # Cut twice: cleaning megabytes, of which a little is kept, would hold others up.
    return strip_unprintable(_read_text(result)[: 4 * most]).strip()[:most]


def _read_text(result: CallToolResult) -> str:
    """Return the texts of a result, JSON with a line for each value. Pictures and sound are left out."""
    texts = [*_list_texts(result)]
    if not texts and result.structuredContent is not None:
        texts = [json.dumps(result.structuredContent, ensure_ascii=False)]
    return "\n\n".join(map(_spread_json, texts))


def _list_texts(result: CallToolResult) -> Iterator[str]:
    from mcp.types import EmbeddedResource, TextContent, TextResourceContents

    for block in result.content:
        if isinstance(block, TextContent):
            yield block.text
        elif isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
            yield block.resource.text


def _spread_json(text: str) -> str:
    if len(text) > MAX_SPREAD_CHARS or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return text


def split_result(text: str) -> list[str]:
    """Return the text in pieces of at most `PIECE_CHARS`, divided between paragraphs, lines or words if possible."""
    pieces: list[str] = []
    while text := text.strip():
        if len(text) <= PIECE_CHARS:
            return [*pieces, text]
        head = text[:PIECE_CHARS]
        # A mark in the first half would leave a very short piece.
        ends = (head.rfind(mark) for mark in ("\n\n", "\n", ". ", " "))
        end = next((at + 1 for at in ends if at > PIECE_CHARS // 2), PIECE_CHARS)
        pieces.append(text[:end].strip())
        text = text[end:]
    return pieces
