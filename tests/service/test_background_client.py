"""Tests of the client for programs other than commands: concurrent and cancelled calls, and how they are counted."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from api_site import URL, Site
from mcp.shared.memory import create_connected_server_and_client_session

from argot.errors import NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.observability.metrics import Metrics
from argot.service.transport.background_base import BackgroundClient
from argot.service.transport.local_socket import serve_socket
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.ui.api.http_client import RemoteClient
from argot.ui.api.mcp_server import AGENT, build_server, choose_client

pytestmark = pytest.mark.asyncio(loop_scope="module")
HANGS = 120
"""Seconds after which something is taken to hang; no measure of anything."""
TRIM = {"messages": [{"role": "user", "content": "How do I trim a drive?"}]}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kb(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("background") / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as kb, serve_socket(kb):
        kb.people.add("ann")
        kb.metrics = Metrics()
        yield kb


def asked(kb: KnowledgeBase, surface: str) -> float:
    assert kb.metrics
    counted = kb.metrics.registry.get_sample_value("argot_questions_total", {"surface": surface, "status": "answered"})
    return counted or 0.0


async def test_questions_of_an_assistant_are_counted_separately(kb: KnowledgeBase) -> None:
    before = asked(kb, "mcp"), asked(kb, "command"), asked(kb, "openai")
    calls = choose_client(Settings(home=kb.home), "ann")
    try:
        assert (await calls.acall("converse", **TRIM))["answer"]
    finally:
        await asyncio.to_thread(calls.close)
    remote = RemoteClient(URL, Site(kb).key(), agent=AGENT, async_transport=httpx.ASGITransport(Site(kb).guard))
    assert (await remote.acall("converse", **TRIM))["text"]
    assert (asked(kb, "mcp"), asked(kb, "command"), asked(kb, "openai")) == (before[0] + 2, before[1], before[2])


async def test_calls_run_concurrently_and_a_cancelled_call_is_stopped(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    two, stopped = asyncio.Event(), asyncio.Event()

    async def slow(kb: Any, principal: Any, name: str, parameters: Any) -> AsyncIterator[Any]:
        begun.append(name)
        if len(begun) == 2:
            two.set()
        try:
            await asyncio.sleep(HANGS)
            yield {"kind": "result", "data": None}
        finally:
            stopped.set()

    monkeypatch.setattr(catalogue, "dispatch", slow)
    calls = BackgroundClient(kb.home, kb.settings, "ann")
    first, second = (asyncio.ensure_future(calls.acall("search", query=text)) for text in ("a", "b"))
    await asyncio.wait_for(two.wait(), HANGS / 2)
    first.cancel()
    await asyncio.wait_for(stopped.wait(), HANGS / 2)
    assert not second.done()
    monkeypatch.undo()
    assert (await calls.acall("glossary_term", term="PUC"))["senses"]
    await asyncio.to_thread(calls.close)
    assert isinstance((await asyncio.gather(second, return_exceptions=True))[0], asyncio.CancelledError)


async def test_a_client_that_owns_the_base_answers_several_calls_and_closes_it(tiny_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    calls = BackgroundClient(home, Settings(home=home))
    try:
        found = await asyncio.gather(*(calls.acall("glossary_term", term=term) for term in ("PUC", "WL", "PUC")))
        assert [bool(one["senses"]) for one in found] == [True] * 3
        assert (await asyncio.to_thread(calls.call, "glossary_term", term="PUC"))["senses"]
        with pytest.raises(NotFound):
            await calls.acall("show", document="nothing")
    finally:
        await asyncio.to_thread(calls.close)
    async with KnowledgeBase.open(home, Settings(home=home)):
        pass


async def test_a_meaning_that_was_not_offered_is_refused(kb: KnowledgeBase) -> None:
    remote = RemoteClient(URL, Site(kb).key(), async_transport=httpx.ASGITransport(Site(kb).guard))
    async with create_connected_server_and_client_session(build_server(remote)) as session:
        for meaning, failed in (("banana split", True), ("7", True), ("the legal one", False), ("2", False)):
            done = await session.call_tool("ask", {"question": "What is PUC?", "meaning": meaning})
            told = "".join(part.text for part in done.content if part.type == "text")
            assert bool(done.isError) == failed, (meaning, told)
            assert not failed or "Public Utilities Commission" in told
