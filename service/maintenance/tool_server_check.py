"""The part of `argot doctor` about other MCP servers: whether they answer, and their tools are as they were allowed."""

from __future__ import annotations

import asyncio
import importlib.util

from argot.errors import InvalidSettings, install_command
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.settings import Settings
from argot.tools.tool_servers.server_file import ToolServer, read_server_file
from argot.tools.tool_servers.server_session import ServerFault, list_tools, with_session
from argot.tools.tool_servers.tool_listing import make_digest

NAME = "other servers"


def check_tool_servers(settings: Settings) -> list[Finding]:
    """Asks each server for its tools; one that hangs takes its own time limit."""
    if settings.tool_servers.file is None:
        return [make_good_finding(NAME, "none is asked (docs/administrators.md)")]
    if importlib.util.find_spec("mcp") is None:
        return [make_bad_finding(NAME, "mcp is not installed", install_command("chat"))]
    try:
        servers = read_server_file(settings.tool_servers.file)
    except InvalidSettings as error:
        return [make_bad_finding(NAME, str(error), "see the message")]
    return asyncio.run(_check_all(servers)) if servers else [make_good_finding(NAME, "the file names none")]


async def _check_all(servers: dict[str, ToolServer]) -> list[Finding]:
    found = await asyncio.gather(*(_check_server(name, server) for name, server in servers.items()))
    return [finding for some in found for finding in some]


async def _check_server(name: str, server: ToolServer) -> list[Finding]:
    label, remedy = f"server {name}", f"see that it runs, and its settings, with: argot mcp-tools {name}"
    try:
        server.read_secret()
        there = {tool.name: make_digest(tool) for tool in await with_session(name, server, list_tools)}
    except InvalidSettings as error:
        return [make_bad_finding(label, str(error), "see the message")]
    except ServerFault as fault:
        return [make_bad_finding(label, f"it gives no list of its tools: {fault.kind}", remedy)]
    gone = [tool for tool in server.tools if tool not in there]
    changed = [tool for tool, allowed in server.tools.items() if there.get(tool, allowed.digest) != allowed.digest]
    again = f"read what it says now, and replace its table in the file: argot mcp-tools {name}"
    users = f"for {', '.join(server.groups)}" if server.groups else "for nobody: it has no groups"
    return [
        make_good_finding(label, f"answers; {len(server.tools)} of {len(there)} tools are allowed, {users}"),
        *(
            make_bad_finding(f"{label}: {tool}", "the server no longer has this tool", "remove its table")
            for tool in gone
        ),
        *(
            make_bad_finding(f"{label}: {tool}", "it changed since it was allowed, and is refused", again)
            for tool in changed
        ),
    ]
