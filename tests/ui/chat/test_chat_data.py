"""Tests of Chainlit's data layer over Argot's threads: it reads through the service, as the signed-in user."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.ui.web.asker_identity import asker

QUESTION = "What is the WL voltage during a read?"


@pytest.fixture(scope="module")
def chainlit_imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Import Chainlit in a temporary application folder, because it writes there while it is imported."""
    kept = dict(os.environ)
    os.environ["CHAINLIT_APP_ROOT"] = str(tmp_path_factory.mktemp("chainlit"))
    import chainlit  # noqa: F401

    yield
    os.environ.clear()
    os.environ.update(kept)


@pytest.fixture
async def kb(chainlit_imported: None, tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        kb.people.add("ann", ("vault",))
        kb.people.add("bob")
        yield kb


@pytest.fixture
def layer(kb: KnowledgeBase) -> Any:
    from argot.ui.chat.data_layer import ThreadsLayer

    return ThreadsLayer(kb)


async def _ask(kb: KnowledgeBase, name: str, question: str, thread: str | None = None) -> dict[str, Any]:
    principal = kb.principal(name)
    result: dict[str, Any] = await catalogue.get_result(kb, principal, "ask", question=question, thread=thread)
    return result


async def _list(layer: Any, **filters: Any) -> list[dict[str, Any]]:
    from chainlit.types import Pagination, ThreadFilter

    page = await layer.list_threads(Pagination(first=2), ThreadFilter(**filters))
    threads: list[dict[str, Any]] = page.data
    return threads


async def test_the_history_is_built_from_argots_threads(kb: KnowledgeBase, layer: Any) -> None:
    asker.set("ann")
    asked = await _ask(kb, "ann", QUESTION)
    await _ask(kb, "ann", "How much does a late tariff filing cost?", asked["thread"])
    thread = await layer.get_thread(asked["thread"])
    assert (thread["name"], thread["userIdentifier"]) == (QUESTION, "ann")
    assert [step["type"] for step in thread["steps"]] == ["user_message", "run", "assistant_message"] * 2
    assert thread["steps"][0]["output"] == QUESTION
    assert "4.5 V" in thread["steps"][2]["output"] and "500 dollars" in thread["steps"][5]["output"]
    assert thread["steps"][2]["parentId"] == thread["steps"][1]["id"]


async def test_threads_are_visible_to_their_owners_only(kb: KnowledgeBase, layer: Any) -> None:
    asked = await _ask(kb, "ann", QUESTION)
    asker.set("bob")
    assert await _list(layer) == []
    assert await layer.get_thread(asked["thread"]) is None
    assert await layer.get_thread_author(asked["thread"]) == ""
    for attempt in (
        layer.delete_thread(asked["thread"]),
        layer.delete_feedback(f"{asked['thread']}.0"),
    ):
        with pytest.raises(NotFound):
            await attempt
    asker.set("ann")
    assert await layer.get_thread_author(asked["thread"]) == "ann"


async def test_a_visitor_without_a_session_sees_no_thread(kb: KnowledgeBase, layer: Any) -> None:
    asked = await _ask(kb, "ann", QUESTION)
    asker.set(None)
    with pytest.raises(NotAllowed):
        await layer.get_thread(asked["thread"])


async def test_passages_closed_to_the_asker_meanwhile_vanish_from_history(kb: KnowledgeBase, layer: Any) -> None:
    asker.set("ann")
    asked = await _ask(kb, "ann", "How often is the vault combination rotated?")
    assert "14 days" in str(await layer.get_thread(asked["thread"]))
    kb.people.database.write("DELETE FROM memberships WHERE user = 'ann'")
    assert "14 days" not in str(await layer.get_thread(asked["thread"]))


async def test_the_list_of_threads_is_paged_and_searched(kb: KnowledgeBase, layer: Any) -> None:
    from chainlit.types import Pagination, ThreadFilter

    asker.set("ann")
    threads = await kb.threads()
    for number in range(5):
        await threads.start("ann", f"Question {number}")
    titles, cursor = [], None
    while True:
        page = await layer.list_threads(Pagination(first=2, cursor=cursor), ThreadFilter())
        titles += [thread["name"] for thread in page.data]
        if not page.pageInfo.hasNextPage:
            break
        cursor = page.pageInfo.endCursor
    assert sorted(titles) == [f"Question {number}" for number in range(5)]
    assert [thread["name"] for thread in await _list(layer, search="QUESTION 3")] == ["Question 3"]


async def test_renaming_and_deleting_change_argots_store(kb: KnowledgeBase, layer: Any) -> None:
    asker.set("ann")
    asked = await _ask(kb, "ann", QUESTION)
    await layer.update_thread(asked["thread"], name="Voltages")
    assert [thread["name"] for thread in await _list(layer)] == ["Voltages"]
    await layer.update_thread(asked["thread"], metadata={"is_shared": True})
    assert (await layer.get_thread(asked["thread"]))["metadata"] == {}
    await layer.delete_thread(asked["thread"])
    assert await _list(layer) == []


async def test_thumbs_are_kept_in_argots_store_and_shown_again(kb: KnowledgeBase, layer: Any) -> None:
    from chainlit.types import Feedback

    asker.set("ann")
    asked = await _ask(kb, "ann", QUESTION)
    layer.remember_run("just given", asked["thread"], 0)
    given = await layer.upsert_feedback(Feedback(forId="just given", value=0, comment="wrong page"))
    said = (await catalogue.get_result(kb, kb.principal("ann"), "thread_read", thread=asked["thread"]))["feedback"]
    assert [(one["turn"], one["value"], one["comment"]) for one in said] == [(0, -1, "wrong page")]
    run = (await layer.get_thread(asked["thread"]))["steps"][1]
    assert run["feedback"] == {"forId": run["id"], "id": given, "value": 0, "comment": "wrong page"}
    await layer.upsert_feedback(Feedback(forId=run["id"], value=1))
    assert (await layer.get_thread(asked["thread"]))["steps"][1]["feedback"]["value"] == 1
    await layer.delete_feedback(given)
    assert "feedback" not in (await layer.get_thread(asked["thread"]))["steps"][1]
    with pytest.raises(NotFound):
        await layer.upsert_feedback(Feedback(forId="of an older page", value=1))


async def test_a_first_message_begins_one_thread_under_argots_id(kb: KnowledgeBase) -> None:
    import asyncio

    from argot.ui.chat.chat_threads import ensure_thread

    class Session:
        thread_id = "made up by Chainlit"

    asker.set("ann")
    session = Session()
    first, second = await asyncio.gather(*(ensure_thread(kb, session, "Why\ud800?") for _ in range(2)))
    assert first == second == session.thread_id
    assert [thread.title for thread in await (await kb.threads()).of("ann")] == ["Why??"]
    asker.set("bob")
    assert await ensure_thread(kb, session, "Mine") != first


async def test_a_question_asked_while_a_window_is_redrawn_waits_for_it(kb: KnowledgeBase) -> None:
    """Check a question that once came between reading and redrawing, and vanished from the window with its answer."""
    from types import SimpleNamespace

    import chainlit as cl
    from chainlit.context import init_ws_context
    from chainlit.session import WebsocketSession

    from argot.ui.chat.chat_window import ChatWindow

    thread = (await _ask(kb, "ann", QUESTION))["thread"]
    window, code, shown = ChatWindow(kb), SimpleNamespace(), list[tuple[str, Any]]()
    window.register(SimpleNamespace(code=code))
    began, reading = asyncio.Event(), asyncio.Event()

    async def emit(event: str, told: Any) -> None:
        shown.append((event, told))

    get_thread = window.layer.get_thread

    async def slowly(thread_id: str) -> Any:
        began.set()
        await reading.wait()
        return await get_thread(thread_id)

    asker.set("ann")
    session = WebsocketSession("window", "socket", emit, emit, {}, "webapp", thread_id=thread)
    init_ws_context(session)
    window.layer.get_thread = slowly  # type: ignore[method-assign]
    anew = asyncio.create_task(window._reopen())
    await began.wait()
    question = cl.Message("And during a write?", type="user_message", author="ann")
    asked = asyncio.create_task(code.on_message(question))
    await asyncio.wait([asked], timeout=0.5)
    reading.set()
    await asyncio.gather(anew, asked)
    of_question = [event == "new_message" and told["id"] == question.id for event, told in shown]
    assert of_question.index(True) > [event for event, _ in shown].index("resume_thread")
