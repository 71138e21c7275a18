from __future__ import annotations

from pathlib import Path

import pytest
from tiny_reader import tiny_embedder
from tiny_training import tiny_pairs, tiny_passages

from argot.learn.run_folder import RunFolder, RunRequest
from argot.learn.run_process import run_training

RECIPE = {"epochs": 2, "batch": 4, "rate": 1e-3, "every": 3, "threads": 1, "kept": 0.25}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_embedder(tmp_path_factory.mktemp("models") / "tiny")


def made(runs: Path, base: Path | str, **recipe: object) -> RunFolder:
    request = RunRequest(kind="embedder", name="first", base=str(base), data="pairs", recipe={**RECIPE, **recipe})
    passages = tiny_passages()
    return RunFolder.create(runs, request, tiny_pairs(passages), passages)


def test_an_embedder_is_tuned_measured_and_taken(tmp_path: Path, model: Path) -> None:
    run = made(tmp_path, model)
    state = run_training(run)
    assert state.status == "done", run.state.error
    card = run.card
    assert card["figures"]["validation"]["questions"] == 10
    print(card)
