"""Tests of one Start: a tuning goes from documents to measured models, and goes on where it was stopped or killed."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from desk import CSRF, at_desk
from tiny_reader import tiny_embedder

from argot.errors import Conflict, InvalidInput, InvalidSettings, NotFound
from argot.learn.run_folder import RunFolder, RunState
from argot.learn.tuning_plan import find_plan, save_plan
from argot.learn.usecases.learning_data import data_import, data_remove
from argot.learn.usecases.learning_data_making import DataRecipe
from argot.learn.usecases.training_queue import get_runs_folder
from argot.learn.usecases.training_runs import training_remove
from argot.learn.usecases.tuning_progress import tune_waiting
from argot.learn.usecases.tuning_stages import TuningView
from argot.learn.usecases.tunings import (
    ModelsToTune,
    tuning_list,
    tuning_remove,
    tuning_resume,
    tuning_show,
    tuning_start,
    tuning_stop,
)
from argot.service.knowledge_base import KnowledgeBase
from argot.service.storage.kept_members import list_kept_members
from argot.service.usecases.documents.documents import add
from argot.service.usecases.usecase_registry import get_outcome
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

ADMIN = Principal("local", sees_all=True)
MIA = Principal("mia", frozenset({"managers"}))
PARTS = ("train",) * 8 + ("validation", "test")
FIGURE = {"difference": 0.05, "interval95": [0.02, 0.08], "questions": 40}
CARD = {
    "figures": {
        part: {"means": {}, "differences": {"after against before": {"map@10": FIGURE}}}
        for part in ("validation", "test")
    }
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_embedder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a knowledge base whose documents give enough pairs by rules."""
    home = tmp_path_factory.mktemp("filled") / "kb"
    folder = home.parent / "valves"
    folder.mkdir()
    for n in range(90):
        text = f"A valve{n} is a small part number {n} of the plant that opens before the main part does at night."
        (folder / f"valve{n}.md").write_text(f"# Testing the valve{n}\n\n{text}\n")

    async def fill() -> None:
        async with KnowledgeBase.open(home, Settings(home=home, threads=1), create=True) as kb:
            await get_outcome(add(kb, ADMIN, paths=[str(folder)], tags=["plant"]))

    asyncio.run(fill())
    return home


@pytest.fixture
async def kb(filled: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(filled, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home, threads=1)) as opened:
        yield opened


async def start(kb: KnowledgeBase, model: Path, *models: Any, who: Principal = ADMIN, **recipe: Any) -> TuningView:
    kinds = list(models or ("embedder",))
    tuned = ModelsToTune(models=kinds, bases=dict.fromkeys(kinds, str(model)))
    return await tuning_start(kb, who, name="ours", tuned=tuned, recipe=DataRecipe(**recipe))


async def until(kb: KnowledgeBase, id_: str, stage: str, *status: str) -> TuningView:
    """Do what the service does, until a stage has this status."""
    async with asyncio.timeout(120):
        while True:
            found = await tuning_show(kb, ADMIN, tuning=id_)
            if found.status == "failed" or any(one.name == stage and one.status in status for one in found.stages):
                return found
            await tune_waiting(kb)
            await asyncio.sleep(0.05)


def finish(kb: KnowledgeBase, run_id: str) -> None:
    """Write what a training leaves."""
    run = RunFolder(get_runs_folder(kb.home) / run_id)
    run.keep_card(CARD)
    run.note(RunState("done", "", 5, 5))


async def test_one_start_makes_pairs_and_trains_one_model_after_the_other(kb: KnowledgeBase, model: Path) -> None:
    begun = await start(kb, model, "reranker", "embedder", tags=["plant"])
    assert (begun.id, begun.kinds, begun.status) == ("t0001", ["embedder", "reranker"], "running")
    found = await until(kb, begun.id, "embedder", "waiting")
    pairs, embedder, reranker = found.stages
    assert (pairs.status, embedder.run, reranker.status) == ("done", "r0001", "to come") and found.pairs > 90
    finish(kb, "r0001")
    found = await until(kb, begun.id, "reranker", "waiting")
    assert found.stages[1].is_offered and found.stages[1].test is not None and found.stages[1].test.gain == 0.05
    finish(kb, "r0002")
    await tune_waiting(kb)
    (found,) = await tuning_list(kb, ADMIN)
    assert found.status == "done" and not any(one.in_force for one in found.stages)
    assert "learning/tunings/t0001.json" in list(list_kept_members(kb.home))
    with pytest.raises(Conflict, match="is done"):
        await tuning_resume(kb, ADMIN, tuning=begun.id)
    # A finished set is used as it is, and the number of a removed tuning is not given again.
    await tuning_remove(kb, ADMIN, tuning=begun.id)
    again = await start(kb, model)
    assert (again.id, again.stages[0].status, again.stages[1].run) == ("t0002", "done", "r0003")


