"""Connections that say nothing, half a request, or do not read their answer are closed: each takes a file handle.

A proxy does so by itself; without one (`argot serve --host`) anybody who reaches the port could hold all handles. So
connections are counted, too (`connection_limits.py`).
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol

from argot.ui.web.connection_limits import FULL, ConnectionLimits

HEAD_SECONDS = 20.0
"""The longest a request's head may take, from the connection or from the answer before."""
SILENCE_SECONDS = 60.0
"""The longest pause within a body, or in reading the answer. A large file over a slow line pauses for less."""
LOOK_SECONDS = 5.0


class Impatient(AutoHTTPProtocol):  # type: ignore[valid-type, misc]  # one of two, by what is installed
    """uvicorn's protocol, which closes what keeps it waiting in the middle of a request."""

    def __init__(self, *args: Any, limits: ConnectionLimits | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits or ConnectionLimits()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._connection = transport
        self._moved = self._idle_since = self._now()
        self._unsent = 0
        self._answering: Any = None
        self._look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_again)
        if not self._limits.enter(transport, self._waited):
            transport.write(FULL)
            transport.close()

    def data_received(self, data: bytes) -> None:
        self._moved = self._now()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._look.cancel()
        self._limits.leave(self._connection)
        super().connection_lost(exc)

    def _waited(self) -> float | None:
        """For how many seconds the other side has kept us waiting; None: it does not."""
        now, cycle, connection = self._now(), self.cycle, self._connection
        if connection.is_closing():
            return now - self._moved
        if self._is_window:
            return None
        if cycle is None or cycle.response_complete:
            return now - (self._idle_since if cycle is self._answering else self._moved)
        return now - self._moved if cycle.more_body or connection.get_write_buffer_size() else None

    @property
    def _is_window(self) -> bool:
        """It is a websocket by now, and spoken to by another protocol."""
        return self._connection.get_protocol() is not self

    def _look_again(self) -> None:
        if self._is_window:
            return
        now, cycle = self._now(), self.cycle
        unsent = self._connection.get_write_buffer_size()
        if unsent != self._unsent:
            self._unsent, self._moved = unsent, now
        between = cycle is None or cycle.response_complete
        if between and cycle is not self._answering:
            self._answering, self._idle_since = cycle, now
        late = between and not unsent and now - self._idle_since > HEAD_SECONDS
        stuck = unsent or (not between and cycle.more_body)
        if late or (stuck and now - self._moved > SILENCE_SECONDS):
            self._connection.abort()  # closing it would wait until all is read that was sent
            return
        self._look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_again)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


class Window(AutoWebSocketsProtocol):  # type: ignore[valid-type, misc]
    """uvicorn's websockets. Each began as a connection that was counted, and is counted out when it ends."""

    def __init__(self, *args: Any, limits: ConnectionLimits, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.leave(self.transport)
        super().connection_lost(exc)
