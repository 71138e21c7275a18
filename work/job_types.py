"""Jobs, and the interface of their queue: this process, or a queue on PostgreSQL that several processes share.

A job consists of a kind and of parameters in JSON. The process that takes it finds the function by the kind
(`job_kinds.py`). A job must be idempotent, since its process may end just before the result is stored.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias, get_args

from argot.errors import Conflict, NotFound
from argot.types import Principal

JobState: TypeAlias = Literal["waiting", "running", "done", "failed", "aside", "cancelled"]
"""failed: its input cannot be used, so it is not tried again. aside: it failed too often, and waits for a person."""
STATES: tuple[JobState, ...] = get_args(JobState)
UNDER_WAY: frozenset[JobState] = frozenset({"waiting", "running"})
PUT_BACK: frozenset[JobState] = frozenset({"failed", "aside", "cancelled"})


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A job to be put into the queue.

    Attributes:
        by: the principal on whose behalf it is done.
        label: its name for people, such as that of a source or a file.
        key: only one job with the same key may wait or run at a time; empty: any number.
        data: further bytes that it needs, such as an uploaded file.
    """

    kind: str
    by: Principal
    parameters: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    key: str = ""
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class JobRecord:
    """The present state of a job. Times are ISO 8601 in UTC, and empty for what has not happened yet.

    Attributes:
        next_at: the earliest time of the next try; empty: as soon as a worker takes it.
        tries: how often it was begun, not counting tries that were put off (`PutOff`).
        done, total: its progress, in a unit of its own; `doing`: its present step.
        error: why it failed, or why it is tried again; `error_kind`: the class of that error.
        worker: the machine and process that does it, or did it last.
        outcome: its result so far, as JSON; None before there is one.
        parameters: those it was submitted with; empty in a list of jobs.
    """

    id: int
    kind: str
    label: str
    key: str
    state: JobState
    asked_by: str
    put_at: str
    started_at: str = ""
    ended_at: str = ""
    next_at: str = ""
    tries: int = 0
    done: int = 0
    total: int = 0
    doing: str = ""
    error: str = ""
    error_kind: str = ""
    worker: str = ""
    outcome: Any = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_under_way(self) -> bool:
        return self.state in UNDER_WAY

    def drop_outcome(self) -> JobRecord:
        return replace(self, outcome=None)

    def require_put_back(self) -> None:
        """Check that the job can be put back into the queue.

        Raises:
            Conflict: it has not failed, and so cannot be put back.
        """
        if self.state not in PUT_BACK:
            raise Conflict(f"Job {self.id} is {self.state}. What failed, was put aside or cancelled can be put back.")

    def make_ended_conflict(self) -> Conflict:
        """Return the error for a person who wants to cancel this job: it has ended."""
        return Conflict(f"Job {self.id} is {self.state} already.")


def no_job(number: int) -> NotFound:
    return NotFound(f"There is no job {number}. See which there are: argot jobs")


class TellProgress(Protocol):
    """Function by which a job reports its progress. It may be called any number of times, in the event loop.

    `outcome`: the result so far, which is kept if the job is stopped; None: as reported before.
    """

    def __call__(self, done: int, total: int, doing: str = "", outcome: Any = None) -> None: ...


@dataclass(frozen=True, slots=True)
class JobRun:
    """One try at a job. `kb`: a `KnowledgeBase`, whose module imports this one."""

    kb: Any
    principal: Principal
    parameters: Mapping[str, Any]
    data: bytes | None
    tell: TellProgress


Work: TypeAlias = Callable[[JobRun], Awaitable[Any]]
"""Function that does a job, and returns an outcome that JSON can hold. When cancelled, it stops and writes no more."""


@dataclass(frozen=True, slots=True)
class JobMoved:
    """A change of a job. `what`: "begun", "done", "cancelled", its present step, or its error."""

    id: int
    kind: str
    label: str
    what: str
    done: int = 0
    total: int = 0


class PutOff(Exception):
    """A job has to wait for something else, such as a server that does not answer. This does not count as a try.

    Args:
        seconds: the time until it is taken up again; None: a longer time after each attempt.
    """

    def __init__(self, why: str, seconds: float | None = None) -> None:
        super().__init__(why)
        self.seconds = seconds


class Jobs(Protocol):
    """Keeps jobs, and has them done.

    Raises:
        NotFound: there is no job of the given number.
        StoreUnavailable: the queue cannot be read or written.
    """

    @property
    def is_shared(self) -> bool:
        """True if several processes share the jobs."""

    async def submit(self, request: JobRequest, *, again: bool = True) -> JobRecord:
        """Put a job into the queue, and return it once it is stored.

        Args:
            again: replace a job with the same key that was put aside; if False, return that one instead.

        Raises:
            Conflict: one with its key waits or runs.
        """
        ...

    async def begin(self, request: JobRequest) -> JobRecord:
        """Submit a job, and do it in this process unless a worker takes jobs of its kind.

        Raises:
            Conflict: one with its key waits or runs.
        """
        ...

    def turn(self, name: str) -> AbstractAsyncContextManager[None]:
        """Wait for the lock of this name, which one task among all processes can hold, and hold it."""

    def run_here(self, request: JobRequest) -> AbstractAsyncContextManager[TellProgress]:
        """List the work of a `with` block, which this process does at once, as a job.

        Raises:
            Conflict: one with its key waits or runs.
        """
        ...

    async def has_workers(self, kind: str) -> bool:
        """Return whether other processes take jobs of this kind; if not, the caller does its job by `run_here`."""
        ...

    async def list_jobs(self, kind: str = "") -> list[JobRecord]:
        """Return the jobs that wait or run and those that ended lately, newest first, without their outcomes."""
        ...

    async def find_latest(self, kind: str, key: str) -> JobRecord | None:
        """Return the newest job of this kind and key, with its parameters and its outcome."""
        ...

    async def job(self, number: int) -> JobRecord: ...

    def follow(self, number: int) -> AsyncGenerator[JobRecord]:
        """Yield the job's present state, then each new state, up to the first in which it has ended."""
        ...

    async def cancel(self, number: int) -> JobRecord:
        """Cancel a job: it does not begin, or is stopped. It may run on for a moment.

        Raises:
            Conflict: it has ended.
        """
        ...

    async def retry(self, number: int) -> JobRecord:
        """Put a job that failed, was put aside or was cancelled back into the queue, with all its tries.

        Raises:
            Conflict: it waits, runs or is done; or another one with its key waits or runs.
        """
        ...

    async def forget(self, name: str) -> None:
        """Delete the jobs that this person submitted, except those that run: they fail if the person is gone."""
        ...

    async def forget_documents(self, documents: Collection[str], originals: Collection[str]) -> None:
        """Delete the jobs about these documents (ids), and those with one of these files (hashes), except those that
        run.
        """
        ...

    async def close(self) -> None:
        """Stop the jobs that run in this process, and wait for their end."""
        ...
