"""Frame around every node: the run's context, the profile's switch, timing, and progress events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypedDict, cast

from langgraph.config import get_stream_writer
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import Command, Overwrite

from argot.graph.run_context import ContextSource, RunContext
from argot.graph.state import State, SubjectRecord, TurnPart
from argot.results import ModelCall
from argot.tracing import ASKS_BACK, TracedStep, trace_step

GATHER_SECONDS = 0.025
"""Pieces of an answer within this interval are sent as one: forty times a second reads as one stream."""


class StateUpdate(TurnPart, total=False):
    """Keys that a node may write: those of the turn, and the other keys of `State`.

    `turns` holds the finished turn, if there was one; its reducer adds it.
    """

    turns: list[dict[str, Any]]
    remembered: dict[str, int]
    subjects: dict[str, SubjectRecord]
    trouble: str


class Step(NamedTuple):
    """Result of a node: its part of the state, and one short clause for people about its findings."""

    update: StateUpdate
    found: str = ""
    begins: bool = False
    """A new turn begins here: counters (seconds, model calls) start at zero."""


Node = Callable[[State, RunContext], Awaitable[Step]]

Route = Callable[[State], str | list[str]]
"""Returns the name of the next node, or of those that run side by side, from the state with the node's update."""


class GraphNode(Protocol):
    """A node as LangGraph knows it."""

    def __call__(self, state: State, *, runtime: Runtime[RunContext]) -> Awaitable[dict[str, Any] | Command[Any]]: ...


class StageReport(TypedDict, total=False):
    """Progress report of a stage, sent through the custom stream. `seconds` is absent while the stage runs."""

    kind: str
    name: str
    seconds: float
    model_seconds: float
    text: str


SIDE_BY_SIDE = ("identify_jargon", "identify_context")
"""Stages that run at the same time. Their calls are told apart by the prompt, which has the stage's name."""


def wrap_node(
    node: Node,
    source: ContextSource | None = None,
    *,
    route: Route | None = None,
    switched: bool = False,
    is_quiet: bool = False,
) -> GraphNode:
    """Return the node as LangGraph runs it.

    Args:
        node: an async function of the state and the run's context.
        source: provides the context if the caller passes none (LangGraph's own tooling cannot).
        route: chooses the next nodes; without it, the graph's edges say what follows.
        switched: the profile has a switch of the node's name, and the node does nothing when it is off.
        is_quiet: the stage is reported only if it found something, which is rare. It calls no model.
    """
    name = node.__name__

    async def run_stage(state: State, *, runtime: Runtime[RunContext]) -> dict[str, Any] | Command[Any]:
        update, counted = await report_stage(state, _get_run_context(runtime, source))
        if route is None:
            return {**update, **counted}
        # A conditional edge would copy all channels and apply the update to them once more, to show it to its function.
        return Command(update={**update, **counted}, goto=route(cast(State, {**state, **update})))

    async def report_stage(state: State, run: RunContext) -> tuple[StateUpdate, dict[str, Any]]:
        """Run the stage and report it; return its update, and what is counted of it."""
        # Before the first report: a stage that is off is not shown at all, rather than as one that took no time.
        if switched and not getattr(run.profile, name):
            return {}, {}
        send = get_stream_writer()
        if not is_quiet:
            send(StageReport(kind="stage", name=name, text=""))
        started = time.perf_counter()
        try:
            with trace_step("stage", name) as followed:
                step = await _follow_step(node(state, run), followed)
        except GraphBubbleUp:  # an interrupt: the node asks the asker and will run again
            send(StageReport(kind="stage", name=name, text="asks back", seconds=time.perf_counter() - started))
            raise
        seconds = time.perf_counter() - started
        if is_quiet:
            if not step.found:
                return step.update, {}
            send(StageReport(kind="stage", name=name, text=""))
        # Both stages put their calls into one list, and the first to end would take the other's.
        calls = run.take_model_calls([name] if name in SIDE_BY_SIDE else None)
        in_model = sum(call.seconds for call in calls)
        send(StageReport(kind="stage", name=name, text=step.found, seconds=seconds, model_seconds=in_model))
        counted = {"timings": {name: seconds}, **_record_model(run, calls, step)}
        # `Overwrite` bypasses the reducers, which would add the seconds and calls of the previous turn.
        return step.update, {key: Overwrite(value) for key, value in counted.items()} if step.begins else counted

    run_stage.__name__, run_stage.__doc__ = name, node.__doc__
    return run_stage


async def _follow_step(work: Awaitable[Step], followed: TracedStep) -> Step:
    """Run the stage and return its step. A stage that asks the asker a question has not failed."""
    try:
        step = await work
    except GraphBubbleUp:
        followed.noted[ASKS_BACK] = True
        raise
    followed.said["argot.found"] = step.found
    return step


def send_step(number: int, text: str) -> None:
    """Send a sub-question of the plan to all listeners, once settled together with what was found for it."""
    get_stream_writer()(StageReport(kind="step", name=str(number), text=text))


def send_piece(text: str) -> None:
    """Send one piece of the answer to all listeners."""
    get_stream_writer()(StageReport(kind="token", name="answer", text=text))


class PieceSender:
    """Sends the pieces of an answer to all listeners, and merges pieces that follow one another closely.

    An event has the same cost whatever its size: LangGraph wakes the event loop for it, and every surface handles it.
    The first piece, and one after a pause, is sent at once.
    """

    def __init__(self) -> None:
        self._held: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def send(self, piece: str) -> None:
        self._held.append(piece)
        # No timer runs, so nothing was sent in the last 25 ms.
        if self._timer is None:
            self._send_held()

    def close(self) -> None:
        """Send the pieces that are still held back."""
        # A timer still running would send a piece after the stage was reported as done.
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held:
            send_piece(self._take_held())

    def drop(self) -> None:
        """Discard the pieces that are still held back."""
        self._held.clear()
        self.close()

    def _send_held(self) -> None:
        self._timer = None
        if self._held:
            send_piece(self._take_held())
            # The timer keeps the node's context variables, among them the stream writer that `send_piece` needs.
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._send_held)

    def _take_held(self) -> str:
        text = "".join(self._held)
        self._held.clear()
        return text


def send_retraction() -> None:
    """Retract every piece of the answer sent so far."""
    get_stream_writer()(StageReport(kind="retract", name="answer", text=""))


def _record_model(run: RunContext, calls: Sequence[ModelCall], step: Step) -> dict[str, Any]:
    """Return the state's record of the model in this stage: its calls, its name, and the reason if it was not used."""
    record: dict[str, Any] = {"model_calls": [call.model_dump() for call in calls]}
    if run.model is None:
        return record
    last = {call.prompt: call.failed for call in calls}  # a failed attempt followed by a success is no trouble
    # The writing stage reports its own trouble: the quotation that replaced its text is still an answer.
    unreported = "" if "draft" in step.update else next((failed for failed in last.values() if failed), "")
    trouble = step.update.get("trouble", "") or run.model.failed or unreported
    return {**record, "model": run.model.name, "trouble": trouble}


def _get_run_context(runtime: Runtime[RunContext], source: ContextSource | None) -> RunContext:
    # LangGraph's own server passes a plain mapping, or nothing.
    if isinstance(runtime.context, RunContext):
        return runtime.context
    if source is None:
        raise TypeError("The graph was run without a RunContext: pass context=RunContext(...).")
    return source()
