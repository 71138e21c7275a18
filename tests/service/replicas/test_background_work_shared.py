"""Work that a person begins at one of two services on one PostgreSQL is known at the other, and done once."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from chroma_server import ChromaRun
from postgresql_server import PostgresqlServer
from tiny_base import TINY_DOCUMENTS

from argot.errors import Conflict
from argot.evaluate.usecases.search_strategies import StrategyQuestion, strategy_run, strategy_start
from argot.learn.store.pair_store import PairStore
from argot.learn.usecases.learning_data import data_import
from argot.learn.usecases.learning_data_making import data_start
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.service.usecases.glossary.mining import glossary_mine_start, glossary_mined
from argot.service.usecases.questions.conversations import search
from argot.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOCAL = make_local_principal()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def services(
    postgresql_server: PostgresqlServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[KnowledgeBase, KnowledgeBase]]:
    folder = tmp_path_factory.mktemp("services")
    with postgresql_server.database() as url, ChromaRun(folder) as chroma:

        def settings(name: str) -> Settings:
            return Settings(home=folder / name, store=url, chroma_url=chroma.url)

        for name, text in TINY_DOCUMENTS.items():
            (folder / name).write_text(text)
        one, other = settings("one"), settings("other")
        async with KnowledgeBase.open(one.home, one, create=True) as first:
            paths: list[Any] = [str(folder / name) for name in TINY_DOCUMENTS]
            await catalogue.get_result(first, LOCAL, "add", paths=paths)
            async with KnowledgeBase.open(other.home, other, create=True) as second:
                yield first, second


async def test_mining_begun_at_one_is_seen_at_the_other(services: tuple[KnowledgeBase, KnowledgeBase]) -> None:
    one, other = services
    await glossary_mine_start(one, LOCAL)
    assert (await glossary_mined(other, LOCAL)).state != "idle"


async def test_a_set_that_one_makes_is_not_made_by_the_other_too(
    services: tuple[KnowledgeBase, KnowledgeBase], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = services
    storing, go_on = asyncio.Event(), asyncio.Event()
    loop, add = asyncio.get_running_loop(), one.open_store(PairStore).add

    def add_later(*args: Any, **given: Any) -> Any:
        loop.call_soon_threadsafe(storing.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(300)
        return add(*args, **given)

    monkeypatch.setattr(one.open_store(PairStore), "add", add_later)
    await data_start(one, LOCAL, name="made")
    await asyncio.wait_for(storing.wait(), 300)
    try:
        with pytest.raises(Conflict):
            await data_start(other, LOCAL, name="made")
    finally:
        go_on.set()


async def test_a_choice_of_strategy_begun_at_one_is_seen_at_the_other(
    services: tuple[KnowledgeBase, KnowledgeBase],
) -> None:
    one, other = services
    found = (await search(one, LOCAL, query="What does a late tariff filing cost?")).passages
    pairs = [
        {"question": f"Which {number} words are these?", "passage_id": passage.passage_id, "passage": passage.text,
         "document": passage.document, "kind": "k", "part": "validation"}
        for number, passage in enumerate(found * 10)
    ]  # fmt: skip
    await data_import(one, LOCAL, name="numbers", text="\n".join(map(json.dumps, pairs)))
    await strategy_start(one, LOCAL, asked=StrategyQuestion(data="numbers"))
    assert await strategy_run(other, LOCAL) is not None
