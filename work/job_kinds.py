"""The kinds of jobs, each with the function that does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from argot.errors import ArgotError
from argot.settings import Settings
from argot.work.job_types import JobRequest, PutOff, Work
from argot.work.tries import describe_error

Lane: TypeAlias = Literal["awaited", "long"]
"""Jobs that somebody waits for must not queue behind those that take hours."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job.

    Args:
        busy: the message that refuses a second job with the same key, with `{label}`.
        is_retried: False: it is not tried again after a failure.
        fault: the message about an error that is no `ArgotError`, with `{error}`; empty: the error's class and text.
        is_possible: tells by the settings whether a machine can do such jobs.
    """

    name: str
    work: Work
    busy: str
    lane: Lane
    is_retried: bool = True
    fault: str = ""
    is_possible: Callable[[Settings], bool] = lambda settings: True

    def describe_failure(self, error: Exception) -> str:
        if self.fault and not isinstance(error, ArgotError | PutOff):
            return self.fault.replace("{error}", str(error))
        return describe_error(error)

    def describe_busy(self, label: str) -> str:
        # Not by `format`: a label may contain braces.
        return self.busy.replace("{label}", label)


KINDS: dict[str, JobKind] = {}


def job_kind(
    name: str,
    *,
    busy: str,
    lane: Lane = "long",
    is_retried: bool = True,
    fault: str = "",
    is_possible: Callable[[Settings], bool] = lambda settings: True,
) -> Callable[[Work], Work]:
    """Declare a function as the work of jobs of this kind."""

    def declare(work: Work) -> Work:
        KINDS[name] = JobKind(name, work, busy, lane, is_retried, fault, is_possible)
        return work

    return declare


def describe_busy_job(request: JobRequest) -> str:
    """Describe why a second job is refused while another with its key is under way."""
    return KINDS[request.kind].describe_busy(request.label)
