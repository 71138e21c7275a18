"""Tests of starting a training: its base is checked at once, and it opens no way to hidden documents."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from finished_run import finished_run
from tiny_reader import tiny_embedder

from argot.errors import InvalidInput, NotFound, asked_from_elsewhere
from argot.learn.usecases.learning_data import data_import
from argot.learn.usecases.training_runs import RunSummary, training_list, training_show, training_start
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.types import Principal

MIA = Principal("mia", frozenset({"managers"}))
VAULT = Principal("vera", frozenset({"managers", "vault"}))
PARTS = ("train",) * 8 + ("validation", "test")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_embedder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        text = "".join(
            json.dumps(
                {"question": f"What is number {n}?", "passage_id": f"p{n}", "passage": f"Number {n} is here.",
                 "document": "numbers", "kind": "heading", "part": PARTS[n % 10], "answer": f"It is {n}."}
            ) + "\n"
            for n in range(50)
        )  # fmt: skip
        await data_import(opened, MIA, name="numbers", text=text)
        yield opened


async def begun(
    kb: KnowledgeBase, who: Principal, base: object = "", kind: Any = "embedder", **recipe: str
) -> RunSummary:
    return await training_start(kb, who, kind=kind, data="numbers", base=str(base), recipe=recipe)


async def test_errors_over_the_network_do_not_reveal_which_folders_exist(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"pickle")
    token = asked_from_elsewhere.set(True)
    try:
        for kind in ("embedder", "reranker", "generator"):
            told = set()
            for base in (tmp_path / "nowhere", tmp_path, tmp_path / "pickled", "~nobody/model", "x" * 999):
                with pytest.raises(InvalidInput) as refused:
                    await begun(kb, MIA, base, kind)
                told.add(str(refused.value).replace(f"{base!s:.80}", "BASE"))
            assert len(told) == 1
    finally:
        asked_from_elsewhere.reset(token)


@pytest.mark.parametrize("base", ["x" * 999, "~nobody/model", "a\0b"])
@pytest.mark.parametrize("kind", ["embedder", "generator"])
async def test_an_impossible_folder_name_is_refused(kb: KnowledgeBase, base: str, kind: str) -> None:
    with pytest.raises((InvalidInput, NotFound)):
        await begun(kb, MIA, base, kind)


async def test_a_base_that_is_not_a_model_is_refused_at_once(kb: KnowledgeBase, tmp_path: Path) -> None:
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    (pickled / "pytorch_model.bin").write_bytes(b"pickle")
    for base, said in (("nowhere", "no model 'nowhere'"), (tmp_path, "holds no model"), (pickled, "are pickled")):
        for kind in ("embedder", "reranker"):
            with pytest.raises(InvalidInput, match=said):
                await begun(kb, MIA, base, kind)
    with pytest.raises(InvalidInput, match="which language model"):
        await begun(kb, MIA, kind="generator")
    assert await training_list(kb, MIA) == []


async def test_trainings_on_a_restricted_run_stay_restricted(kb: KnowledgeBase, model: Path) -> None:
    secret = finished_run(kb.home, [("s", "The vault opens at noon.")], model, readers=(("vault",),))
    for base in (secret.id, secret.model, secret.path / "pairs.jsonl"):
        with pytest.raises((NotFound, InvalidInput), match=r"no training|neither an installed"):
            await begun(kb, MIA, base)
    with pytest.raises(NotFound):
        await begun(kb, MIA, model, "reranker", embedder=str(secret.model))
    for base in (secret.id, secret.model):
        later = await begun(kb, VAULT, base)
        assert later.restricted
        with pytest.raises(NotFound):
            await training_show(kb, MIA, run=later.id)


async def test_a_reader_starts_from_the_embedder_even_if_one_was_adopted(kb: KnowledgeBase, model: Path) -> None:
    passages = kb.document_store.database.connection().execute("SELECT id, text FROM passages").fetchall()
    run = finished_run(kb.home, [(row[0], row[1]) for row in passages], model, kind="reranker")
    shutil.rmtree(run.model)
    run.model.mkdir()
    for name in ("model.onnx", "tokenizer.json", "card.json"):
        (run.model / name).write_text("{}", "utf-8")
    kb.settings = kb.settings.replace(reranker=str(run.model))
    for form in ("reader", "cross_encoder"):
        assert (await begun(kb, MIA, kind="reranker", form=form)).base == kb.settings.search.embedder
    kb.settings = kb.settings.replace(reranker=str(model))
    assert (await begun(kb, MIA, kind="reranker")).base == kb.settings.search.embedder
    assert (await begun(kb, MIA, kind="reranker", form="cross_encoder")).base == str(model)
