"""The base of every API address: limits on the size and kind of request bodies, and errors as JSON."""

from __future__ import annotations

import asyncio
import logging
import re
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from argot.disk_space import build_no_room_error, is_no_room
from argot.errors import ArgotError, InvalidSettings, LocalError, TooManyQuestions
from argot.service.observability.instrumentation import surface
from argot.service.usecases.parameter_problems import describe_length
from argot.ui.web.api_errors import answer_program, build_error_body
from argot.ui.web.observability import get_surface
from argot.ui.web.open_connections import describe_limit, is_said_larger, limit_receive

logger = logging.getLogger(__name__)

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

MIB = 2**20
JSON_TYPE = "application/json"
FORM_TYPE = "multipart/form-data"
HEARTBEAT_SECONDS = 15.0
"""A stream that has sent no event for this long sends a comment, so that no proxy takes it for dead and closes it."""
# nginx's status for a client that closed the request. No client reads the response, but the metrics count it.
HUNG_UP_STATUS = 499
UNREADABLE_BODY = "There was an error parsing the body"
"""FastAPI's message for a body that is not UTF-8, is nested too deeply, or has numbers of thousands of digits."""
NO_JSON = "The body is not valid JSON"
UNEXPECTED = "Something went wrong in Argot. An administrator can find it in the log by the response's X-Request-Id."
JSON_REMEDY = " Send one object, in UTF-8, as in the examples of docs/api.md."
_BODY_LIMITS = "__argot_takes__"
_FORM = re.compile(r"str|int|list\[.+\]")
"""The part of a place by which Pydantic says which form of a value it tried."""


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The kind and the largest size of a request body."""

    kind: str = JSON_TYPE
    most: int = MIB


def limit_body(kind: str, most: int) -> Callable[[F], F]:
    """Declare the kind and the largest size, in bytes, of an endpoint's bodies. The default is JSON of 1 MiB."""

    def declare(function: F) -> F:
        setattr(function, _BODY_LIMITS, BodyLimits(kind, most))
        return function

    return declare


class ApiRoute(APIRoute):
    """A route that refuses a body that is too large or of the wrong kind before it is parsed."""

    # `authorization.py` reads this: the guard leaves the size of bodies to these routes.
    bounds_bodies = True

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        taken: BodyLimits = getattr(self.endpoint, _BODY_LIMITS, BodyLimits())
        name = get_surface(self.path)
        known = _list_query_names(self.dependant)

        async def handle_checked(request: Request) -> Response:
            surface.set(get_surface(self.path, request.headers.get("user-agent", "")))
            if request.method in ("POST", "PUT", "PATCH"):
                request = _limit_request(request, taken)
            try:
                if self.path.startswith("/api/"):  # other addresses follow the protocols of others
                    _refuse_unknown_query(request, known)
                return await handle(request)
            except LocalError:  # `error_pages.py` handles them
                raise
            # Else 503: but here a parameter names a profile or a setting that cannot be, which is the program's
            # mistake.
            except InvalidSettings as error:
                raise HTTPException(400, str(error)) from error
            except RequestValidationError as error:
                if (unread := _explain_unreadable_json(error)) is not None:
                    # OpenAI's clients expect 400 for anything malformed; our own addresses answer 422.
                    raise HTTPException(400 if name == "openai" else 422, unread) from error
                if name == "openai":
                    return _build_validation_error(error)
                raise
            except HTTPException as error:
                # An uploaded file lies in the system's folder for temporary files until it is read.
                if is_no_room(error):
                    raise build_no_room_error(tempfile.gettempdir(), "there is no room for the upload") from error
                if error.detail == UNREADABLE_BODY:
                    raise HTTPException(400, f"{NO_JSON}.{JSON_REMEDY}") from error
                raise
            except ArgotError:  # `error_pages.py` handles them
                raise
            except Exception:
                logger.exception("%s %s failed", request.method, self.path)
                return answer_program(500, UNEXPECTED, path=self.path)

        return handle_checked


def _list_query_names(dependant: Dependant) -> tuple[str, ...]:
    """List the parameters that an address reads from its query, with those of its dependencies."""
    names: list[str] = []
    for field in dependant.query_params:
        model = field.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            names += [one.alias or key for key, one in model.model_fields.items()]
        else:
            names.append(field.alias)
    return (*names, *(name for inner in dependant.dependencies for name in _list_query_names(inner)))


def _refuse_unknown_query(request: Request, known: Sequence[str]) -> None:
    """Refuse a parameter that would have no effect in a request that changes something (`?dry_run=true`).

    Raises:
        HTTPException: 422, with the parameters that the address knows.
    """
    unknown = [name for name in request.query_params if name not in known]
    if unknown and request.method not in ("GET", "HEAD"):
        remedy = f"Known: {', '.join(known)}." if known else "Send parameters in the body: the query takes none here."
        raise HTTPException(422, f"'{unknown[0][:100]}' is no parameter of this address's query. {remedy}")


