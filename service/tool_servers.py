"""Other MCP servers, as a running service uses them: their file, and the audit of their calls."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from argot.errors import InvalidInput, InvalidSettings, MissingExtra
from argot.results import AskEvent, AskResult
from argot.service.audit.audit_actions import API
from argot.service.audit.audit_events import DONE, Deed, Outcome, Resource
from argot.settings import Settings
from argot.types import Principal

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase
    from argot.tools.tool_servers.server_file import ToolServer

logger = logging.getLogger(__name__)


def load_tool_servers(settings: Settings) -> Mapping[str, ToolServer]:
    """Return the servers that the settings name; none if their file was broken since the start, which is logged."""
    if settings.tool_servers.file is None:
        return {}
    from argot.tools.tool_servers.server_file import read_server_file

    try:
        return read_server_file(settings.tool_servers.file)
    except InvalidSettings as error:
        logger.error("no other server is asked: %s", error)
        return {}


def format_server_tools(settings: Settings, name: str) -> str:
    """Return the tools that servers have now, as tables for the file of servers: those of one server, or of all.

    Raises:
        InvalidSettings: the file cannot be used, or does not name the server, whose key may be missing.
        InvalidInput: no server gives a list. Where another one does, its tables say so in a comment.
    """
    from argot.tools.tool_servers.server_file import read_server_file

    if settings.tool_servers.file is None:
        raise InvalidSettings("No file names other servers. Set ARGOT_MCP_SERVERS to one (docs/administrators.md).")
    require_client()
    servers = read_server_file(settings.tool_servers.file)
    if name and name not in servers:
        raise InvalidSettings(f"The file names no server '{name}'. Servers: {', '.join(servers) or 'none'}.")
    return asyncio.run(_format_tools({name: servers[name]} if name else servers))


async def _format_tools(servers: Mapping[str, ToolServer]) -> str:
    from argot.tools.tool_servers.server_session import ServerFault, list_tools, with_session
    from argot.tools.tool_servers.tool_listing import format_allowances

    shown, silent = [], []
    for name, server in servers.items():
        server.read_secret()  # without its key a server only seems to be out of reach
        try:
            shown.append(format_allowances(name, await with_session(name, server, list_tools)))
        except ServerFault as fault:
            silent.append(
                f"The server '{name}' gave no list of its tools: {fault.kind}. See that it runs, and its settings."
            )
    if silent and not shown:
        raise InvalidInput(" ".join(silent))
    return "\n\n".join([*shown, *(f"# {text}" for text in silent)])


def require_client() -> None:
    """Check that the client for tools of other servers is installed.

    Raises:
        MissingExtra: the package that speaks MCP is not installed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtra("Asking other servers (MCP)", "chat")


def require_tool_servers(settings: Settings) -> None:
    """Check the file of other servers that the settings name.

    Raises:
        InvalidSettings: the file of other servers cannot be used; the message says why.
        MissingExtra: a package is missing for them.
    """
    if settings.tool_servers.file is not None:
        require_client()
        from argot.tools.tool_servers.server_file import read_server_file

        read_server_file(settings.tool_servers.file)


def note_tool_calls(kb: KnowledgeBase, principal: Principal, event: AskEvent) -> None:
    """Record the calls of other servers' tools behind an answer, by name, without what was sent or received."""
    if kb.audit is None or event.kind != "result" or not isinstance(event.data, AskResult):
        return
    for call in event.data.tool_calls:
        if call.server:
            outcome = Outcome("ServerFault", call.fault) if call.fault else DONE
            tool = Resource("tool of another server", call.server, call.tool)
            kb.audit.record(Deed(API, "read", "ask_server", outcome, (tool,)), principal)
