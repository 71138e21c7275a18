"""The entry of the graph: ask a question or answer a choice, as a stream of events. All surfaces use this module."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Durability, StateSnapshot

from argot.errors import Conflict, InvalidInput
from argot.graph.build import ArgotGraph
from argot.graph.checkpoints.pruning import keep_latest
from argot.graph.checkpoints.step_holder import hold_steps
from argot.graph.checkpoints.thread_history import read_past_turns
from argot.graph.choices import is_bare_number, parse_choice
from argot.graph.glossary_feedback import GlossaryFeedback, read_feedback
from argot.graph.node_frame import StageReport
from argot.graph.prefetch import embed_question_ahead
from argot.graph.presentation.turn_view import assemble
from argot.graph.question_validation import check_question
from argot.graph.run_context import RunContext
from argot.graph.state import State, TurnInput, finish_turn
from argot.question_threads import call_in_thread
from argot.results import AskEvent, AskResult
from argot.types import Effort

RECURSION_LIMIT = 80
"""Maximum steps of one turn. The longest path (three questions to the asker) takes about 25, and a thorough answer up
to 30 more: one for each call of a tool and each sub-question.
"""

DURABILITY: Durability = "async"
"""Steps are stored while the next ones run, at intervals (`STORE_SECONDS`), and the last one before the result is
returned. A kill costs the steps since then, which run again; their result was not yet reported. `bench/checkpoints.py`
measures the alternatives.
"""
_REST_OF_TURN = None
"""The input with which LangGraph continues from the last checkpoint."""
_JOB = "argot_job"
"""Metadata key of each checkpoint that names the job that wrote it."""


@dataclass(frozen=True, slots=True)
class TurnEnded(AskEvent):
    """The `result`, with the turn's feedback for glossary managers."""

    learned: GlossaryFeedback | None = None


@dataclass(frozen=True)
class ThreadState:
    """The stored turns of a thread, as its owner may see them now. The last turn may be `waiting` for the asker's
    choice.
    """

    turns: list[AskResult]
    waiting: bool = False


@dataclass(frozen=True)
class LastTurn:
    """The last turn of a thread, as its owner may see it now. `asked`: every question of the thread, as it was asked
    and as it was read.
    """

    result: AskResult
    waiting: bool
    asked: list[str]


def ask(
    graph: ArgotGraph,
    run: RunContext,
    question: str,
    thread: str,
    *,
    again: bool = False,
    senses: Mapping[str, int] | None = None,
    job: str = "",
) -> AsyncGenerator[AskEvent]:
    """Ask a question in a thread.

    If the thread waits for a choice and the question matches one, it is treated as that choice. Anything else, except a
    number that was not offered, begins a new turn and abandons the choice. A turn that a crash cut off continues from
    its last step when the same question is asked again with the same profile.

    Args:
        again: the answer replaces that of the last turn.
        senses: ids of senses by term, which count as chosen by the asker from now on in this thread.
        job: identifies the question when it is asked again because the process that ran it ended: the turn then
            continues from its last step, or is already done.

    Raises:
        InvalidInput: the question is empty, has no word, or is too long, or is the number of no choice.
    """

    async def choose_input(snapshot: StateSnapshot) -> Any:
        text = check_question(question, run.max_question_chars)
        fresh: TurnInput = {"asked": text, "again": again, "remembered": dict(senses or {})}
        if snapshot.interrupts and not (again or senses):
            # Text in the question field may be a new question, but a number alone is meant as a choice.
            forgiving = not is_bare_number(text)
            choice = await _match_reply(snapshot, run.begin_turn(thread), text, forgiving=forgiving)
            return Command(resume=choice) if choice else fresh
        # With another profile (its name includes switches and effort) the question is answered from the beginning.
        is_same = snapshot.values.get("asked") == text and snapshot.values.get("profile") == run.profile.name
        if snapshot.next and not snapshot.interrupts and is_same and not senses:
            return _REST_OF_TURN
        # With a history the question may be rewritten first, and a different text would be embedded.
        if not (snapshot.values or run.heard):
            embed_question_ahead(text, run)
        return fresh

    return _run_turn(graph, run, choose_input, thread, job)


def answer_choice(
    graph: ArgotGraph, run: RunContext, thread: str, answer: str, *, job: str = ""
) -> AsyncGenerator[AskEvent]:
    """Answer the thread's open choice: with a choice's `answer`, its number, or words. Any other reply is a new
    question.

    Args:
        job: as for `ask`.

    Raises:
        Conflict: the thread waits for nothing, or the button belongs to a choice that is over.
        InvalidInput: the number was not offered, or the words fit several choices.
    """

    async def choose_input(snapshot: StateSnapshot) -> Any:
        text = check_question(answer, run.max_question_chars)
        if not snapshot.interrupts:
            raise Conflict(f"Nothing is waiting for an answer in thread '{thread}'. Ask the question again.")
        choice = await _match_reply(snapshot, run.begin_turn(thread), text)
        return Command(resume=choice) if choice else {"asked": text, "again": False}

    return _run_turn(graph, run, choose_input, thread, job)


async def read_thread(graph: ArgotGraph, run: RunContext, thread: str, *, withheld: str = "") -> ThreadState:
    """Return all turns of a thread that this principal may see now, oldest first. The caller checks the owner.

    `withheld`: the text in place of sentences that they may not see; empty: these are left out.
    """
    snapshot = await graph.aget_state(_build_config(thread))
    if not snapshot.values.get("question"):
        return ThreadState([])
    waiting = bool(snapshot.interrupts)
    return await asyncio.to_thread(_assemble_thread, snapshot.values, run, thread, waiting, withheld)


