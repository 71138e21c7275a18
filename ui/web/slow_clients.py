"""Connections that say nothing, or half a request, are closed: each takes a file handle from everybody else.

A proxy does so by itself; without one (`argot serve --host`) anybody who reaches the port could hold all handles.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 20.0
"""The longest a request's head may take, from the connection or from the answer before."""
SILENCE_SECONDS = 60.0
"""The longest pause within a body. A large file over a slow line pauses for less."""
LOOK_SECONDS = 5.0


class Impatient(AutoHTTPProtocol):  # type: ignore[valid-type, misc]  # one of two, by what is installed
    """uvicorn's protocol, which closes what keeps it waiting in the middle of a request."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._connection = transport
        self._heard = self._idle_since = self._now()
        self._answering: Any = None
        self._look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_again)

    def data_received(self, data: bytes) -> None:
        self._heard = self._now()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._look.cancel()
        super().connection_lost(exc)

    def _look_again(self) -> None:
        if self._connection.is_closing() or self._connection.get_protocol() is not self:
            return  # it is gone, or a websocket by now
        now, cycle = self._now(), self.cycle
        between = cycle is None or cycle.response_complete
        if between and cycle is not self._answering:
            self._answering, self._idle_since = cycle, now
        late = between and now - self._idle_since > HEAD_SECONDS
        silent = not between and cycle.more_body and now - self._heard > SILENCE_SECONDS
        if late or silent:
            self._connection.close()
            return
        self._look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_again)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
