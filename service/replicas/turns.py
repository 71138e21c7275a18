"""Turns in a conversation: one question at a time, in whatever process that shares the stores."""

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

LOOK_SECONDS = 5.0
STOP, OVER = "turn/stop", "turn/over"
LONGEST_TOLD = 500
"""Characters of a thread's id. Anything may be sent as one; those that are given are shorter, and notices are small."""
LOST = (
    "The connection to PostgreSQL was lost while this was answered, and somebody else may have gone on in this"
    " conversation. Ask again: finished work is not repeated."
)
STOPPED = "This answer was stopped in another window."


class Turns:
    """The turns of one knowledge base's threads. For one event loop."""

    def __init__(self) -> None:
        self.over: list[Callable[[str], None]] = []
        """Told, in the event loop, when a turn of a thread ended in another process."""
        self._shared: SharedService | None = None
        self._here: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._running: dict[str, Hold] = {}

    def share(self, shared: SharedService) -> None:
        """Keep out other processes too from now on, and stop the turns that they want stopped. In the event loop."""
        self._shared = shared
        loop = asyncio.get_running_loop()
        shared.listener.listen(STOP, lambda thread: call_in(loop, lambda: self._stop_here(thread)))
        shared.listener.listen(OVER, lambda thread: call_in(loop, lambda: self._tell_over(thread)))

    @asynccontextmanager
    async def of(self, thread: str) -> AsyncIterator[Hold]:
        """Held while a question of this thread is answered: two at once would write over each other's state.

        Raises:
            StoreUnavailable: it cannot be told whose turn it is.
        """
        # Held weakly: a thread's lock goes with the last who waits for it, and does not stay for ever.
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
                # Given back by now: whoever is told finds it so.
                self._tell_others(OVER, thread)

    async def elsewhere(self, thread: str) -> bool:
        """Return whether another process answers a question of this thread now."""
        if self._shared is None or thread in self._running:
            return False
        return await self._shared.is_held(f"turn/{thread}")

    async def end_elsewhere(self, thread: str, *, stop: bool = False) -> None:
        """Wait until no other process answers in this thread any more; with `stop` have it stop."""
        ended = asyncio.Event()

        def note_end(which: str) -> None:
            if which == thread:
                ended.set()

        self.over.append(note_end)
        try:
            if stop:
                self._tell_others(STOP, thread)
            while await self.elsewhere(thread):
                # The word may be missed, or nobody be left to say it.
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await ended.wait()
                ended.clear()
        finally:
            self.over.remove(note_end)

    def _tell_others(self, topic: str, thread: str) -> None:
        # An id that is too long to be told is nobody's.
        if self._shared is not None and len(thread) <= LONGEST_TOLD:
            self._shared.tell_soon(topic, thread)

    def _stop_here(self, thread: str) -> None:
        if hold := self._running.get(thread):
            hold.end(AnswerStopped(STOPPED))

    def _tell_over(self, thread: str) -> None:
        for told in list(self.over):
            told(thread)
