"""Progress of the jobs that this process does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobMoved:
    """A change of a job. `what`: begun, done, cancelled, what is in hand, or what is wrong."""

    id: int
    kind: str
    label: str
    what: str
    done: int = 0
    total: int = 0
