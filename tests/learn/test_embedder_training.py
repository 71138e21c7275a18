from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_reader import tiny_embedder, tiny_model
from tiny_training import tiny_pairs, tiny_passages

from argot.corpus.embedding.embedder import load_embedder
from argot.learn.batches import Drawing, draw_batches
from argot.learn.pool_search import FoundPassages
from argot.learn.run_data import build_run_data
from argot.learn.run_folder import RunFolder, RunKind, RunRequest
from argot.learn.run_process import run_training
from argot.learn.training_loop import CHECKPOINT, read_checkpoint
from argot.learn.training_pairs import read_pairs, write_pairs
from argot.settings import Settings

RECIPE = {"epochs": 2, "batch": 4, "rate": 1e-3, "every": 3, "threads": 1, "kept": 0.25}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_embedder(tmp_path_factory.mktemp("models") / "tiny")


def made(runs: Path, base: Path | str, kind: RunKind = "embedder", **recipe: object) -> RunFolder:
    request = RunRequest(kind=kind, name="first", base=str(base), data="pairs", recipe={**RECIPE, **recipe})
    passages = tiny_passages()
    return RunFolder.create(runs, request, tiny_pairs(passages), passages)


def failure_of(run: RunFolder) -> str:
    state = run_training(run)
    assert state.status == "failed"
    return state.error


def test_an_embedder_is_trained_measured_and_loaded(tmp_path: Path, model: Path) -> None:
    run = made(tmp_path / "runs", model)
    state = run_training(run)
    assert state.status == "done", state.error
    card = run.card
    assert card["pairs"] == {"train": 40, "validation": 10, "test": 10} and card["kinds"]["h"]["train"] == 40
    assert card["recipe"]["kept"] == 0.25 and card["steps"] == 21 and card["seconds"] > 0 < card["peak_megabytes"]
    for part in ("validation", "test"):
        measured = card["figures"][part]
        assert measured["questions"] == 10 and measured["means"]["after"].keys() >= {"map@10", "hit@5", "ndcg@10"}
        change = measured["differences"]["after against before"]["map@10"]
        assert change["interval95"][0] <= change["difference"] <= change["interval95"][1] and change["clusters"] == 10
    assert [one.name for one in run.model.rglob("*.bin")] == []
    # loaded directly, by the setting
    embedder = load_embedder(Settings(embedder=str(run.model), cache=tmp_path / "cache", threads=1))
    assert embedder.embed_queries(["how long ?"]).shape == (1, 16)
    # as the base of another training
    following = made(tmp_path / "runs", run.id, epochs=1)
    assert run_training(following).status == "done" and following.card["base"] == run.id
    assert following.card["fingerprint"] != card["fingerprint"]


DIES = """
import json, os, sys
from pathlib import Path
import sentence_transformers, argot.learn.embedder.embedder_run  # once for the processes that are forked
from argot.learn import run_process
from argot.learn.run_folder import RunFolder

def train(run, dies_doing, at):
    noted = run_process.Reporter.doing, run_process.Reporter.step
    def doing(report, what):
        noted[0](report, what)
        if what == dies_doing and not at:
            os.kill(os.getpid(), 9)
    def step(report, number, *more):
        noted[1](report, number, *more)
        if report.state.doing == dies_doing and number == at:
            os.kill(os.getpid(), 9)
    run_process.Reporter.doing, run_process.Reporter.step = doing, step
    run_process.run_training(run)

run = RunFolder(Path(sys.argv[1]))
for place in json.loads(sys.argv[2]):
    child = os.fork()
    if not child:
        train(run, *place)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), run.state.status, flush=True)
"""
PLACES = (("measuring before", 32), ("training", 5), ("training", 13), ("writing the model", 0))


