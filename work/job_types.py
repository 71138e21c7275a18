"""Jobs, and the interface of their keepers: this process, or a queue on PostgreSQL that several share.

A job is a kind and parameters in JSON. What does it is found by its kind (`job_kinds.py`), in whatever process takes
it. Done twice it has to come to the same end as done once: its process may end when all but the last word is written.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias, get_args

from argot.errors import Conflict, NotFound
from argot.types import Principal

JobState: TypeAlias = Literal["waiting", "running", "done", "failed", "aside", "cancelled"]
"""failed: what it was given cannot be used, so it is not tried again. aside: tried so often that it is left alone."""
STATES: tuple[JobState, ...] = get_args(JobState)
UNDER_WAY: frozenset[JobState] = frozenset({"waiting", "running"})
PUT_BACK: frozenset[JobState] = frozenset({"failed", "aside", "cancelled"})


@dataclass(frozen=True, slots=True)
class JobWanted:
    """A job to be put into the queue.

    Attributes:
        by: on whose behalf it is done.
        label: what people are shown of it: the name of a source or a file.
        key: of jobs with one key there is one at a time, waiting or running; empty: any number.
        data: bytes that it needs besides, such as a file that was sent.
    """

    kind: str
    by: Principal
    parameters: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    key: str = ""
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as it stands. Times are ISO 8601 in UTC, empty where it has not come to that.

    Attributes:
        next_at: not before then it is tried again; empty: as soon as somebody takes it.
        tries: how often it was begun, without those times when something else kept it from its end.
        done, total: how far it is, in whatever it counts; `doing`: what is in hand.
        error: why it failed, or why it is tried again; `error_kind`: the class of that error.
        worker: the machine and process that has it, or had it last.
        outcome: what came of it so far, as JSON; None before there is anything.
        parameters: those it was put with; empty in a list of jobs.
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
        """
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
    """Function by which a job reports its progress; to be called in the event loop, as often as one likes.

    `outcome`: what came of it so far, which stays where it is stopped; None: as it was told before.
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
"""Does a job; what it gives can be written as JSON. Cancelled, it stops, and nothing is written any more."""


@dataclass(frozen=True, slots=True)
class JobMoved:
    """A change of a job. `what`: begun, done, cancelled, what is in hand, or what is wrong."""

    id: int
    kind: str
    label: str
    what: str
    done: int = 0
    total: int = 0


class PutOff(Exception):
    """Something else keeps a job from its end, as a server that does not answer: it waits, which is no try.

    Args:
        seconds: not before then it is taken up again; None: later each time.
    """

    def __init__(self, why: str, seconds: float | None = None) -> None:
        super().__init__(why)
        self.seconds = seconds


class Jobs(Protocol):
    """Keeps jobs, and sees that they are done.

    Raises:
        NotFound: by what is given the number of a job: there is none.
        StoreUnavailable: the queue cannot be read or written.
    """

    @property
    def is_shared(self) -> bool:
        """True if several processes share the jobs."""

    async def submit(self, wanted: JobWanted, *, again: bool = True) -> JobRecord:
        """The job, once it is certain that it will be done.

        Args:
            again: what was put aside under its key is forgotten; else that is what is given back, and nothing is put.

        Raises:
            Conflict: one with its key waits or runs.
        """
        ...

    async def begin(self, wanted: JobWanted) -> JobRecord:
        """Put a job, and do it in this process unless a worker takes jobs of its kind.

        Raises:
            Conflict: one with its key waits or runs.
        """
        ...

    def turn(self, name: str) -> AbstractAsyncContextManager[None]:
        """Wait for the turn of this name, which one at a time has among all processes, and hold it."""

    def run_here(self, wanted: JobWanted) -> AbstractAsyncContextManager[TellProgress]:
        """Around what is done in this process at once, and is listed as a job while it is.

        Raises:
            Conflict: one with its key is under way, or waits.
        """
        ...

    async def has_workers(self, kind: str) -> bool:
        """Return whether other processes take jobs of this kind; if not, the caller does its job by `run_here`."""
        ...

    async def list_jobs(self, kind: str = "") -> list[JobRecord]:
        """Return the jobs under way and those that ended lately, newest first, without their outcomes."""
        ...

    async def find_latest(self, kind: str, key: str) -> JobRecord | None:
        """Return the newest job of this kind and key, with its parameters and what came of it."""
        ...

    async def job(self, number: int) -> JobRecord: ...

    def follow(self, number: int) -> AsyncGenerator[JobRecord]:
        """The job as it stands, again whenever that has changed, and last when it is not under way any more."""
        ...

    async def cancel(self, number: int) -> JobRecord:
        """Let it not begin, or stop it. It may run on for a moment.

        Raises:
            Conflict: it has ended.
        """
        ...

    async def retry(self, number: int) -> JobRecord:
        """Let one that failed, was put aside or cancelled begin anew, with all its tries.

        Raises:
            Conflict: it is under way or done, or another one with its key is.
        """
        ...

    async def forget(self, name: str) -> None:
        """Forget the jobs that this person has put, but for those that run: those fail, where the person is gone."""
        ...

    async def forget_documents(self, documents: Collection[str], originals: Collection[str]) -> None:
        """Forget the jobs that brought these documents (ids), and those that were sent these files (hashes), but for
        those that run.
        """
        ...

    async def close(self) -> None:
        """Stop what runs in this process, and wait for its end."""
        ...
