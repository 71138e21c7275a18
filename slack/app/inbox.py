"""The inbox: Slack's events, stored before they are acknowledged, and processed a few at a time.

Slack waits three seconds and then sends an event again; answering takes longer. A separate thread therefore stores an
event in people.db, and it is acknowledged; then it waits for its turn. The next process continues unfinished events. Of
several services on the same stores each stores events, and one processes them all.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from argot.errors import asked_from_elsewhere
from argot.service.observability.instrumentation import make_request_id, request_id, surface
from argot.slack.app.event_filter import SlackJob
from argot.slack.app.web_api import SlackUnreachable
from argot.slack.store.slack_store import NotedEvent, SlackStore
from argot.work.schedule import run_by_one_process

if TYPE_CHECKING:
    from argot.service.replicas.shared_service import SharedService

logger = logging.getLogger(__name__)
T = TypeVar("T")

GRACE_SECONDS = 8.0
"""How long a stop waits for running answers; the others are given at the next start."""
PAUSES = (5.0, 15.0, 60.0, 180.0, 600.0, 1800.0)
"""Seconds until the next try while Slack cannot be reached; after the last of them an event is given up."""
FAULT_SECONDS = 5.0
"""Until the next try when people.db itself cannot be read or written."""
NOTED = "slack/noted"
"""The message that services send each other when they have stored an event."""
MAX_TRIES = 20
"""Maximum attempts at an event: one that crashes the process must not crash it at every start."""


class Inbox:
    """The events of one knowledge base.

    Args:
        store: its storage.
        handle: deals with one; raises SlackUnreachable if it has to be tried again.
        concurrent: maximum number processed at once.
        shared: this service's state shared with others on the same stores; None: there are none.
    """

    def __init__(
        self,
        store: SlackStore,
        handle: Callable[[NotedEvent], Awaitable[None]],
        concurrent: int,
        shared: SharedService | None = None,
    ) -> None:
        self._shared = shared
        self._stopping = False
        self.store = store
        self.handle = handle
        self.concurrent = concurrent
        # Its own thread: the shared ones may all be busy with answers for longer than Slack waits.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="slack-inbox")
        self._wake = asyncio.Event()
        self._running: dict[asyncio.Task[None], str] = {}
        self._loop: asyncio.Task[None] | None = None

    async def note(self, event_id: str, job: SlackJob, place: str = "") -> bool:
        """Store an event; False: it is there already. When this returns it is on the disk."""
        new = await self._run_in_thread(
            self.store.note, event_id, place or job.place, job.lane, job.ts, {**job.plain, "event_id": event_id}
        )
        if new:
            self._wake.set()
            if self._shared:
                self._shared.notify_soon(NOTED)
        return new

    async def is_new(self, key: str) -> bool:
        """Return whether the key is new, and record it; for events that are handled at once, without the queue."""
        return await self._run_in_thread(self.store.note, key, key, key, "", None)

    def start(self) -> None:
        if self._shared:
            self._shared.on_message(NOTED, self._wake.set)
        self._loop = asyncio.create_task(run_by_one_process(self._shared, "answer in Slack", self._run_alone))

    async def stop(self) -> None:
        """Start no new work, and give running work some time to finish."""
        self._stopping = True
        if self._loop is not None:
            self._loop.cancel()
            with suppress(asyncio.CancelledError):
                await self._loop
        self._thread.shutdown()

    async def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function of the store in the inbox's own thread, where it waits for no other work."""
        return await self._run_in_thread(function, *arguments)

    async def open(self) -> int:
        """The number of events that are not handled yet."""
        return await self._run_in_thread(self.store.count_waiting)

    async def _run_alone(self) -> None:
        """Handle events as long as no other service does; none of the work outlives this call."""
        try:
            await self._run_events()
        finally:
            # Another service continues unfinished events: at once, even if they may have been started already.
            await self._end_running(GRACE_SECONDS if self._stopping else 0)

    async def _end_running(self, seconds: float) -> None:
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _run_events(self) -> None:
        taken_over = False
        while True:
            # Before checking: an event recorded during the check sets it again, and is not missed.
            self._wake.clear()
            try:
                if not taken_over:
                    await self._run_in_thread(self.store.take_over)
                    taken_over = True
                await self._take_up()
                pause = await self._run_in_thread(self.store.find_next_due)
            except Exception:
                logger.exception("what Slack sent cannot be read; it is tried again")
                pause = FAULT_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):  # `wait_for` of Python 3.11 may swallow that this is cancelled
                    await self._wake.wait()

    async def _take_up(self) -> None:
        """Start as many events as may be processed at once."""
        while len(self._running) < self.concurrent:
            noted = await self._run_in_thread(self.store.find_next, set(self._running.values()))
            if noted is None:
                return
            # Counted before it is tried: an event that crashes the process has been counted.
            await self._run_in_thread(self.store.begin, noted.id)
            task = asyncio.create_task(self._handle_event(noted))
            self._running[task] = noted.lane
            task.add_done_callback(self._forget_finished)

    def _forget_finished(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        self._wake.set()

    async def _handle_event(self, noted: NotedEvent) -> None:
        surface.set("slack")
        asked_from_elsewhere.set(True)
        request_id.set(make_request_id())
        try:
            if noted.tries < MAX_TRIES:
                await self.handle(noted)
        except SlackUnreachable as error:
            if noted.tries < len(PAUSES):
                logger.warning("Slack cannot be reached (%s); an answer is tried again later", error)
                await self._run_in_thread(self.store.postpone, noted.id, PAUSES[noted.tries])
                return
            logger.error("Slack could not be reached (%s); an answer is given up", error)
        except Exception:
            logger.exception("something from Slack could not be dealt with")
        # Also after an unexpected error: a retry would fail again.
        await self._run_in_thread(self.store.finish, noted.id)

    async def _run_in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)


def load_job(noted: NotedEvent) -> tuple[SlackJob, str]:
    """Load the stored job, and Slack's id of its event."""
    plain: Mapping[str, Any] = noted.job
    # An older Argot may have noted it, with fields that are gone.
    fields = {name: value for name, value in plain.items() if name in SlackJob.__slots__}
    return SlackJob(**fields), str(plain.get("event_id", ""))
