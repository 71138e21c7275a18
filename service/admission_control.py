"""Limits on questions: of one person in a minute and at the same time, and of all together.

The same limits apply to files that people add to their conversations; only few of these are read at the same time, and
each person's in turn.

An admitted question takes a slot. While all slots are taken it waits. The person with the fewest running questions goes
first, then the one who has waited longest: many questions of one person do not delay another's single one.

All of it happens in the event loop of the knowledge base, and only in its memory: a restart forgets the counts. If
several services share the stores, one person's count covers all of them (`CountedForAll`); how many run and wait at the
same time is each service's own.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from typing import Protocol

from argot.errors import ServiceStopping, TooManyQuestions
from argot.languages.catalogues import translate, translate_number
from argot.service.leaky_buckets import LeakyBuckets
from argot.settings import Settings
from argot.types import LOCAL_NAME, Principal

MINUTE = 60.0
RUNNING_ATTACHMENTS = 4
"""For all people together; each holds its file in memory, and shares one process that reads and one that embeds."""
WAITING_ATTACHMENTS = 20
RUNNING_ARCHIVES = 2
"""Fewer than the three people who may add documents at a time, so that single documents are added meanwhile."""
WAITING_ARCHIVES = 10
ARCHIVES_PER_PERSON = 2
BUSY_WAIT = 20
"""Seconds after which to retry, if nothing better is known."""


@dataclass(eq=False)
class _Waiter:
    person: str
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass(frozen=True, slots=True)
class Limits:
    """Admission limits; 0 means unlimited. `crowded` and `busy` are the messages of a refusal, given the number."""

    per_minute: int
    at_once: int
    running: int
    waiting: int
    crowded: str = "Many people are asking just now: %(number)s questions wait. Ask again in a moment."
    busy: str = "%(number)s of your questions are being answered already. Ask again when one of them is done."

    @classmethod
    def limit_questions(cls, settings: Settings) -> Limits:
        return cls(
            settings.limits.questions_per_minute,
            settings.limits.questions_at_once,
            settings.limits.running_questions,
            settings.limits.waiting_questions,
        )

    @classmethod
    def of_attachments(cls, settings: Settings) -> Limits:
        return cls(
            per_minute=0,
            at_once=settings.limits.attachments_at_once,
            running=RUNNING_ATTACHMENTS,
            waiting=WAITING_ATTACHMENTS,
            crowded="Many people are sending files just now: %(number)s files wait. Send it again in a moment.",
            busy="%(number)s of your files are being read already. Send this one when one of them is done.",
        )

    @classmethod
    def limit_archives(cls) -> Limits:
        return cls(
            per_minute=0,
            at_once=ARCHIVES_PER_PERSON,
            running=RUNNING_ARCHIVES,
            waiting=WAITING_ARCHIVES,
            crowded="Many people are sending archives just now: %(number)s archives wait. Send it again in a moment.",
            busy="%(number)s of your archives are being unpacked already. Send this one when one of them is done.",
        )


class CountedForAll(Protocol):
    """Counts one person's use in all services that share the stores."""

    async def take(self, gate: str, person: str, *, at_once: int, per_minute: int) -> str | float:
        """Return a slot id, with which to release it; or -1: the person has as many as allowed; or the seconds to wait.

        Raises:
            StoreUnavailable: it cannot be counted now.
        """
        ...

    async def give_back(self, place: str) -> None: ...


