from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from tiny_llama import tiny_llama

from argot.errors import InvalidInput, LocalError, MissingExtra, NotFound
from argot.learn.generator import generator_run
from argot.learn.generator.base_models import find_base_model
from argot.learn.preparation import compute_weights_fingerprint
from argot.learn.run_folder import RunFolder, RunRequest
from argot.learn.run_process import Reporter, run_training
from argot.learn.training_loop import CHECKPOINT, TrainingStopped
from argot.learn.training_pairs import PARTS, TrainingPair

SMALL = {"examples": "answers", "steps": 8, "every": 2, "rank": 4, "measured": 2, "answer_tokens": 6, "threads": 1}


def pairs(count: int = 30, answer: str = "It is {}.") -> list[TrainingPair]:
    return [
        TrainingPair(
            f"{number:04}", f"What is number {number}?", f"p{number}", f"Number {number} is here.", "numbers.md", "h",
            "train" if number >= 8 else PARTS[1 + number % 2], answer.format(number),
        )
        for number in range(count)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llama(tmp_path_factory.mktemp("models") / "tiny-instruct", [one.question for one in pairs()])


def made(runs: Path, base: Path | str, given: Sequence[TrainingPair] | None = None, **recipe: object) -> RunFolder:
    request = RunRequest("generator", "numbers", str(base), "pairs", recipe={**SMALL, **recipe})
    return RunFolder.create(runs, request, pairs() if given is None else given, [])


def failed(run: RunFolder) -> str:
    state = run_training(run)
    assert state.status == "failed"
    return state.error


def test_an_adapter_is_trained_measured_and_written_without_paths(tmp_path: Path, base: Path) -> None:
    from peft import PeftModel
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM

    run = made(tmp_path, base, dropout=0.1, rate=0.05)
    state = run_training(run)
    assert state.status == "done", state.error
    card = run.card
    assert card["base"] == "tiny-instruct"
    assert card["base_fingerprint"] == find_base_model(str(base), tmp_path).fingerprint
    assert card["examples"]["train"] == {"used": 22, "no_answer": 0, "too_long": 0} and card["steps"] == 8
    loss = card["figures"]["validation"]["token_loss"]
    assert loss["after"] < loss["before"] and loss["interval95"][1] < 0 and loss["questions"] == 4
    assert card["figures"]["test"]["rouge_l"]["questions"] == 2 and card["peak_megabytes"] > 50
    assert len(run.curve()) == 8 and card["seconds"] > 0
    names = {one.name for one in run.model.iterdir()}
    assert names == {"adapter_config.json", "adapter_model.safetensors", "base.json"}
    for one in ("adapter_config.json", "base.json"):
        text = (run.model / one).read_text("utf-8")
        assert "tiny-instruct" in text and str(base.parent) not in text
    assert all("lora" in name for name in load_file(run.model / "adapter_model.safetensors"))
    PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), run.model)
    with pytest.raises(InvalidInput, match=r"r0001 made an adapter to .* Start from"):
        find_base_model("r0001", tmp_path)


def test_a_small_model_is_fully_trained_and_can_be_trained_again(tmp_path: Path, base: Path) -> None:
    run = made(tmp_path, base, method="full", examples="contexts", prompt="", rate=0.01, accumulate=1, longest=3000)
    assert run_training(run).status == "done", run.state.error
    loss = run.card["figures"]["validation"]["token_loss"]
    assert loss["after"] < loss["before"] and not list(run.model.glob("*.bin"))
    for one in run.model.glob("*.json"):
        assert str(base.parent) not in one.read_text("utf-8")
    again = find_base_model("r0001", tmp_path)
    assert again.name == "numbers" and run.card["fingerprint"] == compute_weights_fingerprint(again.folder)


