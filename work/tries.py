"""Tries of a job: their number, the waits between them, and the errors after which another try would be useless."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from argot.errors import (
    ArgotError,
    Conflict,
    InvalidInput,
    InvalidSettings,
    MissingExtra,
    MissingWing,
    ModelUnavailable,
    NotAllowed,
    NotFound,
    StoreUnavailable,
)
from argot.errors import RetryLater as AskedTooMuch
from argot.work.job_types import JobState, PutOff

MAX_TRIES = 3
MAX_WAIT_SECONDS = 1800.0
_FINAL = (InvalidInput, InvalidSettings, NotFound, NotAllowed, Conflict, MissingExtra, MissingWing)


@dataclass(frozen=True, slots=True)
class TryOutcome:
    """Decision about a job after a try that failed.

    Attributes:
        state: "waiting": it is tried again in `seconds`.
        counts: whether the try counts as one of `MAX_TRIES`.
    """

    state: JobState
    seconds: float = 0.0
    counts: bool = True

    @property
    def delay(self) -> timedelta:
        return timedelta(seconds=self.seconds)


def judge_try(error: Exception, tries: int, put_off: int, first_wait: float, *, is_retried: bool = True) -> TryOutcome:
    """Decide what to do with a job after a failed try.

    Args:
        tries: the number of tries so far, including the failed one.
        put_off: how often in a row it was put off before.
        first_wait: seconds after the first failed try; four times as many after the second.
        is_retried: False: an error of the job itself ends it.
    """
    if isinstance(error, PutOff) and error.seconds is not None:
        return TryOutcome("waiting", error.seconds, counts=False)
    if not is_retried:
        return TryOutcome("failed")
    if isinstance(error, PutOff | AskedTooMuch | StoreUnavailable | ModelUnavailable):
        return TryOutcome("waiting", min(first_wait * 2**put_off, MAX_WAIT_SECONDS), counts=False)
    if isinstance(error, _FINAL):
        return TryOutcome("failed")
    if tries >= MAX_TRIES:
        return TryOutcome("aside")
    return TryOutcome("waiting", wait_after(tries, first_wait))


def wait_after(tries: int, first_wait: float) -> float:
    return min(first_wait * 4.0 ** (tries - 1), MAX_WAIT_SECONDS)


class _Named(Protocol):
    @property
    def id(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def label(self) -> str: ...


def log_try(logger: logging.Logger, job: _Named, found: TryOutcome, error: Exception) -> None:
    """Log a failed try; without a traceback where the error is an expected one."""
    expected = (isinstance(error, ArgotError) and found.state == "failed") or not found.counts
    place = None if expected else error
    logger.warning(
        "job %d (%s %s) is %s: %s", job.id, job.kind, job.label, found.state, describe_error(error), exc_info=place
    )


def describe_error(error: BaseException) -> str:
    """Describe an error for people: Argot's own name the remedy; of others the class is given as well."""
    return str(error) if isinstance(error, ArgotError | PutOff) else f"{type(error).__name__}: {error}"
