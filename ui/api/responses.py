"""`/v1/responses`: answers in the form of OpenAI's Responses API. Nothing is stored: a request has all messages."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from argot.results import AskEvent, AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import get_answer
from argot.ui.api.api_route import ApiRoute, EventStream, build_error_event, cancel_on_hang_up, keep_alive, start_stream
from argot.ui.api.completions import (
    DEFAULT_MODEL,
    MAX_MESSAGES,
    ArgotOptions,
    ChatMessage,
    ChatRequest,
    Part,
    RequestRefusal,
    answer_refusal,
    begin_answer,
    build_metadata,
    count_usage,
    find_profile,
    is_written_live,
)
from argot.ui.api.openapi import declare_errors, get_operation_id
from argot.ui.api.streamed_text import StreamedText, read_pieces
from argot.ui.rendering.message_markdown import format_message
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import make_router

_TEXT_PARTS = frozenset({"input_text", "output_text", "text", "refusal"})
_NO_STORE = "Argot stores no responses. Send the earlier messages in 'input'."


class InputPart(BaseModel):
    """A part of a message. Only text is read."""

    model_config = ConfigDict(extra="allow")

    type: str
    text: str | None = None


class InputItem(BaseModel):
    """An item of the conversation. Only messages are read; those of `system` and `developer` are data."""

    model_config = ConfigDict(extra="allow")

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[InputPart] | None = None


class ResponseRequest(BaseModel):
    """Parameters that choose how a language model writes are ignored, and so are `instructions`, which are data."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(DEFAULT_MODEL, description="`argot`, or a profile of it as `argot-strict`; see `/v1/models`")
    input: str | list[InputItem]
    stream: bool | None = False
    previous_response_id: str | None = Field(None, description="must be left out: nothing is stored")
    argot: ArgotOptions | None = None


