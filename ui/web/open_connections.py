"""Open connections: their owners, and how they are closed, refused and limited."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argot.languages.catalogues import translate
from argot.service.identity.people import Ended
from argot.ui.web.api_errors import answer_program, build_error_body
from argot.ui.web.authorization import Visitor

Refusal: TypeAlias = tuple[int, str]
"""An HTTP status and the reason."""
Stays: TypeAlias = Callable[[Visitor, bool], Awaitable[bool]]
"""Decides whether a visitor may stay, given whether they have just done something."""

FORM_OVERHEAD_BYTES = 2**20
"""Bytes of a form besides the file: its other fields and the boundaries between them."""

EVENT_STREAM_TYPE = "text/event-stream"
MAX_WINDOWS = 50
"""Windows of one person: each holds a connection, and all people behind one proxy share its connections."""
TOO_MANY_WINDOWS = "Too many windows are open in your name. Close some."
CUT_MESSAGE = "The key was revoked, or its owner suspended, during this answer. Make another: argot key add NAME."

INERT_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; sandbox"
"""The policy of files that people uploaded: if a browser opens one instead of saving it, nothing in it may act."""

# Referrer-Policy: with "no-referrer" browsers would hide the origin of our own forms from us as well.
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class OpenConnections:
    """The open connections, each of which can be closed when its owner is shut out. Any thread may ask for that."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._open: dict[asyncio.Event, tuple[Visitor, asyncio.AbstractEventLoop]] = {}
        self._windows: Counter[str] = Counter()

    def close_ended(self, ended: Ended) -> None:
        """Close the websockets, and the programs' requests, whose sessions or keys have ended."""
        with self._guard:
            found = [(event, who, loop) for event, (who, loop) in self._open.items() if who.name == ended.user]
        for event, who, loop in found:
            if ended.sessions is None or who.session in ended.sessions:
                # Sessions end in worker threads, and an `asyncio.Event` may only be set in its own loop.
                loop.call_soon_threadsafe(event.set)

    async def close_shut_out(self, stays: Stays) -> None:
        """Close the connections of visitors who may no longer stay: this service may have missed the message."""
        with self._guard:
            found = [(event, who) for event, (who, _) in self._open.items()]
        for event, who in found:
            if not await stays(who, False):
                event.set()

    def serve_websocket(self, app: ASGIApp, who: Visitor, stays: Stays) -> ASGIApp:
        """Wrap the application to serve a websocket until it ends, is closed, or its visitor is found to be shut out.

        `stays` is called at every message, also at the heartbeats every half minute.
        """

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            gone = asyncio.Event()
            with self._guard:
                self._open[gone] = (who, asyncio.get_running_loop())
                self._windows[who.name] += 1
                windows = self._windows[who.name]
            try:
                if windows > MAX_WINDOWS:
                    await refuse_connection((429, TOO_MANY_WINDOWS), scope, receive, send)
                # Checked again, now that it can be closed: the session may have ended after the visitor was let in.
                elif await stays(who, False):
                    await serve_until(app, who, stays, gone)(scope, receive, send)
                else:
                    await refuse_connection((403, "You are signed out."), scope, receive, send)
            finally:
                with self._guard:
                    self._open.pop(gone, None)
                    # Unlike `subtract` this drops names at 0, which would otherwise accumulate.
                    self._windows -= Counter({who.name: 1})

        return serve

    def serve_program(self, app: ASGIApp, who: Visitor) -> ASGIApp:
        """Wrap the application to answer a program until it is done or closed, as if the program had hung up."""

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            gone = asyncio.Event()
            with self._guard:
                self._open[gone] = (who, asyncio.get_running_loop())
            try:
                await _run_until(gone, app)(scope, receive, send)
            finally:
                with self._guard:
                    self._open.pop(gone, None)

        return serve


