"""Addresses of the chat window that Argot serves itself, in place of Chainlit.

Chainlit serves any file in a folder it can write to, answers 500 for a closed window or somebody else's answer, and
stores an uploaded file under a suffix that its sender chose.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, File, HTTPException, Query, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from argot.errors import ArgotError
from argot.languages.catalogues import translate
from argot.ui.translation.page_errors import translate_error_text
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.chainlit_guard import FILE_PATH, MAX_JSON_BYTES, SessionId, Words, find_session
from argot.ui.web.error_pages import describe_problems, get_status
from argot.ui.web.open_connections import limit_receive
from argot.ui.web.routers import make_router

if TYPE_CHECKING:
    from fastapi import FastAPI

ASSETS = Path(__file__).parent.parent / "assets"
MEDIA_TYPES = {
    "argot.css": "text/css",
    "argot.js": "text/javascript",
    "underline.js": "text/javascript",
    "mentions.js": "text/javascript",
    "embedded.js": "text/javascript",
    "framed.js": "text/javascript",
    "storage.js": "text/javascript",
    "door.css": "text/css",
    **dict.fromkeys(
        ("account.svg", "favicon.svg", "glossary.svg", "library.svg", "picture.svg", "terms.svg"), "image/svg+xml"
    ),
    **dict.fromkeys(("logo_dark.svg", "logo_light.svg"), "image/svg+xml"),
}
"""The files served below /public, from where they were installed. Any other name, and any path, is 404."""
PLAIN_BYTES = "application/octet-stream"
CLOSED_WINDOW = "This window is no longer open. Reload the page."
NO_ACTION = "This button is no longer there. Reload the page."

Label = Annotated[Words, Field(max_length=20_000)]


class SessionReference(BaseModel):
    session_id: SessionId


class Judgement(BaseModel):
    forId: Annotated[str, Field(max_length=100)]
    value: Literal[0, 1]
    comment: Words | None = None


class NewFeedback(BaseModel):
    feedback: Judgement


class FeedbackRemoval(BaseModel):
    feedbackId: Annotated[str, Field(max_length=100)]


class ButtonPress(BaseModel):
    name: Label
    payload: dict[str, Any]
    label: Label = ""
    tooltip: Label = ""
    icon: Label | None = None
    forId: Label | None = None
    id: Label


class WindowButtonPress(BaseModel):
    action: ButtonPress
    sessionId: SessionId


class WindowRoute(APIRoute):
    """A route that reports errors in the form that Chainlit's page reads, and limits the size of bodies."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_in_words(request: Request) -> Response:
            if self.path != FILE_PATH:
                request = Request(request.scope, limit_receive(request.receive, MAX_JSON_BYTES))
            try:
                return await handle(request)
            except HTTPException as error:
                return send_window_error(error.status_code, str(error.detail))
            except RequestValidationError as error:
                return send_window_error(422, describe_problems(error))
            except ArgotError as error:
                return send_window_error(get_status(error), str(error))

        return handle_in_words


def send_window_error(status: int, text: str) -> Response:
    # Chainlit's page shows the text under "detail"; errors of our own pages are plain text.
    return JSONResponse({"detail": translate_error_text(text)}, status, {"Cache-Control": "no-store"})


def explain_chainlit_errors(app: FastAPI) -> None:
    """Describe errors at Chainlit's own addresses in words that the window shows."""

    @app.exception_handler(ArgotError)
    async def explain_refusal(request: Request, error: ArgotError) -> Response:
        return send_window_error(get_status(error), str(error))

    @app.exception_handler(RequestValidationError)
    async def explain_invalid(request: Request, error: RequestValidationError) -> Response:
        # Without the input, which FastAPI would repeat: a lone surrogate in it cannot be encoded as UTF-8.
        return send_window_error(422, describe_problems(error))


def build_chat_routes() -> APIRouter:
    router = make_router(route_class=WindowRoute)
    _add_asset_routes(router)
    _add_feedback_routes(router)
    _add_session_routes(router)
    return router


def _add_asset_routes(router: APIRouter) -> None:
    @router.get("/public/{filename:path}")
    @needs("anonymous")
    async def public(filename: str) -> Response:
        if filename not in MEDIA_TYPES:
            raise HTTPException(404, "There is nothing here.")
        return _send_asset(filename)

    @router.get("/favicon")
    @needs("anonymous")
    async def favicon() -> Response:
        return _send_asset("favicon.svg")

    @router.get("/logo")
    @needs("anonymous")
    async def logo(theme: Literal["light", "dark"] = "light") -> Response:
        return _send_asset(f"logo_{theme}.svg")

    @router.get("/avatars/{avatar_id:str}")
    @needs("anonymous")
    async def avatar(avatar_id: str) -> Response:
        """Return Argot's avatar; people are shown by their initials."""
        return _send_asset("avatars/argot.svg" if avatar_id.casefold() in {"argot", "default"} else "favicon.svg")


def _send_asset(name: str) -> Response:
    return FileResponse(ASSETS / name, media_type=MEDIA_TYPES.get(name, "image/svg+xml"))


def _add_feedback_routes(router: APIRouter) -> None:
    # Chainlit's script sends no token against forgery, so the guard checks the origin of all these requests.
    @router.put("/feedback")
    @needs("asker", csrf=False, framed=True)
    async def give(given: NewFeedback) -> Response:
        from chainlit.types import Feedback

        judged = given.feedback
        feedback = Feedback(forId=judged.forId, value=judged.value, comment=judged.comment)
        return JSONResponse({"success": True, "feedbackId": await _get_data_layer().upsert_feedback(feedback)})

    @router.delete("/feedback")
    @needs("asker", csrf=False, framed=True)
    async def take(given: FeedbackRemoval) -> Response:
        await _get_data_layer().delete_feedback(given.feedbackId)
        return JSONResponse({"success": True})


def _get_data_layer() -> Any:
    from chainlit.data import get_data_layer

    return get_data_layer()


def _add_session_routes(router: APIRouter) -> None:
    @router.post("/set-session-cookie")
    @needs("asker", csrf=False, framed=True)
    async def sticky(given: SessionReference) -> Response:
        # Chainlit's cookie is for several processes behind a load balancer. There is only one process, so none is set.
        return JSONResponse({"message": "There is one process."})

    @router.post("/project/action")
    @needs("asker", csrf=False, framed=True)
    async def action(who: Who, given: WindowButtonPress) -> Response:
        from chainlit.config import config
        from chainlit.server import call_action
        from chainlit.types import CallActionRequest

        session = _find_own_session(given.sessionId, who)
        if given.action.name not in config.code.action_callbacks:
            raise HTTPException(404, translate(NO_ACTION))
        pressed = CallActionRequest(action=given.action.model_dump(), sessionId=given.sessionId)
        answer: Response = await call_action(pressed, session.user)
        return answer

    @router.post(FILE_PATH)
    @needs("asker", csrf=False, framed=True)
    async def upload(
        who: Who, session_id: Annotated[SessionId, Query()], file: Annotated[UploadFile, File()]
    ) -> Response:
        # Kept until the message is sent. The guard limits its size, and so does the use case that reads it.
        session = _find_own_session(session_id, who)
        session.files_dir.mkdir(exist_ok=True)
        name = file.filename or "file"
        # As plain bytes, whatever type its sender names: Chainlit derives the suffix of the file from it.
        return JSONResponse(await session.persist_file(name=name, mime=PLAIN_BYTES, content=await file.read()))


def _find_own_session(session_id: str, who: Visitor) -> Any:
    session = find_session(session_id, who)
    if session is None:
        raise HTTPException(404, translate(CLOSED_WINDOW))
    return session
