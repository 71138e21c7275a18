"""Tests of the page of verified answers, its form, and what the other surfaces show of a verified answer."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from desk import CSRF, at_desk

from argot.results import AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import remove
from argot.service.usecases.questions.questions import ask
from argot.service.usecases.questions.verified_answers import verified_add, verified_list
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.slack.app.block_kit import MessageContext, render_messages
from argot.types import Principal
from argot.ui.api.usecase_routes import build_usecase_routes
from argot.ui.chat.sharing import Sharing
from argot.ui.cli.terminal_answer import print_turn
from argot.ui.pages.page_routes import build_pages
from argot.ui.rendering.answer_path import describe_path
from argot.ui.rendering.chat_buttons import VERIFY, make_answer_buttons
from argot.ui.rendering.chat_markdown import view_result
from argot.ui.rendering.message_markdown import format_message
from argot.ui.rendering.verified_links import link_verification

MONA, OLGA = Principal("mona", frozenset({"managers"})), Principal("olga")
TRIM = "How long does trimming a drive take?"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


@pytest.fixture
async def mona(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    async with at_desk(build_pages(kb), MONA) as client:
        yield client


async def asked(kb: KnowledgeBase, who: Principal) -> AskResult:
    return await get_answer(ask(kb, who, question=TRIM))


async def test_a_manager_edits_verifies_and_drops(kb: KnowledgeBase, mona: httpx.AsyncClient) -> None:
    assert "no verified answer" in (await mona.get("/verified")).text
    found = await asked(kb, MONA)
    form = (await mona.get(f"/verified/new?thread={found.thread}&turn=0")).text
    assert TRIM in form and "40 seconds" in form
    place = {"csrf": CSRF, "thread": found.thread, "turn": "0"}
    wrong = await mona.post("/verified/new", data={**place, "text": "It takes <b>90</b> seconds."})
    assert wrong.status_code == 400 and "It takes &lt;b&gt;90&lt;/b&gt; seconds." in wrong.text
    done = await mona.post("/verified/new", data={**place, "text": "Trimming a drive takes about 40 seconds."})
    assert done.status_code == 303
    (made,) = await verified_list(kb, MONA)
    shown = (await mona.get(done.headers["location"])).text
    assert "It is given first" in shown and "drive-tool.md" in shown and "verified by <bdi>mona</bdi>" in shown
    assert "Verify again" not in shown
    document = next(one for one in kb.document_store.documents(MONA) if one.name == "drive-tool.md")
    await remove(kb, MONA, document=document.id)
    expired = (await mona.get("/verified")).text
    assert "“drive-tool.md” was removed." in expired and "Verify again" in expired
    refused = await mona.post(f"/verified/{made.id}/renew", data={"csrf": CSRF, "text": "It takes 40 seconds."})
    assert refused.status_code == 400 and "No passage supports" in refused.text
    assert (await mona.post(f"/verified/{made.id}/drop", data={"csrf": CSRF})).status_code == 303
    assert (await mona.post(f"/verified/{made.id}/drop", data={"csrf": CSRF})).status_code == 404
    assert await verified_list(kb, MONA) == []


async def test_askers_have_no_such_page(kb: KnowledgeBase) -> None:
    async with at_desk(build_pages(kb), OLGA) as olga:
        assert (await olga.get("/verified")).status_code == 403
        assert 'href="/verified"' not in (await olga.get("/terms")).text


async def test_every_surface_says_who_verified_it(kb: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    first = await asked(kb, MONA)
    await verified_add(kb, MONA, thread=first.thread, turn=first.turn)
    given = await asked(kb, OLGA)
    note = f"This answer was verified by mona on {given.verified.at[:10] if given.verified else ''}."
    print_turn(given)
    spoken = (
        view_result(given).content.replace("\\", ""),
        json.dumps(render_messages(given, MessageContext())),
        format_message(given).replace("\u2060", ""),
        capsys.readouterr().out,
    )
    for text in spoken:
        assert note in text and "40 seconds" in text, text
        assert "Written by the language model" not in text
    assert not any("came closest" in line for line in describe_path(given))
    german = given.model_copy(update={"question": "Wie lange dauert das Trimmen eines Laufwerks?"})
    assert "40 seconds" in view_result(german).content


async def test_the_window_offers_it_to_managers_alone(kb: KnowledgeBase) -> None:
    def offered(who: Principal, result: AskResult) -> list[str]:
        return [one.name for one in Sharing(kb).make_buttons(who, result)]

    found = await asked(kb, MONA)
    assert VERIFY in offered(MONA, found) and VERIFY not in offered(OLGA, found)
    assert VERIFY not in offered(MONA, found.model_copy(update={"status": "abstained"}))
    assert [one.payload for one in make_answer_buttons(verifiable=3)][-1] == {"turn": 3}
    assert "/verified/new?thread=t%2F1&turn=2" in link_verification("t/1", 2)


async def test_programs_verify_list_and_drop(kb: KnowledgeBase) -> None:
    found = await asked(kb, MONA)
    async with at_desk(build_usecase_routes(kb), MONA) as client:
        headers = {"X-CSRF-Token": CSRF}
        turn = f"/api/threads/{found.thread}/turns/0"
        assert (await client.get(f"{turn}/draft")).json()["question"] == TRIM
        made = (await client.post(f"{turn}/verify", json={}, headers=headers)).json()
        assert [one["id"] for one in (await client.get("/api/verified")).json()] == [made["id"]]
        assert (await client.get("/api/verified?expired=true")).json() == []
        renewed = await client.post(f"/api/verified/{made['id']}/renew", json={}, headers=headers)
        assert renewed.json()["question"] == TRIM
        assert (await client.delete(f"/api/verified/{made['id']}", headers=headers)).json()["expired"] == []
        assert (await client.get("/api/verified")).json() == []