async def test_after_a_kill_at_any_stage_it_goes_on_there(kb: KnowledgeBase, model: Path) -> None:
    begun = await start(kb, model, "embedder", "reranker")
    await kb.jobs.close()  # as a kill: nothing is noted of it
    home = kb.home

    async def reopened(kept: KnowledgeBase) -> KnowledgeBase:
        await kept.close()
        return await KnowledgeBase.open(home, Settings(home=home, threads=1)).__aenter__()

    other = await reopened(kb)
    try:
        found = await until(other, begun.id, "embedder", "waiting")
        assert found.stages[0].status == "done"
        # Killed just after the training was begun: it is found by what it says, not begun again.
        other = await reopened(other)
        assert (await until(other, begun.id, "embedder", "waiting")).stages[1].run == "r0001"
        run = RunFolder(get_runs_folder(home) / "r0001")
        run.note(RunState("running", "training", 2, 9))  # its process is gone
        await tune_waiting(other)
        found = await tuning_show(other, ADMIN, tuning=begun.id)
        assert (found.status, found.stages[1].status) == ("running", "waiting")
        finish(other, "r0001")
        other = await reopened(other)
        assert (await until(other, begun.id, "reranker", "waiting")).stages[2].run == "r0002"
    finally:
        await other.close()


async def test_it_is_stopped_and_resumed_at_each_stage(kb: KnowledgeBase, model: Path) -> None:
    begun = await start(kb, model)
    stopped = await tuning_stop(kb, ADMIN, tuning=begun.id)
    assert stopped.status == "stopped"
    await tune_waiting(kb)
    with pytest.raises(Conflict, match="is stopped already"):
        await tuning_stop(kb, ADMIN, tuning=begun.id)
    await tuning_resume(kb, ADMIN, tuning=begun.id)
    await until(kb, begun.id, "embedder", "waiting")
    stopped = await tuning_stop(kb, ADMIN, tuning=begun.id)
    assert [one.status for one in stopped.stages] == ["done", "stopped"]
    resumed = await tuning_resume(kb, ADMIN, tuning=begun.id)
    assert [one.status for one in resumed.stages] == ["done", "waiting"]
    run = RunFolder(get_runs_folder(kb.home) / "r0001")
    run.note(RunState("failed", error="No room."))
    await tune_waiting(kb)
    failed = await tuning_show(kb, ADMIN, tuning=begun.id)
    assert failed.status == "failed" and "Training r0001 failed: No room." in failed.error
    assert (await tuning_resume(kb, ADMIN, tuning=begun.id)).status == "running"
    # Removed with its set: nobody could see it.
    await data_remove(kb, ADMIN, name="ours")
    await tune_waiting(kb)
    with pytest.raises(NotFound):
        find_plan(kb.home, begun.id)


async def test_a_training_that_is_removed_is_not_done_again(kb: KnowledgeBase, model: Path) -> None:
    begun = await start(kb, model, "embedder", "reranker")
    await until(kb, begun.id, "embedder", "waiting")
    finish(kb, "r0001")
    await until(kb, begun.id, "reranker", "waiting")
    await training_remove(kb, ADMIN, run="r0001")
    found = await tuning_show(kb, ADMIN, tuning=begun.id)
    assert [one.status for one in found.stages] == ["done", "removed", "waiting"]
    finish(kb, "r0002")
    found = await _go_to_end(kb, begun.id)
    assert found.status == "done" and [one.status for one in found.stages] == ["done", "removed", "done"]
    assert not (get_runs_folder(kb.home) / "r0003").exists()


async def test_what_needs_a_removed_training_says_so(kb: KnowledgeBase, model: Path) -> None:
    recipe = {"reranker": {"form": "cross_encoder"}}
    tuned = ModelsToTune(models=["embedder", "reranker"], bases={"embedder": str(model)}, recipes=recipe)
    begun = await tuning_start(kb, ADMIN, name="ours", tuned=tuned)
    await until(kb, begun.id, "embedder", "waiting")
    save_plan(kb.home, replace(find_plan(kb.home, begun.id), trained=("embedder",)))
    shutil.rmtree(get_runs_folder(kb.home) / "r0001")
    found = await _go_to_end(kb, begun.id)
    assert found.status == "failed" and "that training was removed" in found.error


async def test_a_set_with_too_few_pairs_is_not_resumed(kb: KnowledgeBase, model: Path) -> None:
    begun = await start(kb, model, tags=["plant"], limit=3)
    found = await _go_to_end(kb, begun.id)
    assert (found.status, found.lacks_pairs) == ("failed", True) and "it takes 32" in found.error
    async with at_desk(build_pages(kb), MIA) as client:
        page = await client.get(f"/workbench/tune/{begun.id}")
    assert "/remove" in page.text and "/resume" not in page.text


async def _go_to_end(kb: KnowledgeBase, id_: str) -> TuningView:
    async with asyncio.timeout(120):
        while (found := await tuning_show(kb, ADMIN, tuning=id_)).status == "running":
            await tune_waiting(kb)
            await asyncio.sleep(0.05)
    return found


