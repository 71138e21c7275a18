"""argot mcp: tools for other assistants; argot mcp-tools: the tools of other servers."""

from __future__ import annotations

import importlib.util
from typing import Annotated

import typer

from argot.errors import MissingExtra
from argot.ui.cli.command_base import AsUser, Home, format_examples, read_settings, say


def register(app: typer.Typer) -> None:
    app.command(epilog=format_examples("argot mcp", "argot mcp --as ann", "argot mcp --home /srv/argot/kb"))(mcp)
    app.command("mcp-tools", epilog=format_examples("argot mcp-tools", "argot mcp-tools tickets"))(mcp_tools)


def mcp(as_user: AsUser = None, home: Home = None) -> None:
    """Let an assistant that speaks MCP ask, search and look up terms, over standard input and output.

    It uses a running service where there is one. With the settings service_url and service_key it uses the service at
    that address, on behalf of the key's owner.
    """
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtra("Serving other assistants (MCP)", "chat")
    settings = read_settings(home)
    # Imported only now, because it takes a while: wrong settings are reported before.
    from argot.ui.api.mcp_server import serve_mcp

    serve_mcp(settings, as_user)


def mcp_tools(
    server: Annotated[str, typer.Argument(metavar="[SERVER]", help="One server; without it all are asked.")] = "",
    home: Home = None,
) -> None:
    """Print the tools of the MCP servers that the setting mcp_servers names, as tables for its file.

    Whoever copies a table into the file allows that tool, as it is now: if the server changes what it says of it, it is
    refused until its table is printed and read again.
    """
    from argot.service.tool_servers import format_server_tools

    say(format_server_tools(read_settings(home), server))
