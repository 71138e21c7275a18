"""Calls of tools: as servers stream them, and in the form that one schema checks."""

import json
from typing import Any

import pytest

from argot.errors import ModelUnavailable
from argot.prompts.loader import prompt
from argot.tools.llm.chunks import CallPiece, Chunk, read_chunk
from argot.tools.llm.completion import ModelCompletion
from argot.tools.llm.limits import BodyTooLarge
from argot.tools.llm.model_server import ModelServer
from argot.tools.llm.research import ASK_SERVER
from argot.tools.llm.tool_calls import build_tools, write_form
from argot.tools.llm.writing_systems import MAX_CHARS_PER_TOKEN

RESEARCH = prompt("research")
SCHEMA: Any = RESEARCH.schema(others=[])
TOOLS = build_tools(RESEARCH.tools, SCHEMA)
INPUTS = {"question": "What is open when?", "now": "When is the hall open?"}


def form_of(name: str, arguments: str) -> Any:
    return json.loads(write_form([(name, arguments)], TOOLS))["calls"]


def model_of(server: Any) -> Any:
    connection = ModelServer.from_settings(server.settings())
    assert connection
    return connection.session([])


def test_every_tool_of_the_schema_is_offered_with_its_arguments() -> None:
    named = SCHEMA["properties"]["calls"]["items"]["properties"]["tool"]["enum"]
    assert [tool["function"]["name"] for tool in TOOLS] == named == [one for one in RESEARCH.tools if one != ASK_SERVER]
    assert all(tool["function"]["parameters"]["required"] or tool["function"]["name"] == "" for tool in TOOLS)
    assert all(f"{name}(" in RESEARCH.system for name in named)
    (offered,) = build_tools(RESEARCH.tools, RESEARCH.schema(others=[ASK_SERVER]) or {})[len(TOOLS) :]
    assert list(offered["function"]["parameters"]["properties"]) == ["tool", "arguments"]
    assert f"{ASK_SERVER}(" in RESEARCH.rules["others"]


def test_arguments_may_be_an_object_in_place_of_its_json() -> None:
    tools = build_tools(RESEARCH.tools, RESEARCH.schema(others=[ASK_SERVER]) or {})
    (call,) = json.loads(write_form([(ASK_SERVER, '{"tool": "a.b", "arguments": {"q": "é"}}')], tools))["calls"]
    assert (call["first"], call["second"]) == ("a.b", '{"q": "é"}')


def test_a_call_becomes_the_form_of_the_reply() -> None:
    (call,) = form_of("open_section", '{"heading": "Hours", "document": "Hall"}')
    assert call == {"tool": "open_section", "first": "Hall", "second": "Hours", "passages": []}
    assert form_of("answered", '{"passages": [3, 1]}')[0]["passages"] == [3, 1]
    assert form_of("answered", "")[0]["passages"] == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("remove", '{"document": "Hall"}'), ("search", "not JSON"), ("search", "[1]"), ("search", '{"path": "/etc"}')],
)
def test_a_call_that_is_not_offered_fits_no_schema(name: str, arguments: str) -> None:
    assert form_of(name, arguments) == [{"tool": ""}]


def test_only_the_first_calls_of_a_reply_count() -> None:
    made = [("search", json.dumps({"query": str(number)})) for number in range(9)]
    assert [one["first"] for one in json.loads(write_form(made, TOOLS))["calls"]] == ["0", "1", "2"]


def test_pieces_of_a_call_are_read_from_a_stream() -> None:
    function = {"name": "search", "arguments": {"query": "x"}}
    whole = {"choices": [{"delta": {"tool_calls": [{"function": function}]}}]}
    (piece,) = read_chunk(json.dumps(whole).encode()).calls
    assert (piece.place, piece.name, json.loads(piece.arguments)) == (0, "search", {"query": "x"})


REPLY = {"calls": [{"tool": "search", "first": "opening hours", "second": "", "passages": []}]}


async def ask_thrice(server: Any) -> list[bool]:
    """Return whether tools were offered in each request of three calls, which all succeed."""
    server.context = 16_384
    server.reply("research", REPLY)
    connection = ModelServer.from_settings(server.settings())
    assert connection
    for _ in range(3):
        # A turn each: what a server refuses is learnt for all of them.
        assert await connection.session([]).json("research", choices={"others": []}, **INPUTS) == REPLY
    return ["tools" in one.body for one in server.asked("research")]


async def test_a_model_that_calls_no_tool_is_asked_for_a_form_from_the_second_time_on(scripted_model: Any) -> None:
    scripted_model.fault("ignores_tools")
    assert await ask_thrice(scripted_model) == [True, False, True, False, False]
    assert '{"calls":' in scripted_model.asked("research")[1].system


@pytest.mark.parametrize("code", [400, 500, 501])
async def test_a_server_that_refuses_tools_is_asked_for_a_form_from_then_on(scripted_model: Any, code: int) -> None:
    scripted_model.fault("no_tools", code=code)
    assert await ask_thrice(scripted_model) == [True, False, False, False]


async def test_one_reply_without_a_call_turns_no_tools_off(scripted_model: Any) -> None:
    scripted_model.fault("ignores_tools", times=1)
    assert await ask_thrice(scripted_model) == [True, False, True, True]


async def test_a_server_that_fails_for_another_reason_keeps_its_tools(scripted_model: Any) -> None:
    scripted_model.fault("status", code=500, prompt="research", times=2)
    assert await ask_thrice(scripted_model) == [True, False, False, True, True]


def test_empty_pieces_and_names_of_calls_count_towards_the_longest_reply() -> None:
    def take(*pieces: CallPiece) -> None:
        completion = ModelCompletion("model", [], {"tools": TOOLS}, max_tokens=1)
        for piece in pieces:
            completion._take(Chunk(calls=(piece,)))

    most = MAX_CHARS_PER_TOKEN
    take(*(CallPiece(place, "", "") for place in range(most)))
    with pytest.raises(BodyTooLarge):
        take(*(CallPiece(place, "", "") for place in range(most + 1)))
    with pytest.raises(BodyTooLarge):
        take(CallPiece(0, "x" * most, ""))


async def test_an_invalid_call_in_the_form_is_an_invalid_reply(scripted_model: Any) -> None:
    scripted_model.context = 16_384
    scripted_model.reply("research", '{"calls": [{"tool": "remove", "first": "", "second": "", "passages": []}]}')
    scripted_model.fault("no_tools")
    with pytest.raises(ModelUnavailable, match="JSON"):
        await model_of(scripted_model).json("research", choices={"others": []}, **INPUTS)