def _build_validation_error(error: RequestValidationError) -> Response:
    """Describe an invalid request as OpenAI does: status 400, with the name of the parameter."""
    errors = error.errors()
    # A value that may have several forms has an error for each of them: the one it comes closest to goes deepest.
    of_first = [one for one in errors if one["loc"][:2] == errors[0]["loc"][:2]]
    closest = max(of_first, key=lambda one: len(one["loc"]))
    where = ".".join(part for part in map(str, closest["loc"]) if part != "body" and not _FORM.fullmatch(part))
    problem = describe_length(where or "body", closest) or f"{where or 'body'}: {closest['msg']}"
    return answer_program(400, f"Invalid request. {problem}.", param=where or None)


def _explain_unreadable_json(error: RequestValidationError) -> str | None:
    """Say why a body is not JSON and at which character; None if it is JSON or there is none."""
    first = error.errors()[0]
    if first["type"] != "json_invalid":
        return None
    why = str(first.get("ctx", {}).get("error", "")).rstrip(":")
    return f"{NO_JSON}: {why} at character {first['loc'][-1]}.{JSON_REMEDY}"


def _limit_request(request: Request, taken: BodyLimits) -> Request:
    if is_said_larger(request, taken.most):
        raise HTTPException(413, f"That is too large: at most {describe_limit(taken.most)} can be sent here.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    length = request.headers.get("content-length", "")
    empty = length == "0" or (not length and "transfer-encoding" not in request.headers)
    # Without a body no kind need be named: some use cases have no required parameter.
    # `application/json` also stands for kinds based on JSON, as SCIM's.
    plain = JSON_TYPE if taken.kind.endswith("+json") else taken.kind
    if kind not in (taken.kind, plain) and (kind or not empty):
        raise HTTPException(415, f"Send the body as {taken.kind}, and say so in the header Content-Type.")
    return Request(request.scope, limit_receive(request.receive, taken.most))


# -- running use cases ------------------------------------------------------------------------------------------------


async def cancel_on_hang_up(request: Request, work: Awaitable[T]) -> T:
    """Return the result of the work, and cancel the work when the client hangs up.

    Raises:
        HTTPException: 499; the client is gone, so nobody reads it.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.create_task(_wait_for_hang_up(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise HTTPException(HUNG_UP_STATUS, "The client closed the request.")
        return task.result()
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()
            # Wait for the cancelled task: when this returns, the question is over and its place in the queue is free.
            with suppress(asyncio.CancelledError, ArgotError):
                await task


async def _wait_for_hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


# -- streams ----------------------------------------------------------------------------------------------------------


class EventStream(StreamingResponse):
    """Server-sent events whose generator is closed at once when the client hangs up."""

    def __init__(self, lines: AsyncGenerator[str]) -> None:
        super().__init__(lines, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        # nginx would otherwise buffer the events and pass them on in bursts.
        self.headers["X-Accel-Buffering"] = "no"
        self._lines = lines

    async def stream_response(self, send: Send) -> None:
        # Starlette leaves an unfinished generator to the garbage collector, so the model would go on writing.
        async with aclosing(self._lines):
            await super().stream_response(send)


def build_error_event(error: Exception) -> dict[str, Any]:
    """Build the last event of a stream that failed, and log an unexpected error."""
    if isinstance(error, TooManyQuestions):
        return build_error_body(429, str(error))
    if isinstance(error, ArgotError):
        return build_error_body(503, str(error))
    logger.exception("a stream failed")
    return build_error_body(500, UNEXPECTED)


async def start_stream(request: Request, items: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """Wait for the first item, so that an error before it still has a status of its own; return all the items."""
    try:
        first = await cancel_on_hang_up(request, anext(items))
    # Also on cancellation: nobody else holds the generator yet.
    except BaseException:
        await items.aclose()
        raise

    async def yield_all() -> AsyncGenerator[T]:
        async with aclosing(items):
            yield first
            async for item in items:
                yield item

    return yield_all()


async def keep_alive(lines: AsyncGenerator[str], seconds: float = HEARTBEAT_SECONDS) -> AsyncGenerator[str]:
    """Pass the lines on, and send a comment whenever none has come for `seconds`."""
    async with aclosing(lines):
        while True:
            # One task for all comments: a timeout around `anext` would cancel the question.
            line = asyncio.ensure_future(anext(lines, None))
            try:
                while not (await asyncio.wait((line,), timeout=seconds))[0]:
                    yield ": still at it\n\n"
                if (text := line.result()) is None:
                    return
            finally:
                if not line.done():
                    line.cancel()
                    with suppress(asyncio.CancelledError):
                        await line
            yield text
