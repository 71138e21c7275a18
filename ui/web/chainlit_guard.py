"""The guard between a browser and Chainlit: the addresses and events that are open, and what they may contain.

Chainlit trusts what a browser sends: it joins the session's id to a path that it later removes, looks sessions up by an
id in a query, and passes the arguments of events on unchecked. So nothing reaches it that is not listed here, and every
message is rebuilt from the few fields that our window sends. Chainlit (2.12.0) is archived, so none of this will be
fixed there.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl

from pydantic import UUID4, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argot.errors import NotAllowed
from argot.languages.catalogues import translate
from argot.service.usecases.questions.attachments import MAX_FILES
from argot.ui.web.authorization import ENTRY_KEY, VISITOR_KEY, Access, AddressRule, Visitor
from argot.ui.web.page_templates import show_refusal

if TYPE_CHECKING:
    from fastapi import FastAPI

logger = logging.getLogger(__name__)

ROUTES: Mapping[str, Access] = {
    "WEBSOCKET /ws/socket.io": "asker",
    "GET /assets/{filename:path}": "anonymous",
    "GET /auth/config": "anonymous",
    "GET /project/translations": "anonymous",
    "HEAD /": "anonymous",
    "GET /user": "asker",
    "GET /project/settings": "asker",
    "POST /project/threads": "asker",
    "GET /project/thread/{thread_id}": "asker",
    "PUT /project/thread": "asker",
    "DELETE /project/thread": "asker",
    "GET /{full_path:path}": "asker",  # only the paths of `_PAGE`
}
"""Chainlit's open addresses, and the role each needs. Others are closed, or served by Argot (`chat_routes.py`)."""

PAGES = "GET /{full_path:path}"
"""Chainlit's answer to any path: its page, which shows the chat window also at addresses that it does not know."""
FILE_PATH = "/project/file"
# Bytes of a body from the window, except files.
MAX_JSON_BYTES = 1024 * 1024
MAX_FRAME_BYTES = 2 * 1024 * 1024
"""Bytes of a frame; a larger one ends the connection. A question of a megabyte still gets an answer in words."""
BEGIN_SECONDS = 20.0
"""The longest time that a websocket may be open before it begins a session."""
MAX_ADDRESS_CHARS = 4096
MAX_SETTING_CHARS = 1000
MAX_CHOSEN = 1000
NO_THREAD = "unknown"
"""The replacement for a malformed thread id: no thread has this id, and the window says so."""
NOTHING_HERE = "There is nothing here."
NO_PAGE = "There is no page at this address."
NOT_YOURS = "This window's id is in use by somebody else. Reload the page."
NO_SESSION = "This window has no valid id. Reload the page."

_PAGE = re.compile(r"/|/thread(/[^/]+)?|/(element|share)/[^/]+|/env|/login(/callback)?")
"""The paths that Chainlit's page knows, as its router lists them."""
_THREAD = re.compile(r"[\w-]{1,64}", re.ASCII)
_FRAME = re.compile(r"4([02])([\[{].*)?", re.DOTALL)
"""Connect (40) or event (42) of Socket.IO: `42["stop"]`. A namespace or an acknowledgement number, which would stand
before the data, does not match."""
# It becomes the name of a folder, so only digits, a to f, and hyphens are allowed.
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _check_well_formed(value: object) -> object:
    # A script may cut a character outside the BMP in two; SQLite and UTF-8 files cannot store a lone surrogate.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


Words = Annotated[str, BeforeValidator(_check_well_formed)]
SessionId = Annotated[str, Field(pattern=f"^{_UUID}$")]
Setting = Annotated[Words, Field(max_length=MAX_SETTING_CHARS)]


class _Payload(BaseModel):
    """The data of an event from a browser; unnamed fields are dropped."""

    model_config = ConfigDict(extra="ignore")


class QuestionPayload(_Payload):
    id: UUID4
    output: Words


class FileReference(_Payload):
    id: UUID4


class ClientMessage(_Payload):
    message: QuestionPayload
    fileReferences: Annotated[list[FileReference], Field(max_length=MAX_FILES)] | None = None


class WindowMessage(_Payload):
    open: Annotated[Words, Field(max_length=MAX_ADDRESS_CHARS)]


class ChatSettings(_Payload):
    profile: Setting | None = None
    effort: Setting | None = None
    context: Setting | None = None
    tags: Annotated[list[Setting], Field(max_length=MAX_CHOSEN)] | None = None
    documents: Annotated[list[Setting], Field(max_length=MAX_CHOSEN)] | None = None


EVENTS: Mapping[str, type[_Payload] | None] = {
    "connection_successful": None,
    "clear_session": None,
    "stop": None,
    "client_message": ClientMessage,
    "window_message": WindowMessage,
    "chat_settings_change": ChatSettings,
}
"""The events of our window, with the shape of their data."""

