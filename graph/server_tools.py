"""Tools of other servers in a thorough answer: the list of those that the asker may use, and the calls.

A server that fails is not asked again in the same turn, so its time limit is spent only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from argot.graph.run_context import RunContext
from argot.graph.state import State, ToolCallRecord, ToolResultRecord
from argot.graph.tool_results import list_piece_ids, make_result_id
from argot.tools.llm.research import ASK_SERVER, ToolRequest
from argot.tools.tool_servers.server_session import ServerFault
from argot.tools.tool_servers.tool_calls import OfferedTool, call_tool, list_offered, split_result

LASTING_FAULTS = frozenset({"unreachable", "timeout", "oversized", "malformed"})
"""Faults of a server after which it is not asked again in the same turn; the others are those of one call or tool."""
NO_SUCH_TOOL = "unknown"


class ServerReply(NamedTuple):
    """The record of a call, and its result if there is one."""

    call: ToolCallRecord
    result: ToolResultRecord | None = None


def list_usable(run: RunContext) -> list[OfferedTool]:
    """Return the tools of other servers that the asker may use; none if the question is limited to some documents."""
    return [] if run.scope or run.documents else list_offered(run.tool_servers, run.principal)


def describe_offered(run: RunContext) -> list[str]:
    """Return a line about each usable tool, for the model."""
    return [tool.description for tool in list_usable(run)]


def find_offered(request: ToolRequest, run: RunContext) -> OfferedTool | None:
    """Return the tool that the model names; None if there is none that the asker may use."""
    return next((one for one in list_usable(run) if one.label == request.first), None)


async def ask_server(
    request: ToolRequest, tool: OfferedTool | None, part: int, state: State, run: RunContext
) -> ServerReply:
    """Call a tool of another server for the sub-question at index `part`."""
    if tool is None:
        return ServerReply(_record(request, part, fault=NO_SUCH_TOOL))
    if before := _find_lasting_fault(tool, state):
        return ServerReply(_record(request, part, fault=before))
    at = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        text = await call_tool(tool, request.second, [state["question"], state["stand_alone_question"]])
    except ServerFault as fault:
        return ServerReply(_record(request, part, fault=fault.kind))
    results = state.get("tool_results", [])
    result = ToolResultRecord(
        id=make_result_id(run.thread, state["number"], len(results)),
        server=tool.server_name,
        tool=tool.name,
        at=at,
        pieces=split_result(text),
        asker=run.principal.name,
        groups=sorted(tool.server.audience or ()),
    )
    return ServerReply(_record(request, part, found=list_piece_ids(result)), result)


def _find_lasting_fault(tool: OfferedTool, state: State) -> str:
    """Return how the tool's server failed before in this turn; empty if it did not."""
    mine = (call for call in state.get("tool_calls", []) if call["first"].partition(".")[0] == tool.server_name)
    faults = (call.get("fault", "") for call in mine if call["tool"] == ASK_SERVER)
    return next((fault for fault in faults if fault in LASTING_FAULTS), "")


def _record(request: ToolRequest, part: int, *, found: Sequence[str] = (), fault: str = "") -> ToolCallRecord:
    return ToolCallRecord(
        part=part, tool=ASK_SERVER, first=request.first, second=request.second, found=[*found], fault=fault
    )
