"""`/api/ask`, `/api/answer` and `/api/search`: the whole result as JSON, or its stages as events."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from argot.results import AskEvent, AskResult, FoundPassage, Jargon
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions import conversations, questions
from argot.service.usecases.usecase_registry import get_answer
from argot.ui.api.api_route import ApiRoute, EventStream, build_error_event, cancel_on_hang_up, keep_alive, start_stream
from argot.ui.api.openapi import declare_errors, get_operation_id
from argot.ui.api.parameter_models import build_parameter_model
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import make_router

# These types are made at run time: mypy does not know them, hence the ignores below.
Question, Reply, Query = (
    build_parameter_model(questions.ask),
    build_parameter_model(questions.answer),
    build_parameter_model(conversations.search),
)

EVENT_STREAM_TYPE = "text/event-stream"
ANSWER_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": AskResult,
        "content": {EVENT_STREAM_TYPE: {"schema": {"type": "string"}}},
        "description": "The result; or with 'Accept: text/event-stream' the events stage, token, retract, and "
        "finally result (or error), each with its JSON.",
    },
    **declare_errors(400, 401, 404, 409, 413, 415, 422, 429, 503),
}


class Found(BaseModel):
    """The result of `/api/search`."""

    query: str
    jargon: list[Jargon]
    context: str | None
    notes: list[str]
    passages: list[FoundPassage]


def build_question_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(
        prefix="/api", route_class=ApiRoute, generate_unique_id_function=get_operation_id, tags=["Asking"]
    )

    @router.post("/ask", response_model=None, responses=ANSWER_RESPONSES)
    @needs("asker", program=True)
    async def ask(request: Request, who: Who, given: Question) -> Response:  # type: ignore[valid-type]
        """Ask a question, in a new thread or as the next turn of a thread of yours.

        With the status `needs_choice`, send one of the `choices` to `/api/answer`.
        """
        return await _send_answer(request, kb, questions.ask(kb, who.principal, **_read_parameters(given)))

    @router.post("/answer", response_model=None, responses=ANSWER_RESPONSES)
    @needs("asker", program=True)
    async def answer(request: Request, who: Who, given: Reply) -> Response:  # type: ignore[valid-type]
        """Answer what Argot asked back in a thread: with the `answer` of a choice, its number, or in words."""
        return await _send_answer(request, kb, questions.answer(kb, who.principal, **_read_parameters(given)))

    found: dict[int | str, dict[str, Any]] = {
        200: {"model": Found},
        **declare_errors(400, 401, 404, 413, 415, 422, 429, 503),
    }

    @router.post("/search", response_model=None, responses=found)
    @needs("asker", program=True)
    async def search(request: Request, who: Who, given: Query) -> Response:  # type: ignore[valid-type]
        """Find the passages that answer a question best. Its jargon is understood; Argot asks nothing back."""
        searching = conversations.search(kb, who.principal, **_read_parameters(given))
        return JSONResponse(convert_to_json(await cancel_on_hang_up(request, searching)))

    return router


def _read_parameters(body: Any) -> dict[str, Any]:
    # Parameters that were left out stay so: the use case has the defaults.
    parameters: dict[str, Any] = body.model_dump(exclude_unset=True)
    return parameters


async def _send_answer(request: Request, kb: KnowledgeBase, answering: AsyncGenerator[AskEvent]) -> Response:
    if EVENT_STREAM_TYPE in request.headers.get("accept", ""):
        # An error before the first event still has a status of its own.
        events = await start_stream(request, answering)
        return EventStream(keep_alive(_stream_lines(events)))
    result = await cancel_on_hang_up(request, get_answer(answering))
    return JSONResponse(convert_to_json(result), headers={"Cache-Control": "no-store"})


async def _stream_lines(events: AsyncGenerator[AskEvent]) -> AsyncGenerator[str]:
    """Format each event under its kind. A stage that begins has no `seconds` yet."""
    try:
        async with aclosing(events):
            async for event in events:
                yield _format_line(event.kind, _describe_event(event))
    except Exception as error:
        # The status has been sent: an error is now the last event.
        yield _format_line("error", build_error_event(error))


def _describe_event(event: AskEvent) -> Mapping[str, Any]:
    match event.kind:
        case "stage":
            return {name: getattr(event, name) for name in ("name", "seconds", "model_seconds", "data")}
        case "step":
            return {"number": int(event.name), "text": event.data}
        case "token":
            return {"text": event.data}
        case "retract":
            return {}
        case "result":
            plain: Mapping[str, Any] = convert_to_json(event.data)
            return plain


def _format_line(kind: str, data: Mapping[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n"
