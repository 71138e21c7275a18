from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch

from argot.errors import Conflict, InvalidInput, NotFound
from argot.learn import run_process
from argot.learn.run_folder import RunFolder, RunRequest, list_run_folders
from argot.learn.run_process import Reporter, run_training
from argot.learn.training_loop import CHECKPOINT, LoopRecipe, TrainingLoop, Validation, read_checkpoint
from argot.learn.training_pairs import PoolPassage, TrainingPair, choose_part, make_pair_id, read_pairs

PASSAGES = [PoolPassage("p1", "The pump runs at 40 bar.", "pumps.md"), PoolPassage("p2", "Lunch is at noon.", "x.md")]
PAIRS = [
    TrainingPair(
        make_pair_id("What pressure?", "p1"), "What pressure?", "p1", PASSAGES[0].text, "pumps.md", "h", "train"
    )
]


def made(runs: Path, **changes: object) -> RunFolder:
    request = RunRequest(kind="embedder", name="first", base="tiny", data="pairs", **changes)  # type: ignore[arg-type]
    return RunFolder.create(runs, request, PAIRS, PASSAGES)


def with_training(monkeypatch: pytest.MonkeyPatch, train: object) -> None:
    monkeypatch.setattr(run_process, "_import_module", lambda kind: types.SimpleNamespace(train=train))


def test_a_run_is_read_as_it_was_requested(tmp_path: Path) -> None:
    run = made(tmp_path, readers=(("hr",), ()))
    assert run.id == "r0001" and made(tmp_path).id == "r0002"
    again = RunFolder.find(tmp_path, "r0001")
    assert again.request.readers == (("hr",), ()) and again.pairs() == PAIRS and again.passages() == PASSAGES
    assert again.state.status == "waiting" and again.card == {}
    assert [one.id for one in list_run_folders(tmp_path)] == ["r0002", "r0001"]
    for wrong in ("r9", "../r0001", "", "r0001/"):
        with pytest.raises(NotFound):
            RunFolder.find(tmp_path, wrong)


def test_a_training_ends_as_done_stopped_or_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(run: RunFolder, report: Reporter) -> None:
        report.doing("training")
        for step in range(1, 4):
            report.step(step, 3, {"loss": 1 / step})
        run.keep_card({"map@1": 0.5})

    run = made(tmp_path)
    with_training(monkeypatch, train)
    assert run_training(run).status == "done" and run.card == {"map@1": 0.5}
    assert [point["step"] for point in run.curve()] == [1, 2, 3]
    with pytest.raises(Conflict, match="is done"):
        run_training(run)
    with pytest.raises(Conflict, match="is done"):
        run.resume()

    def fails(run: RunFolder, report: Reporter) -> None:
        raise OSError(28, "No space left on device", "checkpoint")

    broken = made(tmp_path)
    with_training(monkeypatch, fails)
    assert run_training(broken).status == "failed" and "No space left on device" in broken.state.error
    broken.resume()
    assert broken.state.status == "waiting" and not broken.state.error


def test_only_one_process_trains_a_run(tmp_path: Path) -> None:
    run = made(tmp_path)
    with run.hold(), pytest.raises(Conflict, match="another process"):
        run_training(run)


def test_a_run_whose_process_was_killed_counts_as_stopped(tmp_path: Path) -> None:
    run = made(tmp_path)
    code = (
        "import sys, os; from pathlib import Path; from argot.learn.run_folder import *\n"
        "run = RunFolder(Path(sys.argv[1]))\n"
        "with run.hold(): run.note(RunState(status='running', step=2)); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(run.path)], check=False)
    assert (run.state.status, run.state.step) == ("stopped", 2)


def test_the_error_for_an_invalid_line_of_pairs_names_it(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(
        '{"question": "a", "passage_id": "p", "passage": "t", "document": "d", "kind": "k", "part": "all"}\n'
    )
    with pytest.raises(InvalidInput, match="line 1: the part 'all'"):
        read_pairs(file)
    file.write_text('{"question": " "}\n')
    with pytest.raises(InvalidInput, match="line 1: it has no text under 'question'"):
        read_pairs(file)


def test_passages_are_split_eight_to_one_to_one() -> None:
    parts = [choose_part(f"passage {number}", 7) for number in range(5000)]
    assert 0.77 < parts.count("train") / 5000 < 0.83 and 0.08 < parts.count("test") / 5000 < 0.12
    assert choose_part("p", 1) == choose_part("p", 1) and len({choose_part("p", seed) for seed in range(50)}) > 1


def loop_in(folder: Path, validation: Validation | None = None) -> tuple[TrainingLoop, torch.nn.Module]:
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
    network[0].bias.requires_grad_(False)
    data = torch.arange(80.0).reshape(20, 4) / 80

    def losses(step: int) -> dict[str, torch.Tensor]:
        return {"square": ((network(data[step : step + 4]) - 1) ** 2).mean()}

    groups = [{"params": [one for one in network.parameters() if one.requires_grad], "lr": 0.01}]
    return TrainingLoop(network, groups, losses, folder, LoopRecipe(12, every=5), validation), network


def test_a_randomised_training_resumes_and_gives_the_same_weights(tmp_path: Path) -> None:
    whole, _ = loop_in(tmp_path / "whole")
    whole.run(lambda *told: None)

    def kill(step: int, of: int, losses: object) -> None:
        if step == 8:
            raise KeyboardInterrupt

    pieced, _ = loop_in(tmp_path / "pieced")
    with pytest.raises(KeyboardInterrupt):
        pieced.run(kill)
    again, _ = loop_in(tmp_path / "pieced")
    assert again.resume() and again.step == 5
    again.run(lambda *told: None)
    one, other = (read_checkpoint(tmp_path / name / CHECKPOINT).network for name in ("whole", "pieced"))
    assert "0.bias" not in one
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_training_ends_where_its_validation_stops_improving_and_keeps_the_best_weights(tmp_path: Path) -> None:
    figures = {2: 0.2, 4: 0.5, 6: 0.4, 8: 0.5, 10: 0.9}

    def stop_at(last: int) -> Any:
        def told(step: int, of: int, losses: object) -> None:
            if step == last:
                raise KeyboardInterrupt

        return told

    def validated_in(folder: Path) -> tuple[TrainingLoop, torch.nn.Module]:
        loop, network = loop_in(folder, Validation(lambda: figures[loop.step], every=2, patience=2))
        return loop, network

    plain, weights = loop_in(tmp_path / "plain")
    with pytest.raises(KeyboardInterrupt):
        plain.run(stop_at(4))
    killed, _ = validated_in(tmp_path / "validated")
    with pytest.raises(KeyboardInterrupt):
        killed.run(stop_at(7))
    again, network = validated_in(tmp_path / "validated")
    assert again.resume() and again.step == 6
    again.run(lambda *told: None)
    # Step 8 is as good as step 4, not better: with step 6 that makes two in a row.
    assert (again.step, again.best_step) == (8, 4)
    best, kept = weights.state_dict(), network.state_dict()
    assert all(torch.equal(best[name], kept[name]) for name in best)