def _run_until(gone: asyncio.Event, app: ASGIApp) -> ASGIApp:
    """Wrap the application: when `gone` is set, it sees the program hang up, and the program is told why."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_or_hung_up() -> Message:
            message, cut = asyncio.ensure_future(receive()), asyncio.create_task(gone.wait())
            try:
                await asyncio.wait((message, cut), return_when=asyncio.FIRST_COMPLETED)
                return message.result() if message.done() else {"type": "http.disconnect"}
            finally:
                message.cancel()
                cut.cancel()

        begun, ended, streams = False, False, False

        async def send_unless_cut(message: Message) -> None:
            nonlocal begun, ended, streams
            if gone.is_set():
                return
            if message["type"] == "http.response.start":
                begun = True
                streams = Headers(raw=message["headers"]).get("content-type", "").startswith(EVENT_STREAM_TYPE)
            else:
                ended = not message.get("more_body", False)
            await send(message)

        await app(scope, receive_or_hung_up, send_unless_cut)
        # Before the status is sent it can say why. A stream can only end with an event; a file breaks off.
        if gone.is_set() and not begun:
            await answer_program(401, CUT_MESSAGE, path=scope["path"])(scope, receive, send)
        elif gone.is_set() and streams and not ended:
            last = f"event: error\ndata: {json.dumps(build_error_body(401, CUT_MESSAGE))}\n\n"
            await send({"type": "http.response.body", "body": last.encode(), "more_body": False})

    return serve


def serve_until(app: ASGIApp, who: Visitor, stays: Stays, gone: asyncio.Event) -> ASGIApp:
    """Wrap the application: its connection ends when `gone` is set."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        cut = asyncio.create_task(gone.wait())
        closed = False

        async def receive_or_cut() -> Message:
            nonlocal closed
            message = asyncio.ensure_future(receive())
            await asyncio.wait((message, cut), return_when=asyncio.FIRST_COMPLETED)
            if not cut.done():
                came = message.result()
                # Nothing closes a session that has expired by age: it is noticed here, at the next heartbeat.
                if came["type"] != "websocket.receive" or await stays(who, is_event(came)):
                    return came
            message.cancel()
            if not closed:
                closed = True
                await send({"type": "websocket.close", "code": 1008, "reason": "You are signed out."})
            return {"type": "websocket.disconnect", "code": 1008}

        async def send_unless_cut(message: Message) -> None:
            if not cut.done() and not closed:
                await send(message)

        try:
            await app(scope, receive_or_cut, send_unless_cut)
        finally:
            cut.cancel()

    return serve


def is_event(message: Message) -> bool:
    """Tell whether a message of Socket.IO is an event of the user rather than a heartbeat."""
    # 4: a message of Engine.IO; 2: an event of Socket.IO. A heartbeat is "3".
    return str(message.get("text") or "").startswith("42")


def describe_limit(most: int) -> str:
    """Return what may be sent in a body of at most so many bytes, in MB; a form has 1 MiB of its own beside a file."""
    return f"{(most - FORM_OVERHEAD_BYTES if most > FORM_OVERHEAD_BYTES else most) // 1_000_000} MB"


def is_said_larger(request: HTTPConnection, most: int) -> bool:
    """Tell whether the request announces a body larger than this, so that it can be refused unread.

    A body in chunks has no announced length: `limit_receive` counts it.
    """
    length = request.headers.get("content-length", "")
    return length.isdigit() and int(length) > most


def limit_receive(receive: Receive, most: int) -> Receive:
    """Receive the same body, as long as it is no larger than this.

    Raises:
        HTTPException: 413, when more of it is read.
    """
    left = most

    async def receive_limited() -> Message:
        nonlocal left
        message = await receive()
        # Counted as it arrives: a body in chunks does not announce its length.
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, translate("That is too large."))
        return message

    return receive_limited


async def refuse_connection(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    status, reason = refusal
    if scope["type"] == "websocket":
        # ASGI: first comes "websocket.connect". Closing without accepting it fails the handshake with 403.
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": reason})
        return
    await PlainTextResponse(reason, status_code=status, headers=SECURITY_HEADERS)(scope, receive, send)
