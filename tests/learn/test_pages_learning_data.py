"""Tests of the training data pages, with hostile documents and input, without a browser."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx
import pytest
from desk import CSRF, at_desk

from argot.learn.usecases.learning_data import data_import, data_show
from argot.learn.usecases.learning_data_results import DataFound
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

ADMIN = Principal("ada", sees_all=True)
LEO = Principal("leo", frozenset({"managers"}))
HOSTILE = '<img src=x onerror=alert(1)>"><script>alert(1)</script> {{ 7777 * 7777 }}'
DATA = "/workbench/data"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = await asyncio.to_thread(shutil.copytree, tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


@pytest.fixture
async def ada(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    async with at_desk(build_pages(kb), ADMIN) as client:
        yield client


async def post(client: httpx.AsyncClient, path: str, **fields: str) -> httpx.Response:
    return await client.post(f"{DATA}{path}", data={"csrf": CSRF, **fields}, follow_redirects=False)


async def imported(kb: KnowledgeBase, count: int = 1, audience: list[str] | None = None) -> None:
    def row(number: int) -> dict[str, str]:
        question, id_ = f"How hot is oven {number}? {HOSTILE}", f"p{number}"
        passage = f"Oven {number} is hot. {HOSTILE}"
        return {"question": question, "passage_id": id_, "passage": passage, "document": HOSTILE, "kind": "ovens",
                "part": "train", "answer": HOSTILE}  # fmt: skip

    text = "".join(json.dumps(row(number)) + "\n" for number in range(count))
    await data_import(kb, ADMIN, name="ovens", text=text, audience=audience)


async def shown(kb: KnowledgeBase) -> DataFound:
    return await data_show(kb, ADMIN, name="ovens")


async def test_a_set_is_made_from_the_page(kb: KnowledgeBase, ada: httpx.AsyncClient) -> None:
    assert "There is no set yet" in (await ada.get(DATA)).text
    refused = await post(ada, "", name="Not a name")
    assert refused.status_code == 400 and 'value="Not a name"' in refused.text
    assert (await post(ada, "", name="ours", kind="poems")).status_code == 400
    made = await post(ada, "", name="ours", kind="heading", limit="3")
    assert made.headers["location"] == f"{DATA}/ours?done=data-making"
    while "Being made" in (page := (await ada.get(f"{DATA}/ours")).text):  # noqa: ASYNC110  as people look
        await asyncio.sleep(0.05)
    assert "3 pairs kept" in page and "See it in the document" in page
    assert 'href="/workbench/train/embedder?data=ours"' in page
    address = re.search(r'href="(/documents/[^"]+)">See it', page)
    assert address and (await ada.get(unescape(address[1]))).status_code == 200
    assert (await post(ada, "", name="ours")).status_code == 409


async def test_pairs_are_found_struck_corrected_and_restored_on_the_page(
    kb: KnowledgeBase, ada: httpx.AsyncClient
) -> None:
    await imported(kb, 30)
    first = (await shown(kb)).pairs[0].id
    page = (await ada.get(f"{DATA}/ovens", params={"words": "oven", "start": "25"})).text
    assert "26 to 30 of 30" in page and "?words=oven" in page
    (action,) = re.findall(
        rf'action="({DATA}/ovens/{first}/strike[^"]*)"', (await ada.get(f"{DATA}/ovens?words=hot")).text
    )
    struck = await ada.post(unescape(action), data={"csrf": CSRF}, follow_redirects=False)
    assert struck.headers["location"] == f"{DATA}/ovens?words=hot&done=data-struck#p{first}"
    assert (await shown(kb)).set.struck == 1
    assert "1 pair " in (await ada.get(f"{DATA}/ovens?state=struck")).text
    await post(ada, f"/ovens/{first}/restore")
    await post(ada, f"/ovens/{first}/correct", question="How hot?", answer="")
    corrected = (await shown(kb)).pairs[0]
    assert (corrected.question, corrected.answer, corrected.changed_by) == ("How hot?", "", "ada")
    refused = await post(ada, f"/ovens/{first}/correct", question=" ", answer=HOSTILE)
    assert refused.status_code == 400 and "needs a question" in refused.text
    assert (await post(ada, "/ovens/nothing/strike")).status_code == 404
    exported = await ada.get(f"{DATA}/ovens/pairs.jsonl")
    assert "attachment" in exported.headers["content-disposition"] and len(exported.text.splitlines()) == 30
    assert (await post(ada, "/ovens/remove")).headers["location"] == f"{DATA}?done=data-removed"


async def test_the_text_of_pairs_is_escaped_on_the_page(kb: KnowledgeBase, ada: httpx.AsyncClient) -> None:
    await imported(kb)
    for path in (DATA, f"{DATA}/ovens", f"{DATA}/ovens?words=<script>alert(1)</script>&start=-1&part=x&state=y"):
        answer = await ada.get(path)
        assert answer.status_code == 200
        assert re.findall(r"<style|\sstyle=|<script>|<img src=x|\son\w+=\"|https?://|60481729", answer.text) == []
        for form in re.findall(r'<form[^>]*method="post".*?</form>', answer.text, re.DOTALL):
            assert f'name="csrf" value="{CSRF}"' in form


async def test_a_set_is_hidden_from_those_who_may_not_see_it(kb: KnowledgeBase, ada: httpx.AsyncClient) -> None:
    await imported(kb, audience=["hr"])
    async with at_desk(build_pages(kb), LEO) as leo:
        assert "ovens" not in (await leo.get(DATA)).text
        for path in ("/ovens", "/ovens/pairs.jsonl"):
            assert (await leo.get(f"{DATA}{path}")).status_code == 404
        assert (await post(leo, "/ovens/remove")).status_code == 404
    async with at_desk(build_pages(kb), Principal("ann")) as ann:
        assert (await ann.get(DATA)).status_code in (303, 403)
