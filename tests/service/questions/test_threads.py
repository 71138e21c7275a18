"""Tests of threads: conversations and their files are ordered by use, whatever the clock says."""

import asyncio
import operator
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
import pytest_asyncio
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from postgresql_server import end_connections

from argot.databases import Stores
from argot.graph.checkpoints.pruning import keep_latest
from argot.postgresql.stores import PostgresqlStores
from argot.service.insight.question_counts import count_questions, count_thumbs, find_first_day
from argot.service.insight.unanswered_groups import open_questions
from argot.service.threads import thread_store as module
from argot.service.threads.question_log import AskedQuestion, list_kept_questions, note_question
from argot.service.threads.thread_store import MIGRATIONS, AnswerSettings, ThreadFile, Threads
from argot.sqlite import open_database
from argot.sqlite_database import SqliteStores


@pytest_asyncio.fixture
async def threads(stores: Stores) -> AsyncIterator[Threads]:
    opened = await Threads.open(stores)
    yield opened
    await opened.close()


async def test_threads_are_ordered_by_use_even_if_the_clock_is_set_back(
    threads: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for at in ("2031-01-01T00:00:00.000+00:00", "2026-01-02T00:00:00.000+00:00", "2026-01-01T00:00:00.000+00:00"):
        monkeypatch.setattr(module, "timestamp", lambda at=at: at)
        made.append((await threads.start("ann", "What?")).id)
    assert [one.id for one in await threads.of("ann")] == made[::-1]
    await threads.touch(made[1])
    assert [one.id for one in await threads.of("ann")] == [made[1], made[2], made[0]]


async def test_entries_of_the_same_moment_keep_their_order(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "timestamp", lambda: "2026-01-01T00:00:00.000+00:00")
    made = [(await threads.start("ann", "What?")).id for _ in range(8)]
    assert [one.id for one in await threads.of("ann")] == made[::-1]
    for name, at in (("z.md", "2031"), ("a.md", "2026")):
        await threads.attach("ann", made[0], ThreadFile(f"d-{name}", name, 1, at))
    assert [one.name for one in await threads.files("ann", made[0])] == ["z.md", "a.md"]


async def test_migrated_threads_are_ordered_by_their_last_use(tmp_path: Path) -> None:
    old = open_database(tmp_path / "threads.db", MIGRATIONS[:2])
    for id_, at in (("t1", "2026-01-03"), ("t2", "2026-01-01"), ("t3", "2026-01-02")):
        old.execute(
            "INSERT INTO threads (id, owner, title, created_at, updated_at) VALUES (?, 'ann', 'x', ?, ?)", (id_, at, at)
        )
    old.close()
    threads = await Threads.open(SqliteStores(tmp_path))
    try:
        assert [one.id for one in await threads.of("ann")] == ["t1", "t3", "t2"]
        await threads.touch("t2")
        assert [one.id for one in await threads.of("ann")] == ["t2", "t1", "t3"]
    finally:
        await threads.close()


# -- records of questions ---------------------------------------------------------------------------------------------


def noted(thread: str, turn: int, status: str, **more: Any) -> AskedQuestion:
    return AskedQuestion(thread, turn, "2027-01-01T10:11:12+00:00", "chat", status, 1.5, **more)


async def test_a_question_asked_back_counts_once_and_becomes_anonymous_on_deletion(threads: Threads) -> None:
    thread = (await threads.start("ann", "What is KA?")).id
    await note_question(threads, noted(thread, 0, "needs_choice", first_word=0.25, calls=1))
    await note_question(
        threads, noted(thread, 0, "abstained", question="What is KA?", terms=["KA"], vector=b"\x00\xff")
    )
    await note_question(threads, noted("tgone", 0, "abstained", question="secret", terms=["X"], vector=b"v"))
    (kept,) = await list_kept_questions(threads, "ann")
    assert (kept.question, kept.terms, kept.seconds, kept.first_word) == ("What is KA?", ["KA"], 3.0, 0.25)
    assert kept.status == "abstained"
    sql = "SELECT thread, turn, at, question, terms, vector, asked_back FROM asked ORDER BY id"
    rows = [tuple(row) for row in await threads.read(sql, ())]
    gone = (None, None, "2027-01-01", "", "[]", None)
    assert rows == [(thread, 0, "2027-01-01T10:11:12+00:00", "What is KA?", '["KA"]', b"\x00\xff", 1), (*gone, 0)]
    await threads.delete("ann", thread)
    assert [tuple(row) for row in await threads.read(sql, ())] == [(*gone, 1), (*gone, 0)]


async def test_questions_and_feedback_are_summed_up(threads: Threads) -> None:
    thread = (await threads.start("ann", "What is KA?")).id
    await threads.give_feedback("ann", thread, 0, -1, "wrong", shared=True, trace={"question": "What is KÄ?"})
    await threads.give_feedback("ann", thread, 1, 1, "")
    for turn, status in enumerate(("answered", "abstained", "error")):
        await note_question(
            threads, noted(thread, turn, status, question="" if status == "answered" else "q", vector=b"x")
        )
    await threads.settle("ann", thread, AnswerSettings("quick", "sales", ("a",)))
    assert (await threads.own("ann", thread)).settings.tags == ("a",)
    assert [one.turn["question"] for one in await threads.list_judged() if one.turn] == ["What is KÄ?"]

    def read() -> None:
        with threads.reader() as connection:
            counts = count_questions(connection, "2027-01-01", "2027-01-31")
            assert (counts.questions, counts.whole_answer.p50, counts.first_word.p50) == (3, 1.5, None)
            told = count_thumbs(connection, threads.dialect, "2000", "2999", in_words=True)
            assert [one.question for one in told.reasons] == ["What is KÄ?"] and (told.up, told.down) == (1, 1)
            (open_one, _) = open_questions(
                connection, "2027-01-01", "2027-01-31", reader="ann", judged=True, queued=()
            )  # fmt: skip
            assert open_one.vector == b"x" and open_one.readable
            assert find_first_day(connection) == "2027-01-01"

    await asyncio.to_thread(read)


async def test_a_file_attached_again_is_listed_last(threads: Threads) -> None:
    thread = (await threads.start("ann", "q")).id
    for document, name in (("d1", "a"), ("d2", "b"), ("d1", "c")):
        await threads.attach("ann", thread, ThreadFile(document, name, 1, "2026"))
    assert [(one.document, one.name) for one in await threads.files("ann", thread)] == [("d2", "b"), ("d1", "c")]
    assert await threads.list_with_files("ann") == [thread] and await threads.owners() == ["ann"]
    await threads.detach(thread, "d2")
    assert len(await threads.files("ann", thread)) == 1
    assert [one.id for one in await threads.list_unused("2999")] == [thread]


# -- checkpoints ------------------------------------------------------------------------------------------------------


class Counted(TypedDict):
    """A state with a text and a list."""

    words: Annotated[list[str], operator.add]
    last: str


def counting(saver: Any) -> Any:
    def ask(state: Counted) -> dict[str, Any]:
        said = interrupt("which?")
        return {"words": [said], "last": said}

    graph = StateGraph(Counted)
    graph.add_node("first", lambda state: {"words": ["x"]})
    graph.add_node("ask", ask)
    graph.add_edge(START, "first")
    graph.add_edge("first", "ask")
    return graph.compile(checkpointer=saver)


async def test_a_choice_is_awaited_and_only_the_last_checkpoint_is_kept(threads: Threads) -> None:
    place: Any = {"configurable": {"thread_id": "t1"}}
    for said in ("one", "two"):
        graph = counting(threads.saver)
        await graph.ainvoke({"words": ["q"]}, place)
        state = await graph.aget_state(place)
        assert state.next == ("ask",) and state.tasks[0].interrupts[0].value == "which?"
        await graph.ainvoke(Command(resume=said), place)
        assert len([one async for one in threads.saver.alist(place)]) > 1
        await keep_latest(threads.saver, "t1")
        assert len([one async for one in threads.saver.alist(place)]) == 1
    state = await counting(threads.saver).aget_state(place)
    assert state.values == {"words": ["q", "x", "one", "q", "x", "two"], "last": "two"}
    await threads.saver.adelete_thread("t1")
    assert not (await counting(threads.saver).aget_state(place)).values


async def test_conversations_continue_after_postgresql_connections_are_cut(postgresql_url: str) -> None:
    place: Any = {"configurable": {"thread_id": "t1"}}
    with closing(PostgresqlStores(postgresql_url)) as stores:
        threads = await Threads.open(stores)
        await counting(threads.saver).ainvoke({"words": ["q"]}, place)
        thread = await threads.start("ann", "q")
        end_connections(postgresql_url)
        await counting(threads.saver).ainvoke(Command(resume="one"), place)
        end_connections(postgresql_url)
        assert await threads.own("ann", thread.id) == thread
        await threads.close()
        # Opened as by another process, everything is there.
        threads = await Threads.open(stores)
        assert (await counting(threads.saver).aget_state(place)).values["last"] == "one"
        await threads.close()
