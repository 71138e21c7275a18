"""Closing of slow connections: those that send nothing, send half a request, or do not read their answer.

Each connection takes a file handle. One whose request head does not end is closed too: the head is kept in memory until
it ends. A proxy does all this by itself; without one (`argot serve --host`) anybody who reaches the port could hold all
handles. That is also why connections are counted (`connection_limits.py`).
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol

from argot.ui.web.connection_limits import FULL_RESPONSE, ConnectionLimits

HEAD_SECONDS = 20.0
"""The longest time for a request's head, counted from the connection or from the last answer."""
SILENCE_SECONDS = 60.0
"""The longest pause within a body, or in reading the answer. Even a slow line pauses for less within a large file."""
# The interval of each connection's timer, so long that thousands of idle connections cost next to nothing.
CHECK_SECONDS = 5.0
MAX_HEAD_BYTES = 64 * 1024
"""Bytes of a request outside its body; browsers and proxies allow 8 to 32 KiB."""
MAX_HEADERS = 200
"""Headers of a request: the shortest takes 4 bytes to send, and 100 in memory."""
TOO_LONG_RESPONSE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class _TooManyHeaders(Exception):
    """An error raised within the parser, which then treats the request as malformed: uvicorn answers 400."""


class ImpatientProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol, extended to close connections that keep it waiting."""

    def __init__(self, *args: Any, limits: ConnectionLimits | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits or ConnectionLimits()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._connection = transport
        self._moved = self._idle_since = self._get_time()
        self._unsent = self._without_body = self._headers = 0
        self._answering: Any = None
        self._look = asyncio.get_running_loop().call_later(CHECK_SECONDS, self._look_again)
        # After uvicorn has set the connection up: it cleans up in `connection_lost`, refused or not.
        if not self._limits.enter(transport, self._measure_wait):
            transport.write(FULL_RESPONSE)
            transport.close()

    def data_received(self, data: bytes) -> None:
        self._moved = self._get_time()
        self._took_something = False
        super().data_received(data)
        # Bytes since the parser last finished a part: a head that never ends, or trailers behind a body.
        self._without_body = 0 if self._took_something else self._without_body + len(data)
        if self._without_body > MAX_HEAD_BYTES and not self._is_window:
            self._connection.write(TOO_LONG_RESPONSE)
            if self._connection.get_write_buffer_size():  # closing would wait until the other side reads the response
                self._connection.abort()
            else:
                self._connection.close()

    def on_message_begin(self) -> None:
        self._headers = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        # Also called for trailers, behind a body in chunks.
        self._headers += 1
        if self._headers > MAX_HEADERS:
            raise _TooManyHeaders
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._took_something = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._took_something = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._took_something = True
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._look.cancel()
        self._limits.leave(self._connection)
        super().connection_lost(exc)

    def _measure_wait(self) -> float | None:
        """Return the seconds that the other side has kept the service waiting; None if it does not."""
        now, cycle, connection = self._get_time(), self.cycle, self._connection
        # We have closed it, but it is still sending: the other side does not read the end.
        if connection.is_closing():
            return now - self._moved
        if self._is_window:
            return None
        if cycle is None or cycle.response_complete:
            # Until a check has noticed that the answer is complete, `_idle_since` belongs to the answer before.
            return now - (self._idle_since if cycle is self._answering else self._moved)
        return now - self._moved if cycle.more_body or connection.get_write_buffer_size() else None

    @property
    def _is_window(self) -> bool:
        # uvicorn hands a websocket's transport over to another protocol, and this one gets no more calls.
        return self._connection.get_protocol() is not self

    def _look_again(self) -> None:
        if self._is_window:
            return
        now, cycle = self._get_time(), self.cycle
        unsent = self._connection.get_write_buffer_size()
        # The buffer has changed since the last check: the other side reads, or more was written.
        if unsent != self._unsent:
            self._unsent, self._moved = unsent, now
        between = cycle is None or cycle.response_complete
        if between and cycle is not self._answering:
            self._answering, self._idle_since = cycle, now
        # Arriving bytes do not extend this: one byte of a head every few seconds would hold the handle forever.
        late = between and not unsent and now - self._idle_since > HEAD_SECONDS
        stuck = unsent or (not between and cycle.more_body)
        if late or (stuck and now - self._moved > SILENCE_SECONDS):
            self._connection.abort()  # closing it would wait until the other side has read everything
            return
        self._look = asyncio.get_running_loop().call_later(CHECK_SECONDS, self._look_again)

    def _get_time(self) -> float:
        return asyncio.get_running_loop().time()


class CountedWebSocket(AutoWebSocketsProtocol):  # type: ignore[valid-type, misc]
    """uvicorn's websockets. Each began as a counted connection, and is no longer counted when it ends."""

    def __init__(self, *args: Any, limits: ConnectionLimits, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.leave(self.transport)
        super().connection_lost(exc)
