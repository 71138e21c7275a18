"""How many questions are taken on: of one person in a minute and at the same time, and of all together.

A question that may be asked takes a place. While all places are taken it waits. Whoever has the fewest questions
under way goes first, and among those whoever has waited longest for a turn: somebody with many questions does not hold
up somebody with one.

All of it happens in the event loop of the knowledge base, and in its memory alone: a restart forgets the counts.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import ceil

from argot.errors import ServiceStopping, TooManyQuestions
from argot.service.identity.people import LOCAL_NAME
from argot.settings import Settings
from argot.types import Principal

MINUTE = 60.0
MOST_COUNTED = 20_000
"""People whose questions are counted; who asked longest ago makes room."""
BUSY_WAIT = 20
"""Seconds after which to come back, where nothing better is known."""


@dataclass(eq=False)
class _Waiter:
    person: str
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Gate:
    """One for a knowledge base. A limit of 0 is none.

    Args:
        settings: the limits.
        clock: monotonic seconds.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self.stopping = False
        self._settings = settings
        self._clock = clock
        self._asked: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._here: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self._turns: dict[str, int] = {}
        self._given = 0
        self._queue: list[_Waiter] = []
        self._quiet = asyncio.Event()
        self._quiet.set()

    @property
    def running(self) -> int:
        """Questions being answered now."""
        return self._running.total()

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @asynccontextmanager
    async def place(self, principal: Principal) -> AsyncIterator[None]:
        """Holds a place for one question, when there is one.

        Raises:
            TooManyQuestions, ServiceStopping: it is not begun.
        """
        person = principal.name
        self._admit(person, free=principal.sees_all and person == LOCAL_NAME)
        self._here[person] += 1
        self._quiet.clear()
        try:
            await self._turn(person)
            try:
                yield
            finally:
                self._give_back(person)
        finally:
            _less(self._here, person)
            if person not in self._here:
                self._turns.pop(person, None)
            if not self._here:
                self._quiet.set()

    def stop(self) -> None:
        """Begin nothing more: what waits is sent away, what runs goes on."""
        self.stopping = True
        for waiter in self._queue:
            if not waiter.turn.done():
                waiter.turn.set_exception(_stopping())
        self._queue.clear()

    def require_open(self) -> None:
        """
        Raises:
            ServiceStopping: nothing new is begun.
        """
        if self.stopping:
            raise _stopping()

    async def quiet(self, seconds: float) -> bool:
        """Wait until nothing runs, but no longer than this; whether it came to that."""
        try:
            async with asyncio.timeout(seconds):
                await self._quiet.wait()
        except TimeoutError:
            return False
        return True

    def _admit(self, person: str, *, free: bool) -> None:
        """Count the question, unless it is refused: one that was turned away costs nothing."""
        self.require_open()
        limits = self._settings
        most = limits.waiting_questions
        if most and self._full and len(self._queue) >= most:
            raise TooManyQuestions(
                f"Many people are asking just now: {len(self._queue)} questions wait. Ask again in a moment.", BUSY_WAIT
            )
        if free:
            return
        at_once = limits.questions_at_once
        if at_once and self._here[person] >= at_once:
            raise TooManyQuestions(
                f"{at_once} of your questions are being answered already. Ask again when one of them is done.", 5
            )
        self._count(person, limits.questions_per_minute)

    def _count(self, person: str, per_minute: int) -> None:
        """A bucket that leaks `per_minute` questions a minute and holds as many."""
        if not per_minute:
            return
        now = self._clock()
        level, at = self._asked.get(person, (0.0, now))
        level = max(0.0, level - (now - at) * per_minute / MINUTE)
        if level > per_minute - 1:
            wait = ceil((level - (per_minute - 1)) * MINUTE / per_minute)
            raise TooManyQuestions(
                f"You have asked {per_minute} questions within a minute. Ask again in {wait} seconds.", wait
            )
        self._asked[person] = (level + 1, now)
        self._asked.move_to_end(person)
        while len(self._asked) > MOST_COUNTED:
            self._asked.popitem(last=False)

    @property
    def _full(self) -> bool:
        most = self._settings.running_questions
        return bool(most) and self.running >= most

    async def _turn(self, person: str) -> None:
        if not self._full and not self._queue:
            self._take(person)
            return
        waiter = _Waiter(person)
        self._queue.append(waiter)
        try:
            await waiter.turn
        except asyncio.CancelledError:
            if waiter in self._queue:
                self._queue.remove(waiter)
            elif waiter.turn.done() and not waiter.turn.cancelled() and waiter.turn.exception() is None:
                self._give_back(person)  # the turn came at the moment the asker left
            raise

    def _give_back(self, person: str) -> None:
        _less(self._running, person)
        while self._queue and not self._full:
            # Between equals `min` keeps the order of arrival.
            following = min(self._queue, key=lambda one: (self._running[one.person], self._turns.get(one.person, 0)))
            self._queue.remove(following)
            if not following.turn.done():
                self._take(following.person)
                following.turn.set_result(None)

    def _take(self, person: str) -> None:
        self._running[person] += 1
        self._given += 1
        self._turns[person] = self._given


def _less(counted: Counter[str], person: str) -> None:
    counted[person] -= 1
    if counted[person] <= 0:
        del counted[person]


def _stopping() -> ServiceStopping:
    return ServiceStopping("Argot is being restarted and begins no new answer. Ask again in a minute.", 30)
