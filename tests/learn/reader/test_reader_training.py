from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_reader import tiny_model

from argot.learn.reader.export import write_reader
from argot.learn.reader.network import compute_features, load_network
from argot.learn.reader.training import Example, Trainer, TrainingRecipe
from argot.learn.training_loop import CHECKPOINT, read_checkpoint
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.reranker import LexicalScorer
from argot.tools.retrieval.token_vectors import MODEL_FILES

RECIPE = TrainingRecipe(questions=2, epochs=2)
ANSWER = "Duty cycle correction trims the strobe. The training takes 6 microseconds."
OTHER = "The canteen opens at noon. Lunch is paid by badge."
EXAMPLES = [
    Example("a", "How long does the training of duty cycle correction take?", ANSWER, (OTHER,)),
    Example("a", "When is lunch?", OTHER, (ANSWER,)),
    Example("a", "Who is the director?", None, (OTHER,)),
    Example("a", "When does the canteen open?", OTHER, (ANSWER,)),
]


def quiet(step: int, of: int, losses: Mapping[str, float]) -> None:
    assert step <= of and all(np.isfinite(loss) for loss in losses.values())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def trained(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    Trainer(model, EXAMPLES, folder, RECIPE).run(quiet)
    return folder / CHECKPOINT


def test_a_killed_training_resumes_and_gives_the_same_weights(model: Path, trained: Path, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def kill(step: int, of: int, losses: Mapping[str, float]) -> None:
        if step == 3:
            raise Killed

    often = replace(RECIPE, every=2)
    first = Trainer(model, EXAMPLES, tmp_path, often)
    assert not first.loop.resume()
    with pytest.raises(Killed):
        first.run(kill)
    second = Trainer(model, EXAMPLES, tmp_path, often)
    assert second.loop.resume() and second.loop.step == 2
    second.run(quiet)
    whole, pieced = (read_checkpoint(path).network for path in (trained, tmp_path / CHECKPOINT))
    assert all(torch.allclose(whole[name], pieced[name], atol=1e-5) for name in whole)


def test_training_changes_all_weights_but_the_word_vectors(model: Path, trained: Path) -> None:
    before, after = load_network(model).state_dict(), read_checkpoint(trained).network
    moved = {name for name in after if not torch.equal(before[name], after[name])}
    assert "encoder.embeddings.word_embeddings.weight" not in after
    assert {"importance.weight", "readings.relevance.weight", "readings.relevance.bias"} <= moved
    assert any(name.startswith("encoder.encoder.layer.0") for name in moved)


def test_the_exported_reader_scores_as_the_network_does(model: Path, trained: Path, tmp_path: Path) -> None:
    card = write_reader(trained, str(model), tmp_path / "reader")
    assert sorted(path.name for path in (tmp_path / "reader").iterdir()) == sorted(MODEL_FILES)
    assert card["recipe"]["seed"] == RECIPE.seed and len(card["fingerprint"]) == 32
    reader = ReaderScorer(tmp_path / "reader", LexicalScorer(), threads=1)
    network = load_network(model)
    network.load_state_dict(read_checkpoint(trained).network, strict=False)
    trainer = Trainer(model, EXAMPLES, tmp_path, RECIPE)
    trainer.network = network.eval()
    with torch.inference_mode():
        asked = trainer._read_texts(["How long does the training take?"], 48)
        passages = trainer._read_texts([ANSWER, OTHER], 160)
        wanted = torch.sigmoid(network.logits("relevance", compute_features(asked, passages)))[0]
    assert reader.answers("How long does the training take?", [ANSWER, OTHER]) == pytest.approx(
        wanted.tolist(), abs=0.05
    )


def test_starting_weights_can_be_kept(model: Path, trained: Path, tmp_path: Path) -> None:
    kept = write_reader(trained, str(model), tmp_path / "kept", kept=1.0)
    untrained = write_reader(None, str(model), tmp_path / "untrained")
    assert untrained["steps"] == 0 and kept["steps"] > 0
    texts = [ANSWER, OTHER]
    kept_vectors, start = (
        ReaderScorer(tmp_path / name, LexicalScorer(), threads=1).read_texts(texts) for name in ("kept", "untrained")
    )
    assert all(np.allclose(a.vectors, b.vectors, atol=0.01) for a, b in zip(kept_vectors, start, strict=True))


def test_the_card_is_stored_as_json(model: Path, tmp_path: Path) -> None:
    card = write_reader(None, str(model), tmp_path / "reader")
    assert json.loads((tmp_path / "reader" / "card.json").read_text()) == card
