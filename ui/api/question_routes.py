"""`/api/ask`, `/api/answer` and `/api/search`: the whole result as JSON, or what happens on the way as events."""

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
from argot.service.usecases import conversations, questions
from argot.service.usecases.usecase_registry import get_answer
from argot.ui.api.api_route import ApiRoute, EventStream, alive, begun, told_in_stream, unless_gone
from argot.ui.api.openapi import ERRORS, operation_id
from argot.ui.api.parameter_models import given_by
from argot.ui.web.authorization import Who, needs

# Types made at run time: mypy knows none of them, hence the ignores below.
Question, Reply, Query = given_by(questions.ask), given_by(questions.answer), given_by(conversations.search)

EVENTS = "text/event-stream"
ANSWERED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": AskResult,
        "content": {EVENTS: {"schema": {"type": "string"}}},
        "description": "The result; or with 'Accept: text/event-stream' the events stage, token, retract, and at last"
        " result (or error), each with its JSON.",
    },
    **ERRORS(400, 401, 404, 409, 413, 415, 422, 429, 503),
}


class Found(BaseModel):
    """What `/api/search` finds."""

    query: str
    jargon: list[Jargon]
    context: str | None
    notes: list[str]
    passages: list[FoundPassage]


def asking_routes(kb: KnowledgeBase) -> APIRouter:
    router = APIRouter(prefix="/api", route_class=ApiRoute, generate_unique_id_function=operation_id, tags=["Asking"])

    @router.post("/ask", response_model=None, responses=ANSWERED)
    @needs("asker", program=True)
    async def ask(request: Request, who: Who, given: Question) -> Response:  # type: ignore[valid-type]
        """Ask a question, in a new thread or as the next turn of one of yours.

        With status `needs_choice`, send one of the `choices` to `/api/answer`.
        """
        return await _answered(request, kb, questions.ask(kb, who.principal, **_said(given)))

    @router.post("/answer", response_model=None, responses=ANSWERED)
    @needs("asker", program=True)
    async def answer(request: Request, who: Who, given: Reply) -> Response:  # type: ignore[valid-type]
        """Answer what was asked back in a thread: with the `answer` of a choice, its number, or in words."""
        return await _answered(request, kb, questions.answer(kb, who.principal, **_said(given)))

    found: dict[int | str, dict[str, Any]] = {200: {"model": Found}, **ERRORS(400, 401, 404, 413, 415, 422, 429, 503)}

    @router.post("/search", response_model=None, responses=found)
    @needs("asker", program=True)
    async def search(request: Request, who: Who, given: Query) -> Response:  # type: ignore[valid-type]
        """The passages that answer a question best, its jargon understood; nothing is asked back."""
        searching = conversations.search(kb, who.principal, **_said(given))
        return JSONResponse(convert_to_json(await unless_gone(request, searching)))

    return router


def _said(given: Any) -> dict[str, Any]:
    # What was left out stays left out: the use case has the defaults.
    parameters: dict[str, Any] = given.model_dump(exclude_unset=True)
    return parameters


async def _answered(request: Request, kb: KnowledgeBase, answering: AsyncGenerator[AskEvent]) -> Response:
    if EVENTS in request.headers.get("accept", ""):
        # Until the first event an error can still have a status of its own.
        events = await begun(request, answering)
        return EventStream(alive(_lines(events)))
    result = await unless_gone(request, get_answer(answering))
    return JSONResponse(convert_to_json(result), headers={"Cache-Control": "no-store"})


async def _lines(events: AsyncGenerator[AskEvent]) -> AsyncGenerator[str]:
    """Each event under its kind. A stage that begins has no `seconds` yet."""
    try:
        async with aclosing(events):
            async for event in events:
                yield _line(event.kind, _told(event))
    except Exception as error:
        # The status was sent before: what goes wrong now is the last event.
        yield _line("error", told_in_stream(error))


def _told(event: AskEvent) -> Mapping[str, Any]:
    match event.kind:
        case "stage":
            return {name: getattr(event, name) for name in ("name", "seconds", "model_seconds", "data")}
        case "token":
            return {"text": event.data}
        case "retract":
            return {}
        case "result":
            plain: Mapping[str, Any] = convert_to_json(event.data)
            return plain


def _line(kind: str, data: Mapping[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n"