class Gate:
    """The admission gate: one for the questions of a knowledge base, and one for its attachments.

    Args:
        name: its purpose.
        clock: monotonic seconds.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic, *, name: str = "question") -> None:
        self.stopping = False
        self.for_all: CountedForAll | None = None
        """Counts each person's use across all services; None: this is the only one."""
        self._name = name
        self._limits = limits
        self._asked: LeakyBuckets[str] = LeakyBuckets(MINUTE, clock)
        self._here: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self._turns: dict[str, int] = {}
        self._given = 0
        self._paused = 0
        self._idle = asyncio.Event()
        self._idle.set()
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
        """Hold a slot for one question, once there is one.

        Raises:
            TooManyQuestions, ServiceStopping, StoreUnavailable: it is not started.
        """
        person = principal.name
        # The local user could change any limit, so limits per person do not apply to them.
        free = principal.sees_all and person == LOCAL_NAME
        self._admit(person, free=free or self.for_all is not None)
        # Counted while waiting too: otherwise one person could fill the queue.
        self._here[person] += 1
        self._quiet.clear()
        try:
            async with self._count_for_all(person, free=free):
                await self._wait_for_place(person)
                try:
                    yield
                finally:
                    self._give_back(person)
        finally:
            _decrease(self._here, person)
            # Kept only while they ask: memory must not grow with everyone who ever asked.
            if person not in self._here:
                self._turns.pop(person, None)
            if not self._here:
                self._quiet.set()

    def stop(self) -> None:
        """Start nothing more: waiting questions are refused, running ones continue."""
        self.stopping = True
        for waiter in self._queue:
            # A waiter whose asker has just left is done already, but still in the queue.
            if not waiter.turn.done():
                waiter.turn.set_exception(_stopping())
        self._queue.clear()

    @asynccontextmanager
    async def pause(self, seconds: float) -> AsyncIterator[None]:
        """Start no question meanwhile: they wait. Entered when the running ones are done, or after this many
        seconds.
        """
        self._paused += 1
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._idle.wait()
            yield
        finally:
            self._paused -= 1
            self._take_next()

    def require_open(self) -> None:
        """Check that new work may be started.

        Raises:
            ServiceStopping: no new work is started.
        """
        if self.stopping:
            raise _stopping()

    async def wait_until_quiet(self, seconds: float) -> bool:
        """Wait until nothing runs, but no longer than this; return whether that happened."""
        try:
            async with asyncio.timeout(seconds):
                await self._quiet.wait()
        except TimeoutError:
            return False
        return True

    def _admit(self, person: str, *, free: bool) -> None:
        """Count the question, unless it is refused: a refused one costs nothing."""
        self.require_open()
        limits = self._limits
        # The queue is bounded for everybody, even for those without limits of their own.
        if limits.waiting and self._full and len(self._queue) >= limits.waiting:
            raise TooManyQuestions(translate(limits.crowded, number=len(self._queue)), BUSY_WAIT)
        if free:
            return
        if limits.at_once and self._here[person] >= limits.at_once:
            raise _busy(limits)
        self._count(person, limits.per_minute)

    @asynccontextmanager
    async def _count_for_all(self, person: str, *, free: bool) -> AsyncIterator[None]:
        limits, counted = self._limits, self.for_all
        if counted is None or free or not (limits.at_once or limits.per_minute):
            yield
            return
        place = await counted.take(self._name, person, at_once=limits.at_once, per_minute=limits.per_minute)
        if not isinstance(place, str):
            raise _busy(limits) if place < 0 else _too_fast(limits.per_minute, place)
        try:
            yield
        finally:
            await counted.give_back(place)

    def _count(self, person: str, per_minute: int) -> None:
        """Take one more question from this person's allowance for the minute.

        Raises:
            TooManyQuestions
        """
        if not per_minute:
            return
        if (seconds := self._asked.wait(person, per_minute)) > 0:
            raise _too_fast(per_minute, seconds)
        self._asked.add(person, per_minute)

    @property
    def _full(self) -> bool:
        return self._paused > 0 or (bool(self._limits.running) and self.running >= self._limits.running)

    async def _wait_for_place(self, person: str) -> None:
        # A slot that is free at this moment belongs to a waiting question.
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
        _decrease(self._running, person)
        if not self._running:
            self._idle.set()
        self._take_next()

    def _take_next(self) -> None:
        while self._queue and not self._full:
            # Between equals `min` keeps the order of arrival.
            following = min(self._queue, key=lambda one: (self._running[one.person], self._turns.get(one.person, 0)))
            self._queue.remove(following)
            # Its asker may have just left: then the next one gets the slot.
            if not following.turn.done():
                self._take(following.person)
                following.turn.set_result(None)

    def _take(self, person: str) -> None:
        self._running[person] += 1
        self._idle.clear()
        self._given += 1
        self._turns[person] = self._given


def _decrease(counted: Counter[str], person: str) -> None:
    counted[person] -= 1
    if counted[person] <= 0:
        del counted[person]


def _busy(limits: Limits) -> TooManyQuestions:
    return TooManyQuestions(translate(limits.busy, number=limits.at_once), 5)


def _too_fast(per_minute: int, seconds: float) -> TooManyQuestions:
    wait = ceil(seconds)
    return TooManyQuestions(
        translate_number(
            "You have asked %(questions)s questions within a minute. Ask again in %(number)s second.",
            "You have asked %(questions)s questions within a minute. Ask again in %(number)s seconds.",
            wait,
            questions=per_minute,
        ),
        wait,
    )


def _stopping() -> ServiceStopping:
    return ServiceStopping(translate("Argot is being restarted and starts no new answers. Ask again in a minute."), 30)


class Gates:
    """The gates of one knowledge base: for questions, for attached files, and for archives."""

    def __init__(self, settings: Settings) -> None:
        self.questions = Gate(Limits.limit_questions(settings))
        self.attachments = Gate(Limits.of_attachments(settings), name="file")
        """For files that people put into their conversations."""
        self.archives = Gate(Limits.limit_archives(), name="archive")
        """For archives that people send: who made one decides how long it takes."""

    def count_for_all(self, counter: CountedForAll) -> None:
        self.questions.for_all = self.attachments.for_all = self.archives.for_all = counter
