"""Test of the page that chooses a search strategy on a set of pairs."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import httpx
import pytest
from desk import CSRF, at_desk

from argot.evaluate.usecases import search_strategies
from argot.learn.usecases.learning_data import data_import
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.revisions import document_label
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages
from argot.work.local_jobs import LocalJobs

MIA = Principal("mia", frozenset({"managers"}))


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


@pytest.fixture
async def mia(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    async with at_desk(build_pages(kb), MIA) as client:
        yield client


def passages_of(kb: KnowledgeBase) -> list[tuple[str, str]]:
    rows = kb.document_store.database.connection().execute("SELECT id, text FROM passages ORDER BY id")
    return [(row[0], row[1]) for row in rows]


async def text_of(client: httpx.AsyncClient, path: str) -> str:
    found = await client.get(path)
    assert found.status_code == 200
    return unescape(found.text)


async def posted(client: httpx.AsyncClient, path: str, **fields: str) -> httpx.Response:
    return await client.post(path, data={"csrf": CSRF, **fields}, follow_redirects=False)


async def test_a_search_strategy_is_chosen_on_a_set_and_stored(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    page = "/workbench/strategy"
    assert "Make a set of pairs first" in await text_of(mia, page)
    given = {"document": "", "part": "validation"}
    rows = [
        {"question": text.split(".")[0][-60:], "passage_id": id_, "passage": text, "kind": kind, **given}
        for id_, text in passages_of(kb)
        for kind in ("heading", "cloze")
    ]
    await data_import(kb, MIA, name="ours", text="\n".join(map(json.dumps, rows)))
    refused = await posted(mia, page, data="ours", part="test", measure="mrr", profile="default")
    assert refused.status_code == 400 and "no question whose passage" in unescape(refused.text)
    assert (await posted(mia, page, data="ours", part="validation", measure="taste")).status_code == 400
    assert (await posted(mia, page, data="none", part="validation", measure="mrr")).status_code == 400
    assert (await posted(mia, page, data="ours", part="validation", measure="mrr")).status_code == 303
    while "every 2s" in await text_of(mia, page):  # noqa: ASYNC110  as people look
        await asyncio.sleep(0.05)
    run = await search_strategies.strategy_run(kb, MIA)
    # The vault's passage, which she may not read, was not searched for.
    assert run is not None and run.choice is not None and run.choice.questions == len(passages_of(kb)) - 1, run.error
    told = await text_of(mia, page)
    assert "7 strategies; the best ones by mrr" in told and "(present)" in told
    if not run.choice.better:
        assert (await posted(mia, f"{page}/save", name="found")).status_code == 409
    (job,) = await kb.jobs.list_jobs("strategy")
    assert isinstance(kb.jobs, LocalJobs)
    kb.jobs._jobs[job.id].changes(
        outcome=convert_to_json(replace(run.choice, better=True, switches={"weight_semantic": 2.0}))
    )
    assert (await posted(mia, f"{page}/save", name="a/b")).status_code == 400
    assert (await posted(mia, f"{page}/save", name="found")).headers["location"] == f"{page}?done=profile-saved"
    assert kb.profiles.find("found").weight_semantic == 2.0
    hal = Principal("hal", frozenset({"managers"}))
    await document_label(kb, Principal("local", sees_all=True), document="drive-tool.md", audience=["hr"])
    assert await search_strategies.strategy_run(kb, hal) is None
