"""Turns in a conversation: one question at a time, in any process that shares the stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from argot.errors import AnswerLost, AnswerStopped
from argot.service.replicas.holds import Hold, call_in

if TYPE_CHECKING:
    from argot.service.replicas.shared_service import SharedService

CHECK_SECONDS = 5.0
STOP, OVER = "turn/stop", "turn/over"
MAX_SENT_CHARS = 500
"""Characters of a thread's id. Clients may send anything as one; the issued ones are shorter, and notices are small."""
LOST = (
    "The connection to PostgreSQL was lost while this was answered, and somebody else may have gone on in this"
    " conversation. Ask again: finished work is not repeated."
)
STOPPED = "This answer was stopped in another window."


class Turns:
    """The turns of one knowledge base's threads. For one event loop."""

    def __init__(self) -> None:
        self.over: list[Callable[[str], None]] = []
        """Called, in the event loop, when a turn of a thread ended in another process."""
        self._shared: SharedService | None = None
        self._here: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._running: dict[str, Hold] = {}

    def share(self, shared: SharedService) -> None:
        """Exclude other processes too from now on, and stop turns at their request. Call it in the event loop."""
        self._shared = shared
        loop = asyncio.get_running_loop()
        shared.listener.listen(STOP, lambda thread: call_in(loop, lambda: self._stop_here(thread)))
        shared.listener.listen(OVER, lambda thread: call_in(loop, lambda: self._announce_end(thread)))

    @asynccontextmanager
    async def of(self, thread: str) -> AsyncIterator[Hold]:
        """Hold the turn of this thread while a question in it is answered: two would overwrite each other's state.

        Raises:
            StoreUnavailable: it is unknown whose turn it is.
        """
        # Held weakly: a thread's lock disappears with its last waiter.
        async with self._here.setdefault(thread, asyncio.Lock()):
            if self._shared is None:
                yield Hold()
                return
            try:
                async with self._shared.hold_lock(f"turn/{thread}", AnswerLost(LOST)) as hold:
                    self._running[thread] = hold
                    try:
                        yield hold
                    finally:
                        del self._running[thread]
            finally:
                # Released by now, so that the callback finds it free.
                self._notify_others(OVER, thread)

    async def elsewhere(self, thread: str) -> bool:
        """Return whether another process answers a question of this thread now."""
        if self._shared is None or thread in self._running:
            return False
        return await self._shared.is_held(f"turn/{thread}")

    async def end_elsewhere(self, thread: str, *, stop: bool = False) -> None:
        """Wait until no other process answers in this thread; with `stop` make it stop."""
        ended = asyncio.Event()

        def note_end(which: str) -> None:
            if which == thread:
                ended.set()

        self.over.append(note_end)
        try:
            if stop:
                self._notify_others(STOP, thread)
            while await self.elsewhere(thread):
                # The message may be missed, or its sender gone.
                with suppress(TimeoutError):
                    async with asyncio.timeout(CHECK_SECONDS):
                        await ended.wait()
                ended.clear()
        finally:
            self.over.remove(note_end)

    def _notify_others(self, topic: str, thread: str) -> None:
        # An id that is too long to be sent belongs to no thread.
        if self._shared is not None and len(thread) <= MAX_SENT_CHARS:
            self._shared.notify_soon(topic, thread)

    def _stop_here(self, thread: str) -> None:
        if hold := self._running.get(thread):
            hold.end(AnswerStopped(STOPPED))

    def _announce_end(self, thread: str) -> None:
        for listener in list(self.over):
            listener(thread)
