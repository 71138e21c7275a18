"""Tools as a request offers them, and a model's calls of them in the form that a server without tools replies in.

Calls of both kinds end in one form, which one schema checks: {"calls": [{"tool": ..., "first": ..., "second": ...,
"passages": [...]}]}, where "first" and "second" are a tool's texts in their order. A prompt names the arguments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

ARGUMENTS = ("first", "second", "passages")
MAX_CALLS = 3
"""Number of calls of one reply that are made; the model sees their results before it can make others."""


def build_tools(tools: Mapping[str, Mapping[str, str]], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tools of a prompt that its schema allows as a request of OpenAI's interface has them; the bounds are
    those of the schema.
    """
    bounds = schema["properties"]["calls"]["items"]["properties"]
    return [_build_tool(name, tool, bounds) for name, tool in tools.items() if name in bounds["tool"]["enum"]]


def _build_tool(name: str, tool: Mapping[str, str], bounds: Mapping[str, Any]) -> dict[str, Any]:
    properties = {tool[place]: bounds[place] for place in ARGUMENTS if place in tool}
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": tool["about"], "parameters": parameters}}


def write_form(calls: Iterable[tuple[str, str]], tools: Sequence[Mapping[str, Any]]) -> str:
    """Return the calls (name and arguments in JSON) as the JSON of the reply form, the first `MAX_CALLS` of them."""
    offered = {tool["function"]["name"]: tool["function"]["parameters"]["properties"] for tool in tools}
    written = [_write_call(name, arguments, offered.get(name, {})) for name, arguments in calls]
    return json.dumps({"calls": written[:MAX_CALLS]}, ensure_ascii=False)


def _write_call(name: str, arguments: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    try:
        parsed = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        parsed = None
    # Without the name of a tool the call does not fit the schema, and the reply counts as invalid.
    if not isinstance(parsed, dict) or not properties.keys() >= parsed.keys():
        return {"tool": ""}
    texts = [_join_object(parsed.get(one, "")) for one, part in properties.items() if part["type"] == "string"]
    numbers = [parsed.get(one, []) for one, part in properties.items() if part["type"] == "array"]
    first, second = [*texts, "", ""][:2]
    return {"tool": name, "first": first, "second": second, "passages": [*numbers, []][0]}


def _join_object(text: Any) -> Any:
    """Return an object, which a model may write in place of its JSON, as that JSON."""
    return json.dumps(text, ensure_ascii=False) if isinstance(text, dict) else text
