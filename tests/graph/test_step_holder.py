"""Checkpoints of a running turn: stored at intervals, and completely at the end of the turn."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from argot.graph.checkpoints import step_holder
from argot.graph.checkpoints.checkpointer import TurnSaver
from argot.graph.checkpoints.step_holder import hold_steps

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Heard(TypedDict):
    words: Annotated[list[str], lambda old, new: [*old, *new]]


def build_steps(saver: Any, *, asks: bool = False, seconds: float = 0) -> Any:
    """Build a graph of five steps that add their names; the last may ask back, or wait."""

    async def last(_: Heard) -> Heard:
        await asyncio.sleep(seconds)
        return {"words": [interrupt("which?") if asks else "last"]}

    def add(word: str) -> Any:
        async def step(_: Heard) -> Heard:
            return {"words": [word]}

        return step

    graph = StateGraph(Heard)
    names = ["a", "b", "c", "d"]
    for name in names:
        graph.add_node(name, add(name))
    graph.add_node("last", last)
    for before, after in zip([START, *names], [*names, "last"], strict=True):
        graph.add_edge(before, after)
    graph.add_edge("last", END)
    return graph.compile(checkpointer=saver)


class Count:
    """Checkpoints stored, and how many of the next ones fail."""

    stored = 0
    faults = 0


class CountingSaver(TurnSaver):
    """Counts what it stores, and fails as often as `count.faults` says.

    LangGraph works with a copy of the saver where it decodes strictly, so that both share one count.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.count = Count()

    async def store_checkpoint(self, *given: Any) -> Any:
        self.count.stored += 1
        if self.count.faults:
            self.count.faults -= 1
            raise OSError("full")
        return await super().store_checkpoint(*given)


async def run_steps(graph: Any, given: Any) -> Any:
    async with hold_steps(graph.checkpointer, "t"):
        return await graph.ainvoke(given, THREAD, durability="async")


async def test_quick_steps_are_stored_once_with_their_last_state(tmp_path: Path) -> None:
    async with CountingSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        graph = build_steps(saver)
        ended = await run_steps(graph, {"words": ["start"]})
        assert saver.count.stored == 2  # the question, and the end
        assert (await graph.aget_state(THREAD)).values == ended == {"words": ["start", "a", "b", "c", "d", "last"]}
        states = [state async for state in graph.aget_state_history(THREAD)]
        assert states[0].parent_config == states[1].config


async def test_a_slow_step_finds_the_steps_before_it_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_holder, "STORE_SECONDS", 0.01)
    async with TurnSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        running = asyncio.create_task(run_steps(build_steps(saver, seconds=30), {"words": []}))
        for _ in range(2000):
            await asyncio.sleep(0.01)
            if (await build_steps(saver).aget_state(THREAD)).values.get("words") == ["a", "b", "c", "d"]:
                break
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await build_steps(saver).aget_state(THREAD)).next == ("last",)


async def test_a_cancelled_turn_is_stored_as_far_as_it_came(tmp_path: Path) -> None:
    async with TurnSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        graph = build_steps(saver, seconds=30)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run_steps(graph, {"words": []}), 0.2)
        state = await graph.aget_state(THREAD)
        assert (state.values["words"], state.next) == (["a", "b", "c", "d"], ("last",))


async def test_a_turn_that_asks_back_continues_with_the_reply(tmp_path: Path) -> None:
    async with TurnSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        graph = build_steps(saver, asks=True)
        await run_steps(graph, {"words": []})
        assert [one.value for one in (await graph.aget_state(THREAD)).interrupts] == ["which?"]
        assert (await run_steps(graph, Command(resume="this")))["words"] == ["a", "b", "c", "d", "this"]


async def test_a_checkpoint_that_could_not_be_stored_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_holder, "STORE_SECONDS", 0.02)
    async with CountingSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        graph = build_steps(saver, seconds=0.2)
        async with hold_steps(saver, "t"):
            stream = graph.astream({"words": []}, THREAD, durability="async", stream_mode="values")
            async for values in stream:
                if values["words"] == ["a"]:
                    saver.count.faults = 1  # the next one, which is stored in the background
        assert saver.count.faults == 0
        assert (await graph.aget_state(THREAD)).values["words"] == ["a", "b", "c", "d", "last"]


async def test_the_last_checkpoint_of_a_turn_must_be_stored(tmp_path: Path) -> None:
    async with CountingSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        graph = build_steps(saver)
        with pytest.raises(OSError, match="full"):
            async with hold_steps(saver, "t"):
                await graph.ainvoke({"words": []}, THREAD, durability="async")
                saver.count.faults = 1


async def test_savers_of_other_kinds_store_each_step() -> None:
    graph = build_steps(InMemorySaver())
    await run_steps(graph, {"words": []})
    assert len([state async for state in graph.aget_state_history(THREAD)]) == 7
