"""Test of the workbench's page Evaluate."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx
import pytest
from desk import CSRF, at_desk

from argot.evaluate.usecases.set_evaluations import evaluation_compare, evaluation_list
from argot.learn.usecases.learning_data import data_import
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.revisions import document_label
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

MIA, ANN = Principal("mia", frozenset({"managers"})), Principal("ann")
PAGE = "/workbench/evaluate"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


@pytest.fixture
async def mia(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    async with at_desk(build_pages(kb), MIA) as client:
        yield client


async def text_of(client: httpx.AsyncClient, path: str = PAGE) -> str:
    found = await client.get(path)
    assert found.status_code == 200
    return unescape(found.text)


async def posted(client: httpx.AsyncClient, path: str = PAGE, **fields: str) -> httpx.Response:
    return await client.post(path, data={"csrf": CSRF, **fields}, follow_redirects=False)


async def evaluated(client: httpx.AsyncClient, of: str, **fields: str) -> str:
    """Start an evaluation on the page, and return the page once it is done."""
    begun = await posted(client, data="ours", part="test", of=of, **fields)
    assert begun.status_code == 303, unescape(begun.text)
    async with asyncio.timeout(120):
        while "every 2s" in (page := await text_of(client)):  # noqa: ASYNC110  as people look
            await asyncio.sleep(0.05)
    return page


async def import_pairs(kb: KnowledgeBase) -> int:
    rows = kb.document_store.database.connection().execute("SELECT id, text FROM passages ORDER BY id").fetchall()
    pairs = [
        {"question": f"What about {text.split('.')[0][-60:]}?", "answer": text.split(".")[0] + ".", "document": ""}
        | {"passage_id": id_, "passage": text, "kind": "heading", "part": "test"}
        for id_, text in rows
    ]
    await data_import(kb, MIA, name="ours", text="\n".join(map(json.dumps, pairs)))
    return len(rows)


async def test_evaluations_are_started_watched_and_compared(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    assert "Make a set of pairs first" in await text_of(mia)
    passages = await import_pairs(kb)
    for wrong in ({"part": "validation"}, {"of": "taste"}, {"limit": "some"}, {"data": "none"}, {"judge": "yes"}):
        given = {"data": "ours", "part": "test", "of": "retrieval", **wrong}
        assert (await posted(mia, **given)).status_code in (400, 404), wrong
    first = await evaluated(mia, "retrieval")
    # The vault's passage, which she may not read, is not asked for.
    assert f"{passages - 1} questions" in first and "ndcg@10" in first
    await evaluated(mia, "retrieval", profile="strict")
    answers = await evaluated(mia, "answers", limit="2")
    assert "without a language model" in answers and "first citation right" in answers
    e3, e2, e1 = await evaluation_list(kb, MIA)
    assert (e3.of, e3.questions, e2.profile) == ("answers", 2, "strict")
    compared = await text_of(mia, f"{PAGE}/compare?run={e2.id}&run={e1.id}")
    assert f"Compared with {e1.id}" in compared and "Won, lost" in compared
    (_, beside) = await evaluation_compare(kb, MIA, evaluations=[e1.id, e2.id])
    change = next(one for one in beside.changes if one.measure == "ndcg@10")
    assert change.questions == passages - 1 and change.gain == pytest.approx(change.second - change.first)
    assert "share no question and measure" in unescape((await mia.get(f"{PAGE}/compare?run={e3.id}&run={e1.id}")).text)
    assert "Select two evaluations" in unescape((await mia.get(f"{PAGE}/compare?run={e1.id}")).text)
    assert (await posted(mia, f"{PAGE}/{e3.id}/remove")).status_code == 303
    assert [one.id for one in await evaluation_list(kb, MIA)] == [e2.id, e1.id]


async def test_evaluations_are_visible_to_those_who_may_see_the_set(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    await import_pairs(kb)
    await evaluated(mia, "retrieval")
    (one,) = await evaluation_list(kb, MIA)
    hal = Principal("hal", frozenset({"managers"}))
    await document_label(kb, Principal("local", sees_all=True), document="drive-tool.md", audience=["hr"])
    assert await evaluation_list(kb, hal) == []
    async with at_desk(build_pages(kb), hal) as client:
        assert one.id not in await text_of(client)
        assert (await posted(client, f"{PAGE}/{one.id}/remove")).status_code == 404
        assert (await client.get(f"{PAGE}/compare?run={one.id}&run=e0009")).status_code == 404
    async with at_desk(build_pages(kb), ANN) as client:
        assert (await client.get(PAGE)).status_code == 403