class ResponseGiven(BaseModel):
    """`argot`: status, sentences with citations, jargon, choices, passages: see `/api/ask`."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["completed", "in_progress"]
    model: str
    output: list[dict[str, Any]]
    usage: dict[str, Any] | None
    argot: dict[str, Any] | None = None


def build_response_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(
        prefix="/v1", route_class=ApiRoute, generate_unique_id_function=get_operation_id, tags=["OpenAI-compatible"]
    )

    @router.post(
        "/responses",
        response_model=None,
        responses={
            200: {"model": ResponseGiven, "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            **declare_errors(400, 401, 404, 409, 413, 415, 429, 503),
        },
    )
    @needs("asker", program=True)
    async def responses(request: Request, who: Who, given: ResponseRequest) -> Response:
        """Answer the last message of `input`, given those before it, as `/v1/chat/completions` does."""
        try:
            profile = await kb.blocking(find_profile, kb, given.model)
            asked = begin_answer(kb, who, _make_chat_request(given), profile)
        except RequestRefusal as refusal:
            # In chat completions the conversation has another name.
            refusal.param = "input" if refusal.param == "messages" else refusal.param
            return answer_refusal(refusal)
        response_body = ResponseBody(f"resp_{secrets.token_hex(24)}", f"msg_{secrets.token_hex(24)}", given.model)
        site = kb.settings.web.public_url.rstrip("/")
        if not given.stream:
            result = await cancel_on_hang_up(request, get_answer(asked))
            body = response_body.build_completed(format_message(result, site), result)
            return JSONResponse(body, headers={"Cache-Control": "no-store"})
        events = await start_stream(request, asked)
        streamed = StreamedText(site, live=await is_written_live(kb, profile))
        return EventStream(keep_alive(_stream_events(events, streamed, response_body)))

    return router


def _make_chat_request(body: ResponseRequest) -> ChatRequest:
    """Return the same conversation as a request for a chat completion.

    Raises:
        RequestRefusal: something is asked for that would be left out in silence.
    """
    more: Mapping[str, Any] = body.model_extra or {}
    stored = {"previous_response_id": body.previous_response_id, **more}
    for name in ("previous_response_id", "conversation", "background", "prompt"):
        if stored.get(name):
            raise RequestRefusal(f"'{name}' is not supported: {_NO_STORE}", name)
    form = (more.get("text") or {}).get("format") if isinstance(more.get("text"), dict) else None
    if isinstance(form, dict) and form.get("type", "text") != "text":
        raise RequestRefusal("text.format can only be text; the field 'argot' has the answer as data.", "text.format")
    items = [InputItem(role="user", content=body.input)] if isinstance(body.input, str) else body.input
    if any(item.type == "item_reference" for item in items):
        raise RequestRefusal(f"An item of kind 'item_reference' is not supported: {_NO_STORE}", "input")
    said = [item for item in items if item.type == "message" and item.role]
    if not said:
        raise RequestRefusal("The input has no message. Send the question as text, or as the last message.", "input")
    if len(said) > MAX_MESSAGES:
        raise RequestRefusal(f"The input has {len(said):,} messages. Send at most {MAX_MESSAGES:,}.", "input")
    messages = [_make_message(item, is_asked=item is said[-1]) for item in said]
    tools = {name: more[name] for name in ("tools", "tool_choice") if more.get(name)}
    return ChatRequest(model=body.model, messages=messages, argot=body.argot, **tools)


def _make_message(item: InputItem, *, is_asked: bool) -> ChatMessage:
    """Return the same message for a chat completion, with its parts of text.

    Raises:
        RequestRefusal: the message that is asked has a part of another kind, such as a picture.
    """
    given = item.content
    content: str | list[Part] | None
    if isinstance(given, list):
        other = next((part.type for part in given if part.type not in _TEXT_PARTS), None)
        if other is not None and is_asked:
            remedy = "send text. /v1/chat/completions also reads pictures."
            raise RequestRefusal(f"A part of kind '{other[:40]}' cannot be read here: {remedy}", "input")
        content = [Part(type="text", text=part.text) for part in given if part.type in _TEXT_PARTS]
    else:
        content = given
    return ChatMessage(role=item.role or "user", content=content)


@dataclass(frozen=True, slots=True)
class ResponseBody:
    """The response that is being given, in its states."""

    id: str
    message_id: str
    model: str
    created_at: int = field(default_factory=lambda: int(time.time()))

    def build_begun(self) -> dict[str, Any]:
        return self._build("in_progress", [], None)

    def build_completed(self, text: str, result: AskResult) -> dict[str, Any]:
        counted = count_usage(result)
        usage = {
            "input_tokens": counted["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": counted["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counted["total_tokens"],
        }
        return self._build("completed", [self.build_message(text)], usage) | {"argot": build_metadata(result)}

    def build_message(self, text: str | None) -> dict[str, Any]:
        """Build the message of the answer; without a text one that has just begun."""
        content = [] if text is None else [build_part(text)]
        status = "in_progress" if text is None else "completed"
        return {"id": self.message_id, "type": "message", "role": "assistant", "status": status, "content": content}

    def _build(self, status: str, output: list[dict[str, Any]], usage: dict[str, Any] | None) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created_at,
            "status": status,
            "model": self.model,
            "output": output,
            "usage": usage,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "store": False,
            "tool_choice": "none",
            "tools": [],
        }


def build_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


async def _stream_events(
    events: AsyncGenerator[AskEvent], streamed: StreamedText, response_body: ResponseBody
) -> AsyncGenerator[str]:
    """Stream the events of a response, each with its number; the text grows by `response.output_text.delta`."""
    numbers = iter(range(10**9))
    place = {"item_id": response_body.message_id, "output_index": 0, "content_index": 0}
    pieces: list[str] = []

    def make(kind: str, **data: Any) -> str:
        return _format_event(kind, {"type": kind, "sequence_number": next(numbers), **data})

    yield make("response.created", response=response_body.build_begun())
    yield make("response.in_progress", response=response_body.build_begun())
    yield make("response.output_item.added", output_index=0, item=response_body.build_message(None))
    yield make("response.content_part.added", **place, part=build_part(""))
    try:
        async with aclosing(events):
            async for event in events:
                for piece in read_pieces(streamed, event):
                    pieces.append(piece)
                    yield make("response.output_text.delta", **place, delta=piece, logprobs=[])
    except Exception as error:
        # The status was sent long ago: the error is the last event.
        fault = build_error_event(error)["error"]
        yield make("error", code=fault["code"], message=fault["message"], param=fault["param"])
        return
    for line in _end_events(make, "".join(pieces), place, response_body, streamed.result):
        yield line


def _end_events(
    make: Any, text: str, place: Mapping[str, Any], response_body: ResponseBody, result: AskResult
) -> Iterator[str]:
    yield make("response.output_text.done", **place, text=text, logprobs=[])
    yield make("response.content_part.done", **place, part=build_part(text))
    yield make("response.output_item.done", output_index=0, item=response_body.build_message(text))
    yield make("response.completed", response=response_body.build_completed(text, result))


def _format_event(kind: str, data: Mapping[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n"