async def read_last_turn(graph: ArgotGraph, run: RunContext, thread: str) -> LastTurn | None:
    """Return only the thread's last turn, however many there are; None if nothing was asked yet."""
    snapshot = await graph.aget_state(_build_config(thread))
    if not snapshot.values.get("question"):
        return None
    waiting = bool(snapshot.interrupts)
    result = await call_in_thread(assemble, snapshot.values, run, thread, waiting=waiting)
    turns = [*read_past_turns(snapshot.values), snapshot.values]
    asked = [turn[name] for turn in turns for name in ("question", "stand_alone_question")]
    return LastTurn(result, waiting, asked)


async def find_waiting_effort(graph: ArgotGraph, run: RunContext, thread: str, text: str) -> Effort | None:
    """Return the effort of the turn that waits for this reply; None if none does, or the words are a new question."""
    snapshot = await graph.aget_state(_build_config(thread))
    if not snapshot.interrupts or not await _match_reply(snapshot, run.begin_turn(thread), text, forgiving=True):
        return None
    return cast(Effort | None, snapshot.values.get("effort"))


async def read_turn(graph: ArgotGraph, run: RunContext, thread: str, turn: int) -> AskResult | None:
    """Return the turn with this number as its owner may see it now; None if there is none or it is no longer kept."""
    record = await read_turn_record(graph, thread, turn)
    return await call_in_thread(assemble, record, run, thread) if record else None


async def read_turn_record(graph: ArgotGraph, thread: str, turn: int | None) -> dict[str, Any] | None:
    """Return the stored record of the turn with this number, or of the last: ids and short texts, for `assemble`. None
    if there is none.
    """
    values = (await graph.aget_state(_build_config(thread))).values
    last = finish_turn(cast(State, values))
    turns = [*read_past_turns(values), *([last] if last else [])]
    if turn is None:
        return turns[-1] if turns else None
    return next((one for one in turns if one["number"] == turn), None)


def _assemble_thread(values: dict[str, Any], run: RunContext, thread: str, waiting: bool, withheld: str) -> ThreadState:
    turns = [assemble(turn, run, thread, withheld=withheld) for turn in read_past_turns(values)]
    return ThreadState([*turns, assemble(values, run, thread, waiting=waiting, withheld=withheld)], waiting)


async def _run_turn(
    graph: ArgotGraph,
    run: RunContext,
    choose_input: Callable[[StateSnapshot], Awaitable[Any]],
    thread: str,
    job: str,
) -> AsyncGenerator[AskEvent]:
    """Run the graph to its end or to an interrupt, or from the last stored step of a turn whose process ended.

    Args:
        choose_input: returns the graph's input from the state of the thread, unless this job began the turn before.
    """
    snapshot = await graph.aget_state(_build_config(thread))
    is_known = bool(job) and (snapshot.metadata or {}).get(_JOB) == job
    graph_input = _REST_OF_TURN if is_known else await choose_input(snapshot)
    run = run.begin_turn(thread)
    if is_known and (not snapshot.next or snapshot.interrupts):
        # The whole turn was stored, and only its acknowledgement was lost.
        yield await _end_turn(snapshot.values, run, thread, waiting=bool(snapshot.interrupts))
        return
    durability: Durability | None = DURABILITY if graph.checkpointer else None
    stream: AsyncGenerator[Any] = graph.astream(  # type: ignore[assignment]
        graph_input, _build_config(thread, job), context=run, stream_mode=["custom", "values"], durability=durability
    )
    values: dict[str, Any] = {}
    waiting = False
    # An asker who leaves stops the work.
    async with hold_steps(graph.checkpointer, thread), aclosing(stream):
        async for mode, chunk in stream:
            if mode == "custom":
                yield _build_event(chunk)
            else:
                waiting = "__interrupt__" in chunk
                # Merged, since the chunk of an interrupt may contain nothing else.
                values = {**values, **chunk}
    yield await _end_turn(values, run, thread, waiting=waiting)
    # After the result, when nobody waits for it.
    await keep_latest(graph.checkpointer, thread)


async def _end_turn(values: dict[str, Any], run: RunContext, thread: str, *, waiting: bool) -> TurnEnded:
    result = await call_in_thread(assemble, values, run, thread, waiting=waiting)
    # With the look-up off no term is known, and every one would be recorded as missing.
    learned = read_feedback(values, waiting=waiting) if run.profile.look_up_jargon else None
    return TurnEnded("result", "result", sum(result.timings.values()), result, learned=learned)


def _build_event(report: StageReport) -> AskEvent:
    kind = cast(Literal["stage", "step", "token", "retract"], report["kind"])
    return AskEvent(kind, report["name"], report.get("seconds"), report["text"], report.get("model_seconds", 0.0))


async def _match_reply(snapshot: StateSnapshot, run: RunContext, text: str, *, forgiving: bool = False) -> str | None:
    """Return the choice that the words mean; None for a new question. `forgiving`: also None for a reply that fits no
    choice.
    """
    waiting = await call_in_thread(assemble, snapshot.values, run, run.thread, waiting=True)
    try:
        return parse_choice(text, waiting.choices)
    except (Conflict, InvalidInput):
        if forgiving:
            return None
        raise


def _build_config(thread: str, job: str = "") -> RunnableConfig:
    return {
        "configurable": {"thread_id": thread},
        "recursion_limit": RECURSION_LIMIT,
        "metadata": {_JOB: job} if job else {},
    }
