"""Tests of ArgotRetriever in a LangChain chain: over a service with a key, and over a local knowledge base."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from api_site import URL, VAULT, Site, with_readers
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from argot.errors import ArgotError, InvalidSettings, NotAllowed, NotFound
from argot.service.identity.people import People
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.sqlite_database import SqliteStores
from argot.ui.api.http_client import RemoteClient
from argot.ui.api.retriever import ArgotRetriever

pytestmark = pytest.mark.asyncio(loop_scope="module")


def chain(retriever: ArgotRetriever) -> Any:
    """Build a chain that gives the retrieved passages and the question, as a prompt takes them."""
    shown = RunnableLambda(lambda found: "\n".join(f"{one.metadata['document']}: {one.page_content}" for one in found))
    return {"context": retriever | shown, "question": RunnablePassthrough()}


@pytest.fixture(scope="module")
def home(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_readers(tiny_home, tmp_path_factory.mktemp("retriever"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(home: Path) -> AsyncIterator[Site]:
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        yield Site(kb)


def over_http(site: Site, user: str, **given: Any) -> ArgotRetriever:
    retriever = ArgotRetriever(url=URL, key=site.key(user), **given)
    key = retriever.key.get_secret_value()
    retriever._client = RemoteClient(URL, key, async_transport=httpx.ASGITransport(site.guard))
    return retriever


async def test_the_retriever_works_in_a_chain_over_a_service(site: Site) -> None:
    retriever = over_http(site, "ann", k=3)
    found = await retriever.ainvoke("How do I trim a drive?")
    assert 0 < len(found) <= 3 and all(isinstance(one, Document) for one in found)
    first = found[0]
    assert "Media panel" in first.page_content and first.id == first.metadata["passage_id"]
    assert first.metadata["document"] == "drive-tool.md" and first.metadata["source"] == "test:///drive-tool.md"
    assert first.metadata["heading"].endswith("Trimming a drive") and first.metadata["page"] is None
    assert first.metadata["rank"] == 1 and isinstance(first.metadata["score"], float)
    from langchain_core.runnables import RunnableParallel

    told = await RunnableParallel(chain(retriever)).ainvoke("How much die area does PUC save?")
    assert "25 percent" in told["context"] and told["question"].startswith("How much")
    jargon = (await retriever.ainvoke("How much die area does PUC save?"))[0].metadata["jargon"]
    assert jargon and jargon[0]["term"] == "PUC"
    with pytest.raises(NotFound, match="no context"):
        await over_http(site, "ann", context="Nowhere").ainvoke("What is PUC?")


async def test_a_hidden_document_is_shown_to_its_readers_only(site: Site) -> None:
    """Check scorecard 1 for the retriever: the reader asks before and after somebody else asks the same."""
    for user in ("vera", "ann", "vera", "ann"):
        found = await over_http(site, user).ainvoke(VAULT)
        assert any("14 days" in one.page_content for one in found) == (user == "vera")


async def test_an_invalid_key_or_address_is_refused(site: Site) -> None:
    retriever = over_http(site, "ann")
    retriever._client = RemoteClient(URL, "argot_nothing", async_transport=httpx.ASGITransport(site.guard))
    with pytest.raises(NotAllowed, match="argot key add NAME"):
        await retriever.ainvoke("What is PUC?")
    with pytest.raises(InvalidSettings, match="Invalid service address"):
        ArgotRetriever(url="argot.example.com", key="argot_x").invoke("What is PUC?")
    with pytest.raises(InvalidSettings, match="no key"):
        ArgotRetriever(url="http://argot.example.com").invoke("What is PUC?")
    with pytest.raises(ValueError, match="either url and key, or home"):
        ArgotRetriever(url=URL, home=Path("kb"))
    assert "argot_x" not in repr(ArgotRetriever(url=URL, key="argot_x"))


async def test_the_retriever_works_over_a_local_knowledge_base(tiny_home: Path, tmp_path: Path) -> None:
    from langchain_core.runnables import RunnableParallel

    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    people = People(SqliteStores(home))
    people.add("ann")
    people.close()
    retriever = ArgotRetriever(home=home, as_user="ann")
    try:
        told = RunnableParallel(chain(retriever)).invoke("How do I trim a drive?")
        assert "Media panel" in told["context"]
        assert not any("14 days" in one.page_content for one in await retriever.ainvoke(VAULT))
    finally:
        retriever.close()
    owner = ArgotRetriever(home=home)
    try:
        assert any("14 days" in one.page_content for one in owner.invoke(VAULT)), "the person here reads everything"
    finally:
        owner.close()


async def test_the_retriever_sends_the_same_without_an_event_loop() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"query": "q", "jargon": [], "context": None, "notes": [], "passages": []})

    retriever = ArgotRetriever(url=f"{URL}/", key="argot_x", k=7, document_tags=["it"])
    retriever._client = RemoteClient(retriever.url, "argot_x", transport=httpx.MockTransport(answer))
    assert retriever.invoke("What is PUC?") == []
    assert str(seen[0].url) == f"{URL}/api/search" and seen[0].headers["authorization"] == "Bearer argot_x"
    assert seen[0].read() == b'{"query":"What is PUC?","limit":7,"tags":["it"]}'
    down = httpx.MockTransport(lambda request: httpx.Response(502, text="<html>"))
    retriever._client = RemoteClient(URL, "argot_x", transport=down)
    with pytest.raises(ArgotError, match="answered with status 502"):
        retriever.invoke("What is PUC?")
