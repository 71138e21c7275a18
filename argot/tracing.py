"""The traced steps of a question: stages, searches, calls to the model.

Nothing is recorded without a trace. Texts of people or documents go into `said`, which is recorded only if the trace is
to hold contents; `noted` reveals nothing of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Literal

StepKind = Literal["stage", "search", "model"]
Noted = str | int | float
ASKS_BACK = "argot.asks_back"
"""Recorded for a stage that stopped to ask the asker, which is no failure."""
MAX_STEPS = 500
"""Maximum steps of one question."""


@dataclass(slots=True)
class TracedStep:
    """One step of a question. `began`, `ended`: nanoseconds since 1970.

    `parent`: the index of the step that contains it, among the trace's steps; None: the question itself. `failed`: the
    class of the error; empty: none.
    """

    kind: StepKind
    name: str
    began: int
    parent: int | None = None
    ended: int = 0
    failed: str = ""
    noted: dict[str, Noted] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)


class Trace:
    """The steps of one question, until it is closed."""

    def __init__(self, *, contents: bool) -> None:
        self.contents = contents
        self.began = time.time_ns()
        self.steps: list[TracedStep] = []
        self._closed = False

    def add(self, step: TracedStep) -> int | None:
        """Add a step and return its index; None if the trace is closed or full."""
        if self._closed or len(self.steps) >= MAX_STEPS:
            return None
        self.steps.append(step)
        return len(self.steps) - 1

    def take(self, steps: Sequence[TracedStep]) -> None:
        """Add the steps of another process that did a part of the work, unchanged."""
        before = len(self.steps)
        for step in steps:
            outer = None if step.parent is None else step.parent + before
            self.add(replace(step, parent=outer))

    def close(self) -> list[TracedStep]:
        """Return the steps; none is added from now on. Work that outlives the question may still hold the trace."""
        self._closed = True
        return self.steps


_trace: ContextVar[Trace | None] = ContextVar("trace", default=None)
_parent: ContextVar[int | None] = ContextVar("parent", default=None)


def begin_trace(*, contents: bool) -> Trace:
    """Begin a trace of the following work, in this task and in those that it starts."""
    trace = Trace(contents=contents)
    _trace.set(trace)
    _parent.set(None)
    return trace


def current_trace() -> Trace | None:
    return _trace.get()


@contextmanager
def trace_step(kind: StepKind, name: str) -> Iterator[TracedStep]:
    """Trace one step. An error in it marks the step as failed, and is raised again."""
    step = TracedStep(kind, name, time.time_ns())
    trace = _trace.get()
    if trace is None:
        yield step
        return
    step.parent = _parent.get()
    outer = _parent.set(trace.add(step))
    try:
        yield step
    except BaseException as error:
        step.failed = "" if ASKS_BACK in step.noted else type(error).__name__
        raise
    finally:
        step.ended = time.time_ns()
        _parent.reset(outer)
        if not trace.contents:
            step.said.clear()


def trace_call(seconds: float, name: str, failed: str, noted: Mapping[str, Noted], said: Mapping[str, str]) -> None:
    """Record a call to the language model that has just ended."""
    trace = _trace.get()
    if trace is not None:
        ended = time.time_ns()
        words = dict(said) if trace.contents else {}
        began = ended - int(seconds * 1e9)
        trace.add(TracedStep("model", name, began, _parent.get(), ended, failed, dict(noted), words))