async def test_what_would_keep_a_stage_from_beginning_is_said_at_once(kb: KnowledgeBase, model: Path) -> None:
    with pytest.raises(InvalidSettings, match="ARGOT_MODEL_URL"):
        await start(kb, model, kinds=["standard"])
    with pytest.raises(InvalidInput, match="no model 'nowhere'"):
        await start(kb, Path("nowhere"))
    with pytest.raises(InvalidInput, match="has the tag 'none'"):
        await start(kb, model, tags=["none"])
    wrong = ModelsToTune(models=["embedder"], recipes={"embedder": {"epochs": "0"}})
    with pytest.raises(InvalidInput, match="from 1 to 100"):
        await tuning_start(kb, ADMIN, name="ours", tuned=wrong)
    with pytest.raises(InvalidInput, match="which language model"):
        await tuning_start(kb, ADMIN, name="ours", tuned=ModelsToTune(models=["generator"]))
    text = json.dumps({"question": "What?", "passage_id": "p", "passage": "It.", "document": "d", "kind": "heading", "part": "train"})  # fmt: skip  # noqa: E501
    await data_import(kb, ADMIN, name="small", text=text)
    with pytest.raises(InvalidInput, match="it takes 32"):
        await tuning_start(kb, ADMIN, name="small", tuned=ModelsToTune(models=["embedder"], bases={"embedder": str(model)}))  # fmt: skip  # noqa: E501
    assert await tuning_list(kb, ADMIN) == [] and not list(kb.home.glob("learning/tunings/*"))


async def test_a_tuning_is_visible_to_readers_of_its_documents_alone(kb: KnowledgeBase, model: Path) -> None:
    secret = kb.home.parent / "secret.md"
    secret.write_text("# Opening the vault\n\nA vault is a room that nobody may open before noon on any day.\n")
    await get_outcome(add(kb, ADMIN, paths=[str(secret)], audience=["vault"]))
    begun = await start(kb, model)
    await until(kb, begun.id, "embedder", "waiting")
    for call in (tuning_show, tuning_stop, tuning_resume, tuning_remove):
        with pytest.raises(NotFound):
            await call(kb, MIA, tuning=begun.id)
    with pytest.raises(NotFound, match="no training 'r0001'"):
        await tuning_start(kb, MIA, name="theirs", tuned=ModelsToTune(models=["embedder"], bases={"embedder": "r0001"}))
    # Neither the tuning nor the making of its pairs shows in the refusal of the same name.
    with pytest.raises(Conflict, match="There is a set of pairs 'ours' already"):
        await start(kb, model, who=MIA)
    assert await tuning_list(kb, MIA) == [] and (await tuning_show(kb, ADMIN, tuning=begun.id)).status == "running"


async def test_of_two_starts_at_once_on_one_name_only_one_begins(kb: KnowledgeBase, model: Path) -> None:
    begun = await asyncio.gather(*(start(kb, model) for _ in range(2)), return_exceptions=True)
    assert sum(isinstance(one, Conflict) for one in begun) == 1
    assert [one.id for one in await tuning_list(kb, ADMIN)] == ["t0001"]
    await tuning_stop(kb, ADMIN, tuning="t0001")


async def test_pages_lead_from_one_start_to_a_model_to_adopt(kb: KnowledgeBase, model: Path) -> None:
    async with at_desk(build_pages(kb), MIA) as mia:
        page = unescape((await mia.get("/workbench/tune")).text)
        assert "No language model is set" in page and "ARGOT_MODEL_URL" in page and "standard" not in page
        sent = {"csrf": CSRF, "name": "ours", "model": "embedder", "base.embedder": str(model), "kind": "heading"}
        refused = await mia.post("/workbench/tune", data={**sent, "recipe.embedder.epochs": "0"})
        assert refused.status_code == 400 and "from 1 to 100" in refused.text and 'value="ours"' in refused.text
        begun = await mia.post("/workbench/tune", data={**sent, "recipe.embedder.epochs": "4"})
        assert begun.headers["location"] == "/workbench/tune/t0001"
        # Mia is no user of this base, so the service could not act for her.
        save_plan(kb.home, replace(find_plan(kb.home, "t0001"), asked_by="local", status="running"))
        await until(kb, "t0001", "embedder", "waiting")
        assert RunFolder(get_runs_folder(kb.home) / "r0001").request.recipe == {"epochs": 4}
        state = await mia.get("/workbench/tune/t0001/state", headers={"HX-Request": "true"})
        assert "<html" not in state.text and "for its turn" in state.text and "hx-get" in state.text
        finish(kb, "r0001")
        await tune_waiting(kb)
        page = (await mia.get("/workbench/tune/t0001")).text
        assert (
            "Measures better: adopt it" in page
            and "+0.020 to +0.080" in page
            and 'href="/workbench/runs/r0001"' in page
        )
        assert "measures better" in (await mia.get("/workbench/tune")).text
        assert (await mia.post("/workbench/tune/t0001/nothing", data={"csrf": CSRF})).status_code == 404
        gone = await mia.post("/workbench/tune/t0001/remove", data={"csrf": CSRF})
        assert gone.headers["location"] == "/workbench/tune"
