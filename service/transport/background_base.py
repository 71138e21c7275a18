"""A knowledge base for programs other than commands: opened on demand, in a separate thread, and released.

While idle, it is available to others: a service can be started beside it, and is then used.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from argot.service.transport.knowledge_base_client import LocalClient, SocketClient, connect
from argot.settings import Settings

IDLE_SECONDS = 20.0
"""Idle time after which the knowledge base is released."""


class BackgroundClient:
    """Runs use cases in parallel, for any thread and any event loop. A cancelled one is stopped.

    Args:
        home, settings: the knowledge base.
        as_user: on whose behalf; None: the local user.
        surface: the surface under which the questions are counted.
    """

    def __init__(
        self,
        home: Path,
        settings: Settings,
        as_user: str | None = None,
        *,
        surface: str = "command",
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._home, self._settings, self._as_user = home, settings, as_user
        self._surface = surface
        self._idle_seconds = idle_seconds
        self._client: LocalClient | SocketClient | None = None
        self._opening = asyncio.Lock()
        self._running = 0
        self._idle: asyncio.TimerHandle | None = None
        self._letting_go: asyncio.Task[None] | None = None
        # A loop of its own, so that it serves callers of any thread and any loop, and outlives each of their calls.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="argot", daemon=True)
        self._thread.start()

    def call(self, case: str, /, **parameters: Any) -> Any:
        """Run a use case; return its result.

        Raises:
            ArgotError: any error of it, or the knowledge base cannot be opened.
        """
        begun = self._begin(self._call_client(case, parameters))
        try:
            return begun.result()
        except BaseException:
            # Ctrl-C reaches the caller's thread, and the work is in the other.
            begun.cancel()
            raise

    async def acall(self, case: str, /, **parameters: Any) -> Any:
        """Do the same without blocking the event loop."""
        return await asyncio.wrap_future(self._begin(self._call_client(case, parameters)))

    def close(self) -> None:
        """Stop running calls, and release the knowledge base."""
        self._begin(self._end()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _begin(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _call_client(self, case: str, parameters: dict[str, Any]) -> Any:
        # Before the first await, so that nobody closes the base as idle meanwhile.
        self._running += 1
        if self._idle:
            self._idle.cancel()
        try:
            client = await self._open_client()
            try:
                return await client.acall(case, as_user=self._as_user, **parameters)
            except OSError:  # the service it used is gone
                if isinstance(client, LocalClient):
                    raise
                await self._close_client(client)
                return await (await self._open_client()).acall(case, as_user=self._as_user, **parameters)
        finally:
            self._running -= 1
            if not self._running:
                self._idle = self._loop.call_later(self._idle_seconds, self._close_when_idle)

    async def _open_client(self) -> LocalClient | SocketClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(connect, self._home, self._settings)
                self._client.surface = self._surface
            return self._client

    def _close_when_idle(self) -> None:
        self._letting_go = self._loop.create_task(self._close_if_idle())

    async def _close_if_idle(self) -> None:
        # A call may have arrived between the timer and this task.
        if not self._running and self._client is not None:
            await self._close_client(self._client)

    async def _close_client(self, client: LocalClient | SocketClient) -> None:
        """Close it, unless another call has done so already. A caller that reopens it waits for that."""
        async with self._opening:
            if self._client is client:
                self._client = None
                await client.aclose()

    async def _end(self) -> None:
        if self._idle:
            self._idle.cancel()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        # A close under way is not cancelled: a half-closed base would stay locked.
        for task in others - {self._letting_go}:
            if task is not None:
                task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        # The calls just cancelled have set the timer again.
        if self._idle:
            self._idle.cancel()
        if self._client is not None:
            with suppress(asyncio.CancelledError):
                await self._close_client(self._client)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()
