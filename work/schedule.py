"""Work that falls due while the service runs. One of several services does each kind.

The module of the work's subject declares it:

    @schedule_work("keep clean", first=5.0, every=3600.0)
    async def keep_clean(kb: KnowledgeBase) -> None: ...
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from argot.errors import ArgotError, ModelUnavailable, StoreUnavailable, VectorsUnavailable
from argot.settings import Settings
from argot.work.job_types import PutOff
from argot.work.tries import judge_try

logger = logging.getLogger(__name__)

FIRST_WAIT_SECONDS = 60.0
"""Wait after a server did not answer for the first time; it doubles with each further time in a row."""
PAUSE_SECONDS = 2.0
"""Interval of the checks whether the service that does some work has ended; also the pause after a lost lock."""
GONE = "PostgreSQL was lost, and with it who does this."


@dataclass(frozen=True, slots=True)
class ScheduledWork:
    """Work that is due at intervals.

    Attributes:
        name: the name of the work and of its lock, the same in every service.
        work: does what is due now, for a `KnowledgeBase`, whose module imports this one.
        every: seconds between its end and the next time.
        first: seconds before the first time, so that questions right after a start do not wait for it.
        rest: seconds after a fault; None: `every`.
        is_for_all: one of several services does it for all; False: each service does its own.
        is_wanted: tells by the settings whether a service does it at all.
    """

    name: str
    work: Callable[[Any], Awaitable[object]]
    every: float
    first: float = 0.0
    rest: float | None = None
    is_for_all: bool = True
    is_wanted: Callable[[Settings], bool] = lambda settings: True


SCHEDULE: dict[str, ScheduledWork] = {}

Due = TypeVar("Due", bound=Callable[..., Awaitable[object]])


def schedule_work(name: str, *, every: float, **given: Any) -> Callable[[Due], Due]:
    """Declare a function as work that is due at intervals. Args: as the attributes of `ScheduledWork`."""

    def declare(work: Due) -> Due:
        SCHEDULE[name] = ScheduledWork(name, work, every, **given)
        return work

    return declare


@dataclass(slots=True)
class ScheduleState:
    """The scheduled work that this process does, and the reasons for which some of it waits, by name."""

    running: set[str] = field(default_factory=set)
    resting: dict[str, str] = field(default_factory=dict)


async def is_done_by_a_service(kb: Any, name: str) -> bool:
    """Return whether this service, or another one on the same stores, does the scheduled work of this name."""
    return name in kb.part(ScheduleState).running or bool(kb.shared and await kb.shared.is_held(_name_lock(name)))


async def run_schedule(kb: Any) -> None:
    """Do all scheduled work that the settings want whenever it is due, for ever."""
    await asyncio.gather(*(keep_doing(kb, one) for one in SCHEDULE.values() if one.is_wanted(kb.settings)))


async def keep_doing(kb: Any, one: ScheduledWork) -> None:
    """Do scheduled work whenever it is due, for ever, as long as no other service does it for all."""
    await run_by_one_process(kb.shared if one.is_for_all else None, one.name, lambda: _repeat(kb, one))


async def _repeat(kb: Any, one: ScheduledWork) -> None:
    state = kb.part(ScheduleState)
    state.running.add(one.name)
    put_off, seconds = 0, one.first
    try:
        while True:
            await asyncio.sleep(seconds)
            try:
                await one.work(kb)
                state.resting.pop(one.name, None)
                put_off, seconds = 0, one.every
            except (PutOff, ModelUnavailable, VectorsUnavailable) as error:
                state.resting[one.name] = str(error)
                put_off, seconds = put_off + 1, judge_try(error, 1, put_off, FIRST_WAIT_SECONDS).seconds
                logger.info("'%s' waits for %d seconds: %s", one.name, seconds, error)
            # One failure must not end the scheduled work for as long as the service runs.
            except Exception:
                seconds = one.every if one.rest is None else one.rest
                logger.exception("'%s' failed; it is tried again in %d seconds", one.name, seconds)
    finally:
        state.running.discard(one.name)


# -- one of several services ------------------------------------------------------------------------------------------


async def run_by_one_process(shared: Any, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Do endless work in only one process at a time: wait until no other process does it, then begin it here.

    Args:
        shared: the `SharedService` of this process, whose module imports this one; None: no other process uses its
            stores.
        name: the name of the work, the same in every process.
        work: begun each time this process gets the lock; cancelled, and waited for, when the lock is lost.
    """
    if shared is None:
        await work()
        return
    while True:
        try:
            async with shared.hold_lock(_name_lock(name), StoreUnavailable(GONE), pause=PAUSE_SECONDS) as hold:
                logger.info("this service does '%s'", name)
                await hold.run(work())
                return
        except ArgotError as error:
            # Another process may get the lock next: this one tries again like the others.
            logger.warning("'%s' is left to another service: %s", name, error)
            await asyncio.sleep(PAUSE_SECONDS)


def _name_lock(name: str) -> str:
    return f"sole/{name}"
