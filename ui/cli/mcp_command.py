"""argot mcp: tools for other assistants."""

from __future__ import annotations

import importlib.util

import typer

from argot.errors import MissingExtra
from argot.ui.cli.command_base import AsUser, Home, format_examples, read_settings


def register(app: typer.Typer) -> None:
    app.command(epilog=format_examples("argot mcp", "argot mcp --as ann", "argot mcp --home /srv/argot/kb"))(mcp)


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
