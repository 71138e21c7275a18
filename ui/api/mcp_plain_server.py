"""The server of the MCP SDK, with errors that say in plain words what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ResourceError, ToolError
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.types import ContentBlock
from pydantic import AnyUrl, ValidationError

from argot.service.usecases.parameter_problems import list_problems

_TEMPLATE_HEAD = "Error creating resource from template: "


class PlainServer(FastMCP[None]):
    """A server whose errors have no words of the SDK or of pydantic around ours."""

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Sequence[ContentBlock] | dict[str, Any]:
        """Call a tool.

        Raises:
            ToolError: it failed, or an argument is wrong.
        """
        try:
            return await super().call_tool(name, arguments)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                known = ", ".join(self._tool_manager._tools[name].parameters["properties"])
                raise ToolError(f"Invalid arguments: {list_problems(cause)}. Arguments of {name}: {known}.") from None
            raise ToolError(str(cause)) if cause else error from None

    async def read_resource(self, uri: AnyUrl | str) -> Iterable[ReadResourceContents]:
        """Read a resource.

        Raises:
            ResourceError: there is none, or it failed.
        """
        try:
            return await super().read_resource(uri)
        except ValueError as error:
            raise ResourceError(str(error).replace(_TEMPLATE_HEAD, "")) from error