def test_a_training_killed_at_any_point_gives_the_same_figures(tmp_path: Path, model: Path) -> None:
    whole, pieced = made(tmp_path, model), made(tmp_path, model)
    assert run_training(whole).status == "done"
    command = [sys.executable, "-c", DIES, str(pieced.path), json.dumps(PLACES)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert told.splitlines() == [f"{-signal.SIGKILL} stopped"] * len(PLACES)
    assert read_checkpoint(pieced.path / CHECKPOINT).step == 21
    assert run_training(pieced).status == "done"
    assert pieced.card["figures"] == whole.card["figures"]
    assert pieced.card["fingerprint"] == whole.card["fingerprint"]


def test_a_full_disk_keeps_the_last_checkpoint(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(tmp_path, model, every=4)
    checked = 0

    def told(report: object, step: int, *more: object) -> None:
        nonlocal checked
        if (run.path / CHECKPOINT).is_file() and not checked:
            checked = (run.path / CHECKPOINT).stat().st_size
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (checked // 2, before[1]))

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    monkeypatch.setattr("argot.learn.run_process.Reporter.step", told)
    try:
        error = failure_of(run)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "File too large" in error and "Resume it when that is mended" in error
    assert read_checkpoint(run.path / CHECKPOINT).step == 4
    run.resume()
    monkeypatch.undo()
    assert run_training(run).status == "done"


# -- invalid input ----------------------------------------------------------------------------------------------------


def test_invalid_values_of_a_recipe_are_refused(tmp_path: Path, model: Path) -> None:
    assert "nothing named 'epoch'. It has: batch, epochs," in failure_of(made(tmp_path, model, epoch=3))
    assert "'epochs' is 0. It is from 1 to 100" in failure_of(made(tmp_path, model, epochs=0))
    assert "'batch' is 'many'. It is a whole number" in failure_of(made(tmp_path, model, batch="many"))
    assert "'epochs' is True. It is a whole number" in failure_of(made(tmp_path, model, epochs=True))
    assert "'frozen_words' is 1. It is true or false" in failure_of(made(tmp_path, model, frozen_words=1))
    assert "'precision' is 'int4'. It is one of: auto" in failure_of(made(tmp_path, model, precision="int4"))


def test_a_base_that_is_not_an_embedding_model_is_refused(tmp_path: Path, model: Path) -> None:
    assert "no model 'no-such-model' to start from" in failure_of(made(tmp_path, "no-such-model"))
    (tmp_path / "empty").mkdir()
    assert "holds no model" in failure_of(made(tmp_path, tmp_path / "empty"))
    pickled = shutil.copytree(model, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    assert "safetensors only" in failure_of(made(tmp_path, pickled))
    damaged = shutil.copytree(model, tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"no weights at all")
    assert "cannot be opened" in failure_of(made(tmp_path, damaged))
    encoder = tiny_model(tmp_path / "encoder")
    (encoder / "modules.json").unlink()
    assert "is no embedding model" in failure_of(made(tmp_path, encoder))
    waiting = made(tmp_path, model)
    assert f"'{waiting.id}' is waiting" in failure_of(made(tmp_path, waiting.id))


def test_too_few_or_changed_pairs_are_refused(tmp_path: Path, model: Path) -> None:
    run = made(tmp_path, model)
    pairs = read_pairs(run.path / "pairs.jsonl")
    write_pairs(pairs[:12], run.path / "pairs.jsonl")
    assert "8 pairs in the part 'train'" in failure_of(run)
    write_pairs(
        [*pairs[:-1], pairs[-1].__class__(**{**_fields(pairs[-1]), "passage_id": "p999"})], run.path / "pairs.jsonl"
    )
    run.resume()
    assert "The passage 'p999' of the question" in failure_of(run)
    begun = made(tmp_path, model, epochs=1)
    begun.stop()
    assert run_training(begun).status == "done"
    begun.note(begun.state.__class__(status="stopped"))
    changed = [pairs[0].__class__(**{**_fields(pairs[0]), "question": "which strobe ?"}), *pairs[1:]]
    write_pairs(changed, begun.path / "pairs.jsonl")
    assert "Changed since this training was begun: pairs." in failure_of(begun)


def _fields(pair: object) -> dict[str, object]:
    return {name: getattr(pair, name) for name in pair.__slots__}  # type: ignore[attr-defined]


# -- batches ----------------------------------------------------------------------------------------------------------


def test_a_batch_has_no_duplicates_and_no_negative_that_answers() -> None:
    passages = tiny_passages()
    pairs = [one for pair in tiny_pairs(passages) for one in (pair, pair)]
    data = build_run_data(pairs, [*passages, passages[0].__class__("copy", passages[0].text, "other.md")])
    assert "copy" not in data.pool
    found = {pair.id: FoundPassages(tuple(data.pool), tuple(1 - n / 100 for n in range(60)), 0.9) for pair in pairs}
    drawn = draw_batches(data, found, Drawing(1, 8, 2, 10, 0.0, 7))
    assert (
        drawn
        == draw_batches(data, found, Drawing(1, 8, 2, 10, 0.0, 7))
        != draw_batches(data, found, Drawing(1, 8, 2, 10, 0.0, 8))
    )
    for batch in drawn:
        texts = [text for one in batch for text in (one.question, one.passage, *one.negatives)]
        assert len(texts) == len(set(texts)) and len(batch) > 1
    far = draw_batches(data, found, Drawing(1, 8, 2, 10, 0.3, 7))
    near = {data.pool[one] for one in list(data.pool)[:20]}
    assert not near & {text for batch in far for one in batch for text in one.negatives}
    held = {pair.passage for pair in pairs if pair.part != "train"}
    own = draw_batches(data, found, Drawing(1, 8, 2, 10, 0.0, 7, in_training=True))
    for batches, overlaps in ((drawn, True), (own, False)):
        assert bool(held & {text for batch in batches for one in batch for text in one.negatives}) == overlaps


def test_the_service_imports_no_torch() -> None:
    code = (
        "import sys, argot.tools.retrieval.scorer_choice, argot.learn.run_folder, argot.learn.training_pairs\n"
        "import argot.learn.recipes, argot.learn.trainable_pairs\n"
        "print([one for one in ('torch', 'transformers', 'sentence_transformers') if one in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
