"""The saver of threads: the same files and states as LangGraph's own saver, with fewer round trips."""

from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from argot.graph.checkpoints.checkpointer import TurnSaver

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Told(TypedDict):
    said: Annotated[list[str], lambda old, new: [*old, *new]]


def asking_graph(saver: AsyncSqliteSaver, broken: bool = False) -> Any:
    """Build a graph of two parallel steps, followed by one that asks back."""

    async def left(_: Told) -> Told:
        return {"said": ["left"]}

    async def right(_: Told) -> Told:
        if broken:
            raise RuntimeError("gone")
        return {"said": ["right"]}

    async def asks(_: Told) -> Told:
        return {"said": [interrupt("which?")]}

    graph = StateGraph(Told)
    for node in (left, right, asks):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "left")
    graph.add_edge(START, "right")
    graph.add_edge(["left", "right"], "asks")
    graph.add_edge("asks", END)
    return graph.compile(checkpointer=saver)


@pytest.mark.parametrize("writer", [TurnSaver, AsyncSqliteSaver])
@pytest.mark.parametrize("reader", [TurnSaver, AsyncSqliteSaver])
async def test_each_saver_resumes_a_thread_that_the_other_wrote(writer: Any, reader: Any, tmp_path: Path) -> None:
    file = str(tmp_path / "threads.db")
    async with writer.from_conn_string(file) as saver:
        await asking_graph(saver).ainvoke({"said": ["start"]}, THREAD, durability="sync")
    async with reader.from_conn_string(file) as saver:
        graph = asking_graph(saver)
        waiting = await graph.aget_state(THREAD)
        assert [one.value for one in waiting.interrupts] == ["which?"]
        assert waiting.values["said"] == ["start", "left", "right"]
        ended = await graph.ainvoke(Command(resume="this"), THREAD, durability="sync")
        assert ended["said"] == ["start", "left", "right", "this"]
        assert (await graph.aget_state(THREAD)).values == ended


async def test_states_and_history_equal_those_of_the_langgraph_saver(tmp_path: Path) -> None:
    seen = []
    for saver_type in (TurnSaver, AsyncSqliteSaver):
        async with saver_type.from_conn_string(str(tmp_path / f"{saver_type.__name__}.db")) as saver:
            graph = asking_graph(saver)
            await graph.ainvoke({"said": []}, THREAD, durability="sync")
            await graph.ainvoke(Command(resume="this"), THREAD, durability="sync")
            seen.append(
                [(state.next, state.values, state.metadata) async for state in graph.aget_state_history(THREAD)]
            )
    assert seen[0] == seen[1]
    assert len(seen[0]) > 3


async def test_only_the_failed_step_is_repeated(tmp_path: Path) -> None:
    async with TurnSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        with pytest.raises(RuntimeError, match="gone"):
            await asking_graph(saver, broken=True).ainvoke({"said": []}, THREAD, durability="sync")
        assert (await asking_graph(saver).ainvoke(None, THREAD, durability="sync"))["said"] == ["left", "right"]


async def test_an_unused_thread_has_no_state(tmp_path: Path) -> None:
    async with TurnSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        assert await saver.aget_tuple(THREAD) is None
