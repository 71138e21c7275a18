"""State that a process shares with the others on the same PostgreSQL: locks, messages, a secret, limits."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any, ParamSpec, TypeVar

from argot.errors import ArgotError, StoreUnavailable
from argot.postgresql.listener import ProcessListener
from argot.postgresql.locks import HeldLock, SessionLocks
from argot.postgresql.stores import PostgresqlStores
from argot.service.replicas.holds import Hold, call_in
from argot.service.replicas.shared_limits import RENEW_SECONDS, SharedAttempts, SharedSlots
from argot.service.replicas.shared_schema import MIGRATIONS

logger = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

FIRST_PAUSE, MAX_PAUSE = 0.01, 0.25
"""Seconds between tries to take a lock that another process holds."""
THREADS, LOOK_UPS = 8, 16
LOOK_UP_SECONDS, GONE_SECONDS = 10.0, 1.5
"""The longest wait of a request for a person's rights: while PostgreSQL answers, and once it has been unavailable for a
while."""
START = "Start PostgreSQL, or see that this machine reaches it"


class SharedService:
    """One for each open knowledge base on PostgreSQL.

    Raises:
        StoreUnavailable, DamagedStore
    """

    def __init__(self, stores: PostgresqlStores) -> None:
        self.name, self.schema = stores.name, stores.schema
        self.database = stores.open("service", MIGRATIONS)
        self.listener = ProcessListener(stores)
        self.locks = SessionLocks(stores)
        self.places = SharedSlots(self.database)
        self.attempts = SharedAttempts(self.database)
        # Separate threads: the event loop's may all be busy, and a lock must be released all the same.
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="argot-shared")
        # These are for looking up people's rights: each may wait for an unavailable server.
        self._look_ups = ThreadPoolExecutor(LOOK_UPS, thread_name_prefix="argot-look-up")
        self._tasks: set[asyncio.Future[None]] = set()

    def start(self) -> None:
        """Begin to listen and to renew leases. Call it in the event loop."""
        self.listener.start()
        self._keep(asyncio.create_task(self._renew()))

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self.listener.close)
        await asyncio.to_thread(self.locks.close)
        for threads in (self._threads, self._look_ups):
            threads.shutdown()

    def secret(self, name: str) -> str:
        """Return a secret that all processes share, created by the first caller."""
        self.database.write(
            "INSERT INTO service_secrets VALUES (?, ?) ON CONFLICT DO NOTHING", name, secrets.token_urlsafe(48)
        )
        return str(self.database.rows("SELECT value FROM service_secrets WHERE name = ?", name)[0]["value"])

    async def look_up(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a look-up function in a thread; if PostgreSQL is unavailable, only for a short time.

        Raises:
            StoreUnavailable
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(GONE_SECONDS if self.listener.is_gone else LOOK_UP_SECONDS):
                return await loop.run_in_executor(self._look_ups, lambda: function(*args, **kwargs))
        except TimeoutError as error:
            raise StoreUnavailable(f"{self.name} cannot be used: it does not answer. {START}.", START) from error

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a blocking function of this service's in a separate thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: function(*args, **kwargs))

    def on_message(self, topic: str, listener: Callable[[], None]) -> None:
        """Call this in the present event loop for each message of others about a topic, and when one may have been
        missed.
        """
        loop = asyncio.get_running_loop()
        self.listener.listen(topic, lambda _: call_in(loop, listener))
        self.listener.on_gap(lambda: call_in(loop, listener))

    def on_gap(self, check_again: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Call this in the present event loop whenever messages may have been missed."""
        loop = asyncio.get_running_loop()

        async def call_logged() -> None:
            try:
                await check_again()
            except ArgotError as error:
                logger.warning("what may have been missed is not looked at: %s", error)

        self.listener.on_gap(lambda: call_in(loop, lambda: self._keep(asyncio.ensure_future(call_logged()))))

    def notify(self, topic: str, text: str = "") -> None:
        """Send a message to the other processes, from any thread; if PostgreSQL is unavailable they check everything
        again later.
        """
        try:
            self.listener.notify(topic, text)
        except StoreUnavailable as error:
            logger.warning("other services are not told of '%s': %s", topic, error)

    def notify_soon(self, topic: str, text: str = "") -> None:
        """Do the same from the event loop, without waiting."""
        self._keep(asyncio.ensure_future(self.run(self.notify, topic, text)))

    async def take(self, gate: str, person: str, *, at_once: int, per_minute: int) -> str | float:
        """Take a slot, as `admission_control.CountedForAll` describes."""
        taking = asyncio.ensure_future(self.run(self.places.take, gate, person, at_once=at_once, per_minute=per_minute))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            # The thread takes it all the same: then it is released.
            self._keep(asyncio.create_task(self._give_back_place(taking)))
            raise

    async def give_back(self, place: str) -> None:
        # To its end, however often the caller is cancelled.
        self._keep(giving := asyncio.ensure_future(self.run(self.places.give_back, place)))
        await asyncio.shield(giving)

    async def _give_back_place(self, taking: asyncio.Future[str | float]) -> None:
        with suppress(StoreUnavailable):
            if isinstance(place := await taking, str):
                await self.give_back(place)

    @asynccontextmanager
    async def hold_lock(self, name: str, lost: ArgotError, *, pause: float = MAX_PAUSE) -> AsyncIterator[Hold]:
        """Hold the lock of this name among all processes; wait until it is free.

        Args:
            lost: the error with which the hold ends if PostgreSQL, and with it the lock, is lost meanwhile.
            pause: the longest between two attempts, in seconds.
        """
        loop = asyncio.get_running_loop()
        hold = Hold(lambda: self.run(self.locks.check_held, held))

        def note_loss() -> None:
            call_in(loop, lambda: hold.end(lost))

        held = await self._take_lock(name, note_loss, pause)
        try:
            yield hold
        finally:
            # To its end, however often the caller is cancelled; if it fails the lock is lost anyway.
            self._keep(giving := asyncio.ensure_future(self._give_back(held)))
            await asyncio.shield(giving)

    async def is_held(self, name: str) -> bool:
        """Return whether any process holds this lock now."""
        held = await self.run(self.locks.take, name)
        if held is not None:
            await self._give_back(held)
        return held is None

    async def _take_lock(self, name: str, on_lost: Callable[[], None], longest: float) -> HeldLock:
        pause = FIRST_PAUSE
        while (held := await self._take(name, on_lost)) is None:
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)
        return held

    async def _take(self, name: str, on_lost: Callable[[], None]) -> HeldLock | None:
        taking = asyncio.ensure_future(self.run(self.locks.take, name, on_lost))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            # The thread takes it all the same: then it is released.
            self._keep(asyncio.create_task(self._give_back_taken(taking)))
            raise

    async def _give_back_taken(self, taking: asyncio.Future[HeldLock | None]) -> None:
        with suppress(StoreUnavailable):
            if held := await taking:
                await self._give_back(held)

    async def _give_back(self, lock: HeldLock) -> None:
        with suppress(StoreUnavailable):
            await self.run(self.locks.give_back, lock)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self.run(self.places.renew)
            except StoreUnavailable as error:
                logger.warning("the places of questions under way are not renewed: %s", error)

    def _keep(self, task: asyncio.Future[None]) -> None:
        # The event loop holds tasks weakly: without this one could be collected before it is done.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