IGNORED_EVENTS = frozenset((
    "fetch_favorites", "message_favorite", "edit_message", "chat_settings_edit",
    "audio_start", "audio_chunk", "audio_end",
))  # fmt: skip
"""Events that Chainlit's page may send and Argot does not use: dropped without a log entry."""


def is_session_id(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(_UUID, value) is not None


def is_thread_id(value: object) -> bool:
    return isinstance(value, str) and _THREAD.fullmatch(value) is not None


def find_session(session_id: object, who: Visitor) -> Any | None:
    """Find Chainlit's session of this id if it is this visitor's; None if there is none or it is somebody else's."""
    session = _find_any_session(session_id)
    return session if session is not None and _is_owner(session, who) else None


def _find_any_session(session_id: object) -> Any | None:
    from chainlit.session import WebsocketSession

    return WebsocketSession.get_by_id(session_id) if is_session_id(session_id) else None


def _is_owner(session: Any, who: Visitor) -> bool:
    return getattr(session.user, "identifier", None) == who.name


# -- the application -------------------------------------------------------------------------------------------------


class Window:
    """Chainlit's application behind the guard. It is mounted below all our own addresses.

    Args:
        app: Chainlit's application.
        assets: the names of the files that its page loads.
    """

    def __init__(self, app: FastAPI, assets: frozenset[str]) -> None:
        self.app = app
        self.routes = app.routes
        self.open = ROUTES
        self.assets = assets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self.app
        if scope["type"] == "websocket":
            app = Socket(self.app, scope[VISITOR_KEY])
        elif not self._is_there(scope["path"]):
            app = PlainTextResponse(translate(NOTHING_HERE), status_code=404)
        elif _get_name(scope) == PAGES and not _PAGE.fullmatch(scope["path"].rstrip("/") or "/"):
            app = _refuse_page(scope)
        await app(scope, receive, send)

    def _is_there(self, path: str) -> bool:
        # /assets is limited to Chainlit's files. /ws over HTTP would be Socket.IO's long polling, which bypasses the
        # checks of `Socket`.
        _, top, *rest = path.split("/", 2)
        return top != "ws" and (top != "assets" or "".join(rest) in self.assets)


def _get_name(scope: Scope) -> str:
    entry = scope.get(ENTRY_KEY)
    return entry.name if isinstance(entry, AddressRule) else PAGES


def _refuse_page(scope: Scope) -> ASGIApp:
    """Answer a misspelt address: in a browser by a page with links to those that exist."""
    if "text/html" in Headers(scope=scope).get("accept", ""):
        return show_refusal(404, translate(NO_PAGE), scope.get(VISITOR_KEY))
    return PlainTextResponse(translate(NOTHING_HERE), status_code=404)


class _IgnoredMessage(Exception):
    """A message that Chainlit does not get; the text says what it was."""


class _RefusedConnection(Exception):
    """A connection that cannot go on; the text says why."""


class Socket:
    """A window's connection: it passes on what is listed above, and rebuilds each frame.

    Everything runs over websockets: one session per connection, the default namespace, no acknowledgements.
    """

    def __init__(self, app: ASGIApp, who: Visitor) -> None:
        self.app = app
        self.who = who
        self.begun = False
        self.ended = False
        self.reported = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_checked() -> Message:
            while not self.ended:
                try:
                    # Otherwise anybody signed in could hold connections open that no session ends.
                    async with asyncio.timeout(None if self.begun else BEGIN_SECONDS):
                        message = await receive()
                except TimeoutError:
                    self.ended = True
                    await send({"type": "websocket.close", "code": 1008, "reason": "Reload the page."})
                    continue
                if message["type"] != "websocket.receive":
                    return message
                try:
                    text = self.clean_frame(message.get("text"))
                except _IgnoredMessage as what:
                    self._report(what)
                except _RefusedConnection as refusal:
                    self.ended = True
                    await send({"type": "websocket.close", "code": 1008, "reason": str(refusal)})
                else:
                    if text is not None:
                        return {"type": "websocket.receive", "text": text}
            return {"type": "websocket.disconnect", "code": 1008}

        async def send_unless_ended(message: Message) -> None:
            if not self.ended:
                await send(message)

        if not _is_websocket_alone(scope["query_string"]):
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "Reload the page."})
            return
        await self.app(scope, receive_checked, send_unless_ended)

    def clean_frame(self, text: object) -> str | None:
        """Rebuild a frame for Chainlit; None for a frame that our window sends and Chainlit need not see.

        Raises:
            _IgnoredMessage: no window of ours sends this frame.
            _RefusedConnection: the connection ends.
        """
        if text in {"1", "3", "41"}:  # close and pong of Engine.IO, disconnect of Socket.IO
            return str(text)
        found = _FRAME.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise _IgnoredMessage("a frame that is not of Socket.IO")
        kind, rest = found.groups()
        try:
            data = json.loads(rest) if rest else None
        # Deeply nested lists make `json.loads` raise a RecursionError.
        except (ValueError, RecursionError) as error:
            raise _IgnoredMessage("a frame that cannot be read") from error
        return self._rebuild_event(data) if kind == "2" else self._rebuild_connection(data)

    def _rebuild_connection(self, auth: Any) -> str:
        if self.begun:
            raise _IgnoredMessage("a second connection event")
        if not isinstance(auth, dict) or not is_session_id(auth.get("sessionId")):
            raise _RefusedConnection(NO_SESSION)
        # Chainlit would give an open session to anyone who names its id.
        session = _find_any_session(auth["sessionId"])
        if session is not None and not _is_owner(session, self.who):
            raise _RefusedConnection(NOT_YOURS)
        self.begun = True
        thread = auth.get("threadId") or None
        if thread is not None and not is_thread_id(thread):
            thread = NO_THREAD
        # Rebuilt: `userEnv` and `chatProfile` would be accepted unchecked, and the window sends neither.
        made = {"sessionId": auth["sessionId"], "threadId": thread, "clientType": "webapp"}
        return "40" + json.dumps({**made, "userEnv": None, "chatProfile": None})

    def _rebuild_event(self, data: Any) -> str | None:
        name = data[0] if isinstance(data, list) and data else None
        if not isinstance(name, str) or not self.begun or (name not in EVENTS and name not in IGNORED_EVENTS):
            raise _IgnoredMessage("a malformed event")
        if name in IGNORED_EVENTS:
            return None
        shape = EVENTS[name]
        if shape is None:
            return "42" + json.dumps([name])
        try:
            payload = shape.model_validate(data[1] if len(data) > 1 else None)
        except ValidationError as error:
            if name == "window_message":  # any script in the page may post messages to it, and it passes them all on
                return None
            raise _IgnoredMessage(f"{name} with invalid data") from error
        return "42" + json.dumps([name, self._convert_payload(payload)])

    def _convert_payload(self, payload: _Payload) -> dict[str, Any]:
        plain = payload.model_dump(mode="json")
        if isinstance(payload, ClientMessage):
            plain["message"] |= {"name": self.who.name, "type": "user_message", "createdAt": None}
            files = dict.fromkeys(one["id"] for one in plain["fileReferences"] or ())
            plain["fileReferences"] = [{"id": one} for one in files]
        return plain

    def _report(self, what: _IgnoredMessage) -> None:
        # Once per connection: a client that sends nonsense in a loop must not fill the log.
        if not self.reported:
            self.reported = True
            logger.warning("'%s' sent the chat window %s; dropped, as all further ones will be", self.who.name, what)


