from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tiny_reader import tiny_embedder
from tiny_training import tiny_pairs, tiny_passages

from argot.learn.reranker.ts_tcl import select_tokens
from argot.learn.run_folder import RunFolder, RunRequest
from argot.learn.run_process import run_training
from argot.settings import Settings
from argot.tools.retrieval.cross_encoder import CrossEncoderScorer
from argot.tools.retrieval.onnx_cross_encoder import OnnxCrossEncoderScorer
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.scorer_choice import describe_scorer, load_scorer

RECIPE = {"epochs": 2, "batch": 6, "rate": 1e-3, "every": 3, "threads": 1}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_embedder(tmp_path_factory.mktemp("models") / "tiny")


def made(runs: Path, base: Path | str, **recipe: object) -> RunFolder:
    request = RunRequest(kind="reranker", name="first", base=str(base), data="pairs", recipe={**RECIPE, **recipe})
    passages = tiny_passages()
    return RunFolder.create(runs, request, tiny_pairs(passages), passages)


def done(run: RunFolder) -> RunFolder:
    state = run_training(run)
    assert state.status == "done", state.error
    return run


def test_a_reader_is_trained_and_loaded_as_reranker(tmp_path: Path, model: Path) -> None:
    run = done(made(tmp_path, model))
    assert set(run.card["figures"]) == {"top10", "top50"} and run.card["form"] == "reader"
    validation = run.card["figures"]["top10"]["validation"]
    assert set(validation["means"]) == {"embedder", "before", "after"}
    assert set(validation["differences"]) == {"after against embedder", "after against before"}
    settings = Settings(reranker=str(run.model), threads=1)
    scorer = load_scorer(settings)
    assert isinstance(scorer, ReaderScorer) and scorer.card["steps"] == run.card["steps"] > 0
    assert "trained in" in describe_scorer(settings)


@pytest.mark.parametrize(
    "way", [{}, {"ts_tcl": True}, {"ts_tcl": True, "term_control": False}, {"ts_tcl": True, "token_selection": False}]
)
def test_a_cross_encoder_is_trained_with_and_without_each_option(
    tmp_path: Path, model: Path, way: dict[str, bool]
) -> None:
    run = done(made(tmp_path, model, form="cross_encoder", **way))
    assert {*run.curve()[0]} == {"step", "relevance", *(["terms"] if way else [])}
    settings = Settings(reranker=str(run.model), threads=1)
    scorer = load_scorer(settings)
    assert isinstance(scorer, OnnxCrossEncoderScorer) and "8-bit" in describe_scorer(settings)
    texts = [one.text for one in tiny_passages(7)]
    scores = scorer.score("how long does the training take ?", texts)
    assert scores == pytest.approx(
        CrossEncoderScorer(str(run.model)).score("how long does the training take ?", texts), abs=0.03
    )
    assert scorer.score("?", []) == []


def test_a_cross_encoder_keeps_its_best_weights_by_validation(tmp_path: Path, model: Path) -> None:
    run = done(made(tmp_path, model, form="cross_encoder", validate_every=2, patience=1, negatives_in_training=True))
    assert 0 < run.card["best_step"] <= run.card["steps"]
    assert run.card["best_step"] % 2 == 0 or run.card["best_step"] == run.card["steps"]


def test_tokens_that_the_question_contains_are_selected() -> None:
    #            [CLS] q1 the [SEP] the q1 other [SEP] [PAD]
    ids = torch.tensor([[2, 7, 4, 3, 4, 7, 9, 3, 0]])
    question = torch.tensor([[0, 1, 1, 0, 0, 0, 0, 0, 0]]).bool()
    passage = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 0, 0]]).bool()
    selected = select_tokens(ids, question, passage, {4, 0})
    assert selected.long().tolist() == [[1, 1, 1, 1, 0, 1, 0, 1, 0]]