def test_a_killed_generator_training_resumes_and_gives_the_same_figures(tmp_path: Path, base: Path) -> None:
    whole = made(tmp_path / "whole", base, dropout=0.2)
    assert run_training(whole).status == "done"
    killed = made(tmp_path / "killed", base, dropout=0.2)
    # The process kills itself after a step between two checkpoints, as a power cut would.
    code = (
        "import os, sys; from pathlib import Path; from argot.learn.run_process import *\n"
        "class Killing(Reporter):\n"
        "    def step(self, step, steps, losses=None):\n"
        "        if losses and step == 5: os.kill(os.getpid(), 9)\n"
        "        super().step(step, steps, losses)\n"
        "import argot.learn.run_process as process; process.Reporter = Killing\n"
        "process.run_training(RunFolder(Path(sys.argv[1])))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(killed.path)], check=False).returncode == -signal.SIGKILL
    assert killed.state.status == "stopped" and (killed.path / CHECKPOINT).is_file() and not killed.card
    killed.resume()
    assert run_training(killed).status == "done"
    assert killed.card["figures"] == whole.card["figures"]
    assert killed.card["fingerprint"] == whole.card["fingerprint"]
    assert [one["loss"] for one in killed.curve()] == [one["loss"] for one in whole.curve()]


def test_stopping_a_training_keeps_a_checkpoint(tmp_path: Path, base: Path) -> None:
    run = made(tmp_path, base)

    class Stopping(Reporter):
        def step(self, step: int, steps: int, losses: object = None) -> None:
            super().step(step, steps, losses)  # type: ignore[arg-type]
            if losses and step == 3:
                self.stop()

    with pytest.raises(TrainingStopped):
        generator_run.train(run, Stopping(run))
    assert (run.path / CHECKPOINT).is_file() and not run.model.exists()


def test_too_few_pairs_and_pairs_without_answers_are_refused(tmp_path: Path, base: Path) -> None:
    said = failed(made(tmp_path, base, pairs(12)))
    assert "too few examples to learn from: 4, and it takes 10. Of the 4 pairs to train on, 0 have no answer" in said
    said = failed(made(tmp_path, base, pairs(answer="")))
    assert "22 have no answer" in said and "A language model learns from answers" in said
    said = failed(made(tmp_path, base, pairs(answer="so it is {} " + "and so on " * 40), longest=32))
    assert "22 are longer than 32 tokens. Train again with longer examples, such as --set longest=2048" in said
    assert "'rank' is 0. It is from 1 to 512" in failed(made(tmp_path, base, rank=0))
    assert "does not fit the model" in failed(made(tmp_path, base, target_modules=["none_such"]))


def test_folders_without_a_valid_language_model_are_refused(tmp_path: Path, base: Path) -> None:
    with pytest.raises(NotFound, match="no language model 'nowhere': give a folder"):
        find_base_model("nowhere", tmp_path)
    folder = tmp_path / "model"
    folder.mkdir()
    with pytest.raises(InvalidInput, match=r"config.json, tokenizer.json, \*.safetensors are missing"):
        find_base_model(str(folder), tmp_path)
    for one in base.iterdir():
        (folder / one.name).write_bytes(one.read_bytes())
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    assert "holds pickles (pytorch_model.bin), which run programs" in failed(made(tmp_path, folder))
    (folder / "pytorch_model.bin").unlink()
    (folder / "model.safetensors").write_bytes(b"no weights")
    assert "The model in" in failed(made(tmp_path, folder)) and "cannot be read" in failed(made(tmp_path, folder))


def test_the_error_without_peft_comes_before_anything_is_measured(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    run = made(tmp_path, base)
    with pytest.raises(MissingExtra, match=r"argot\[learn\]"):
        generator_run.train(run, Reporter(run))
    assert not (run.path / "before.json").exists()


def test_a_lost_gpu_is_reported_and_the_checkpoint_kept(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made(tmp_path, base, measured=0)
    training = generator_run.Training(run, Reporter(run))
    calls = 0
    real = generator_run.compute_answer_losses

    def losses(model: object, batch: object) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls > 7:
            training.device = torch.device("cuda")
            raise RuntimeError("CUDA error: unspecified launch failure")
        return real(model, batch)  # type: ignore[arg-type]

    monkeypatch.setattr(generator_run, "compute_answer_losses", losses)
    with pytest.raises(LocalError, match=r"card was lost: CUDA error.*Resume the training"):
        training.run()
    assert (run.path / CHECKPOINT).is_file()


def test_a_run_process_trains_a_folder(tmp_path: Path, base: Path) -> None:
    run = made(tmp_path, base, measured=0, steps=2)
    process = subprocess.Popen([sys.executable, "-m", "argot.learn.run_process", str(run.path)])
    assert process.wait(600) == 0 and run.state.status == "done"
