"""Tools as a server describes them: their digest, their arguments in words, and how an administrator allows them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from argot.prompts.fences import neutralize
from argot.tools.llm.structured_output import strip_unprintable
from argot.tools.tool_servers.server_file import MAX_DESCRIPTION_CHARS, TOOL_NAME

if TYPE_CHECKING:
    from mcp.types import Tool

MAX_ARGUMENTS_CHARS = 800
MAX_VALUES = 12
"""Number of the values of an argument that are listed."""
_MAX_NAME_CHARS = 60


def make_digest(tool: Tool) -> str:
    """Return the digest of everything that a server says about a tool, in 32 hexadecimal digits."""
    fields = tool.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"icons", "meta"})
    # Sorted, because a server may list the same keys in another order.
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:32]


def describe_arguments(schema: Mapping[str, Any]) -> str:
    """Return the arguments of a tool on one line, as in "query: string, state?: open|closed".

    Names, types and values alone: a server's sentences about them are left out.
    """
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping):
        return ""
    needed = required if isinstance(required, list) else []
    lines = [
        f"{_clean(name, _MAX_NAME_CHARS)}{'' if name in needed else '?'}: {_describe_type(part)}"
        for name, part in properties.items()
    ]
    return ", ".join(lines)[:MAX_ARGUMENTS_CHARS]


def _describe_type(part: Any) -> str:
    if not isinstance(part, Mapping):
        return "any"
    values = part.get("enum")
    if isinstance(values, list) and values:
        return "|".join(_clean(str(value), _MAX_NAME_CHARS) for value in values[:MAX_VALUES])
    kinds = part.get("type")
    options = part.get("anyOf")
    if kinds is None and isinstance(options, list):
        kinds = [one.get("type") for one in options[:MAX_VALUES] if isinstance(one, Mapping)]
    named = kinds if isinstance(kinds, list) else [kinds]
    return "|".join(_clean(str(one), 20) for one in named if one and one != "null") or "any"


def shorten_description(text: str) -> str:
    """Return a server's description of a tool on one line, of at most `MAX_DESCRIPTION_CHARS`."""
    return _clean(text, MAX_DESCRIPTION_CHARS)


def _clean(text: str, most: int) -> str:
    flat = " ".join(neutralize(strip_unprintable(text[: 20 * most])).split())
    return flat if len(flat) <= most else f"{flat[: most - 2]} …"


def format_allowances(server: str, tools: Iterable[Tool]) -> str:
    """Return the tools as tables for the file of servers. Whoever copies one into it allows the tool."""
    # By name, as they are called: a table that is there twice would make the file unusable.
    named = {tool.name: tool for tool in tools}
    return "\n\n".join(_format_allowance(server, tool) for tool in named.values())


def _format_allowance(server: str, tool: Tool) -> str:
    if not re.fullmatch(TOOL_NAME, tool.name):
        name = _quote(_clean(tool.name, _MAX_NAME_CHARS))
        return f"# The tool {name} cannot be allowed: its name is too long, or not of A-Z, 0-9 and _./- alone."
    key = _quote(tool.name) if re.search(r"[./]", tool.name) else tool.name
    return "\n".join(
        [
            f"[{server}.tools.{key}]",
            f"digest = {_quote(make_digest(tool))}",
            f"description = {_quote(shorten_description(tool.description or ''))}",
            f"arguments = {_quote(describe_arguments(tool.inputSchema))}",
            'sends = "question"',
        ]
    )


def _quote(text: str) -> str:
    # JSON's strings are TOML's, too; control characters were removed.
    return json.dumps(text, ensure_ascii=False)
