"""One event of a streamed chat completion: only the fields that an answer needs, checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from argot.tools.llm.faults import ServerFailed, WrongAnswer

MAX_TOKENS = 2**31  # no model has more: a larger number is no count
NO_PART = "sent what cannot be read: something that is no part of an answer"


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a tool call: its place among the calls of the reply, and what it adds to the name and arguments."""

    place: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a streamed reply.

    `thinks`: it has reasoning, in a field beside the answer. `finish`: why the reply ended; empty while it goes on.
    `usage`: tokens of the prompt and of the reply so far, if the server reports them. `calls`: pieces of tool calls.
    """

    text: str = ""
    thinks: bool = False
    finish: str = ""
    usage: tuple[int, int] | None = None
    calls: tuple[CallPiece, ...] = ()


def read_chunk(data: bytes) -> Chunk:
    """Return the chunk in an event's data.

    Raises:
        WrongAnswer: this is no chunk of a completion.
        ServerFailed: the server reports a failure; vLLM does so within the stream, whose status was 200.
        ValueError, RecursionError: this is no UTF-8 or no JSON.
    """
    event = _check_mapping(json.loads(data.decode()))
    if error := event.get("error"):
        raise ServerFailed(str(error))
    usage = _read_usage(event.get("usage"))
    if not (choices := event.get("choices")):  # vLLM's last chunk, which contains only the counts
        return Chunk(usage=usage)
    if not isinstance(choices, list):
        raise WrongAnswer(NO_PART)
    choice = _check_mapping(choices[0])
    finish = str(choice.get("finish_reason") or "")
    # The last chunk of some servers contains only the finish reason.
    if (raw_delta := choice.get("delta")) is None:
        return Chunk(finish=finish, usage=usage)
    delta = _check_mapping(raw_delta)
    if delta.get("role") not in (None, "", "assistant") or not isinstance(delta.get("tool_calls") or [], list):
        raise WrongAnswer(NO_PART)
    # vLLM has used both names for a reasoning parser's field, in this order.
    thinks = bool(delta.get("reasoning_content") or delta.get("reasoning"))
    calls = tuple(_read_call(place, one) for place, one in enumerate(delta.get("tool_calls") or []))
    return Chunk(_read_text(delta.get("content")), thinks, finish, usage, calls)


def _read_call(place: int, value: Any) -> CallPiece:
    """Return a piece of a tool call; some servers send no index, or the arguments as an object."""
    call = _check_mapping(value)
    function, index = _check_mapping(call.get("function") or {}), call.get("index")
    arguments = function.get("arguments") or ""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return CallPiece(index if type(index) is int else place, str(function.get("name") or ""), text)


def _check_mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongAnswer(NO_PART)
    return value


def _read_text(content: Any) -> str:
    """Return the text of a delta; some servers send a list of parts, of which those of type "text" are the answer."""
    if not content or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise WrongAnswer(NO_PART)
    texts = [
        part if isinstance(part, str) else _check_mapping(part).get("text", "") for part in content if _is_text(part)
    ]
    return "".join(map(str, texts))


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or _check_mapping(part).get("type") == "text"


def _read_usage(usage: Any) -> tuple[int, int] | None:
    """Return the counts of tokens. A wrong count must not spoil an answer: it is read as 0."""
    if not isinstance(usage, dict):
        return None
    return read_token_count(usage.get("prompt_tokens")), read_token_count(usage.get("completion_tokens"))


def read_token_count(count: object) -> int:
    """Return a count as the server sends it; 0 for an invalid one."""
    return count if isinstance(count, int) and 0 <= count <= MAX_TOKENS else 0
