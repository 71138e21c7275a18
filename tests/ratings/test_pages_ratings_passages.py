"""Tests of the pages for judging passages, and of the experiment on their annotations, without a browser."""

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from desk import CSRF, at_desk

from argot.evaluate.experiments.annotated_answers import load_annotated_answers
from argot.evaluate.experiments.experiment_running import ExperimentOptions, run_experiment
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

MIA, ANN = Principal("mia", frozenset({"managers"})), Principal("ann")
HOSTILE = "<script>alert(1)</script> [link](javascript:alert(1)) ![x](http://evil/x.png)"
PASSAGES = ("A late tariff filing costs 500 dollars a day.", "Trimming a drive takes about 40 seconds.", HOSTILE)
SENTENCES = ("A late filing costs 500 dollars a day.", "Trimming takes 40 seconds.", HOSTILE)
ADDRESS, MANAGE = "/ratings/study/Autumn/1", "/ratings/manage/Autumn"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        opened.people.add("ann")
        yield opened


@pytest.fixture
async def mia(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    async with at_desk(build_pages(kb), MIA) as client:
        yield client


@pytest.fixture
async def ann(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    async with at_desk(build_pages(kb), ANN) as client:
        yield client


async def make(mia: httpx.AsyncClient, kind: str) -> None:
    row = {"question": "What is it?", "passages": [{"text": one, "heading": HOSTILE} for one in PASSAGES]}
    if kind == "references":
        row["sentences"] = list(SENTENCES)
    fields = {"csrf": CSRF, "name": "Autumn", "origin": "file", "confirmed": "1", "ranking": "1", "aspects": "Tone: ?"}
    file = ("answers.jsonl", json.dumps(row).encode())
    made = await mia.post("/ratings/manage", data={**fields, "kind": kind}, files={"file": file})
    assert made.status_code == 303, made.text
    await post(mia, f"{MANAGE}/invite", people="ann")


async def post(client: httpx.AsyncClient, path: str, /, **fields: Any) -> httpx.Response:
    return await client.post(path, data={"csrf": CSRF, **fields})


def letters_of(html: str) -> dict[str, str]:
    """Return the letter of each passage, keyed by its first words."""
    found = re.findall(r'id="passage-([A-C])".*?class="laid-out[^"]*" dir="auto"><p>(.{9})', html, re.DOTALL)
    return {text: letter for letter, text in found}


def checked(html: str) -> set[str]:
    return {f"{name}={value}" for name, value in re.findall(r'name="([^"]+)" value="(\d)" checked', html)}


def assert_inert(answer: httpx.Response) -> None:
    assert answer.status_code == 200 and "unsafe" not in answer.headers["content-security-policy"]
    assert re.findall(r"<script>|\sstyle=|\son\w+=|<img src=.http|href=.(?:javascript|http)", answer.text) == []
    assert "alert(1)" in answer.text


async def test_relevance_is_marked_saved_and_counted(mia: httpx.AsyncClient, ann: httpx.AsyncClient) -> None:
    await make(mia, "passages")
    shown = await ann.get(ADDRESS)
    assert_inert(shown)
    assert "Rank of" not in shown.text and "Tone" not in shown.text
    first = letters_of(shown.text)["A late ta"]
    refused = await post(ann, ADDRESS, **{f"points-{first}-0": "1"}, go="next")
    assert refused.status_code == 400 and "say whether they are relevant" in refused.text
    assert checked((await ann.get(ADDRESS)).text) == checked(refused.text) == {f"points-{first}-0=1"}
    marks = {f"points-{letter}-0": str(int(letter == first)) for letter in "ABC"}
    saved = await post(ann, ADDRESS, **marks, go="next")
    assert saved.headers["location"] == "/ratings?done=all-rated"
    html = (await mia.get(MANAGE)).text
    assert "numbered in the order in which they were found" in html and ">0.33<" in html and ">1.00<" in html
    assert (await mia.get(f"{MANAGE}/export?form=annotated")).status_code == 400


async def test_unfinished_marks_stay_on_the_page_of_a_closed_study(
    mia: httpx.AsyncClient, ann: httpx.AsyncClient
) -> None:
    await make(mia, "passages")
    assert (await post(mia, f"{MANAGE}/close")).status_code == 303
    refused = await post(ann, ADDRESS, **{"points-A-0": "1"}, go="next")
    assert refused.status_code == 409 and "This study is closed" in refused.text
    assert checked(refused.text) == {"points-A-0=1"}


async def test_references_annotated_on_the_page_are_data_of_the_experiment(
    mia: httpx.AsyncClient, ann: httpx.AsyncClient, tmp_path: Path
) -> None:
    await make(mia, "references")
    shown = await ann.get(ADDRESS)
    assert_inert(shown)
    letters = letters_of(shown.text)
    marks = {f"points-{letters['A late ta']}-0": "1", f"points-{letters['Trimming ']}-1": "1"}
    refused = await post(ann, ADDRESS, **marks, go="next")
    assert refused.status_code == 400 and "Sentence 3 has no passage yet" in refused.text
    kept = checked((await ann.get(ADDRESS)).text)
    assert kept == checked(refused.text) == {f"{name}=1" for name in marks}
    assert (await post(ann, ADDRESS, **marks, others_none="1", go="next")).status_code == 303
    assert checked((await ann.get(ADDRESS)).text) == {*kept, "others_none=1"}

    exported = await mia.get(f"{MANAGE}/export?form=annotated")
    file = tmp_path / "annotated.jsonl"
    file.write_bytes(exported.content)
    (answer,) = load_annotated_answers(file)
    assert (answer.passages, answer.sentences) == (PASSAGES, SENTENCES)
    assert answer.annotated == (frozenset({0}), frozenset({1}), frozenset())
    options = ExperimentOptions(file)
    report, _, _ = await asyncio.to_thread(run_experiment, "trustworthy-7", options, tmp_path, Settings(), quiet)
    rows = {row["label"]: row for row in report["rows"]}
    matched = rows["Argot's matching, threshold 0.5"]
    # The third sentence stands literally in a passage on which, by her annotation, it does not rest.
    assert matched["state"] == "measured" and matched["figures"]["precision"]["mean"] == pytest.approx(2 / 3)
    assert "needs a language model" in rows["LLM"]["reason"]


def quiet(step: str, done: int, total: int) -> None:
    assert done <= total