def _is_websocket_alone(query: bytes) -> bool:
    # A `sid` would take over a long-polling session. "t" is a timestamp that some clients add against caches.
    parameters = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    return sorted(pair for pair in parameters if pair[0] != "t") == [("EIO", "4"), ("transport", "websocket")]


# -- inside Chainlit: a second defence, if one above fails ----------------------------------------------------------


def confine_chainlit() -> None:
    """Make Chainlit keep and remove a session's files in one folder below its own, and forget unlisted events."""
    from chainlit import server
    from chainlit.config import FILES_DIRECTORY
    from chainlit.session import BaseSession, WebsocketSession

    def files_dir(self: Any) -> Path:
        return find_session_folder(FILES_DIRECTORY, self.id)

    BaseSession.files_dir = property(files_dir)
    # Long polling sends frames in request bodies, which nothing here checks.
    server.sio.eio.transports = ["websocket"]
    handlers = server.sio.handlers["/"]
    for name in [one for one in handlers if one not in {"connect", "disconnect", *EVENTS}]:
        del handlers[name]
    for name in EVENTS:
        handlers[name] = _require_session(handlers[name], WebsocketSession.get)


def find_session_folder(base: Path, session_id: object) -> Path:
    """Find the folder of a session below this one.

    Raises:
        NotAllowed: the id is malformed, or the folder leads elsewhere.
    """
    if not is_session_id(session_id):
        raise NotAllowed(NO_SESSION)
    folder = base / str(session_id)
    # Chainlit removes the folder with everything in it when the session ends.
    if folder.is_symlink() or folder.resolve().parent != base.resolve():
        raise NotAllowed(f"The folder {folder} leads elsewhere. Remove it.")
    return folder


def _require_session(
    handler: Callable[..., Awaitable[Any]], find: Callable[[str], Any]
) -> Callable[..., Awaitable[Any]]:
    # Without a session Chainlit's handlers raise: another connection of the same window has taken it over.
    @wraps(handler)
    async def handle(sid: str, *arguments: Any) -> Any:
        return await handler(sid, *arguments) if find(sid) is not None else None

    return handle
