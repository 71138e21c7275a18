"""A tool of another server through a service: the source, who may open it, and what is recorded of the call."""

import json
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tool_server import ToolServerScript, serving_tools

from argot.errors import NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.tool_servers import format_server_tools
from argot.service.usecases import catalogue
from argot.service.usecases.documents.documents import read_passage
from argot.service.usecases.documents.pictures import passage_pictures
from argot.service.usecases.questions.questions import ask
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.slack.app.block_kit import MessageContext, render_messages
from argot.types import Principal
from argot.ui.rendering.chat_markdown import view_result
from argot.ui.rendering.message_markdown import format_message
from argot.ui.rendering.source_addresses import PASSAGES, parse_source

ANN, EVE = Principal("ann", frozenset({"support"})), Principal("eve", frozenset({"support"}))
QUESTION = "What is the state of the boiler ticket?"
OPEN = "The boiler ticket has been open since Monday."
LABEL = "result of the tool find_ticket of tickets, "


@pytest.fixture(scope="module")
def tickets() -> Iterator[ToolServerScript]:
    with serving_tools() as script:
        script.reply = OPEN
        yield script


def call(tool: str, first: str = "", second: str = "", *passages: int) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "first": first, "second": second, "passages": list(passages)}]}


def find_number(request: Any) -> int:
    found = re.search(rf'<passage n="(\d+)"[^>]*>\n{OPEN}', request.user)
    return int(found[1]) if found else 0


def gather(request: Any) -> dict[str, Any]:
    if number := find_number(request):
        return call("answered", "", "", number)
    return call("ask_server", "tickets.find_ticket", '{"query": "boiler"}')


@pytest.fixture
async def kb(
    tiny_home: Path, tmp_path: Path, scripted_model: Any, tickets: ToolServerScript
) -> AsyncIterator[KnowledgeBase]:
    home, file = shutil.copytree(tiny_home, tmp_path / "kb"), tmp_path / "servers.toml"
    scripted_model.context = 16_384
    scripted_model.reply("plan_research", {"sub_questions": [QUESTION], "compared": []})
    scripted_model.reply("research", gather)
    scripted_model.reply("cited_answer", lambda request: f"{OPEN[:-1]} [{find_number(request)}].")
    settings = scripted_model.settings(home=home, mcp_servers=file, audit_file=tmp_path / "audit.jsonl")
    head = f'[tickets]\nurl = "{tickets.url}"\ngroups = ["support"]\n'
    file.write_text(head)
    file.write_text(f"{head}\n{_list_tools(settings)}\n")
    async with KnowledgeBase.open(home, settings) as opened:
        yield opened


def _list_tools(settings: Settings) -> str:
    """List them in a thread: a loop is running here."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(format_server_tools, settings, "tickets").result()


async def test_a_result_is_opened_by_its_asker_alone_and_recorded_by_name(kb: KnowledgeBase, tmp_path: Path) -> None:
    result = await get_answer(ask(kb, ANN, question=QUESTION, effort="thorough"))
    assert (result.status, result.answer) == ("answered", OPEN), result
    (source,) = result.cited_passages
    shown = await read_passage(kb, ANN, passage_id=source.passage_id)
    assert shown.text == OPEN and shown.document.startswith(LABEL)
    opened = parse_source(f"{PASSAGES}/{source.passage_id}?span=0-12")
    assert opened and opened.passage_id == source.passage_id  # the window's side panel accepts the address
    assert await passage_pictures(kb, ANN, passage_id=source.passage_id) == []
    for other in (EVE, Principal("ann"), Principal("root", sees_all=True)):
        with pytest.raises(NotFound):
            await read_passage(kb, other, passage_id=source.passage_id)
    with pytest.raises(NotFound):
        await read_passage(kb, ANN, passage_id=source.passage_id[:-1] + "7")
    told = (
        format_message(result, "https://argot.example.com"),
        view_result(result).content,
        json.dumps(render_messages(result, MessageContext("https://argot.example.com"))),
    )
    assert all(LABEL in text.replace("\\", "") for text in told)
    events = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text("utf-8").splitlines()]
    (event,) = [one for one in events if one["api"]["operation"] == "ask_server"]
    assert event["resources"] == [{"type": "tool of another server", "uid": "tickets", "name": "find_ticket"}]
    assert event["actor"]["user"]["name"] == "ann" and "boiler" not in json.dumps(event)


async def test_a_normal_answer_asks_no_other_server(kb: KnowledgeBase, tickets: ToolServerScript) -> None:
    tickets.calls.clear()
    result = await get_answer(ask(kb, ANN, question=QUESTION))
    assert result.tool_calls == [] and tickets.calls == []


async def test_a_rating_study_asks_no_other_server(kb: KnowledgeBase, tickets: ToolServerScript) -> None:
    mia = Principal("mia", frozenset({"managers", "support"}))
    tickets.calls.clear()
    await catalogue.get_result(kb, mia, "profile_save", name="deep", toml='effort = "thorough"')
    given = {"name": "Ways", "questions": QUESTION, "profiles": ["default", "deep"]}
    await catalogue.get_result(kb, mia, "rating_create_asked", **given)
    await catalogue.get_result(kb, mia, "rating_ask", study="Ways")
    assert tickets.calls == []
