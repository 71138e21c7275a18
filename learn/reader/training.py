"""Training: resumable at any step, the same for the same seed, and bounded in the processor it takes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from argot.learn.reader.network import Read, features_of, network_from
from argot.learn.reader.training_data import Example

Progress = Callable[[int, int, dict[str, float]], None]
CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True, slots=True)
class TrainingRecipe:
    """What decides the weights, beside the data."""

    seed: int = 7
    epochs: int = 1
    questions: int = 12
    """Questions in a batch; each is asked of all passages of the batch."""
    encoder_rate: float = 3e-5
    reading_rate: float = 2e-3
    warm_up: float = 0.06
    """The part of all steps in which the rates rise; after it they fall to zero."""
    question_tokens: int = 48
    passage_tokens: int = 160
    temperature: float = 0.05


class Trainer:
    """One run in one folder. Its checkpoint lets it go on where it was, also after a kill."""

    def __init__(self, model: Path, examples: Sequence[Example], folder: Path, recipe: TrainingRecipe) -> None:
        from tokenizers import Tokenizer

        torch.manual_seed(recipe.seed)
        self.recipe, self.folder = recipe, folder
        self.network = network_from(model)
        self.batches = _batches(examples, recipe)
        self.tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self.tokenizer.no_padding()
        encoder = [one for one in self.network.encoder.parameters() if one.requires_grad]
        others = [one for name, one in self.network.named_parameters() if not name.startswith("encoder.")]
        self.optimizer = torch.optim.AdamW(
            [{"params": encoder, "lr": recipe.encoder_rate}, {"params": others, "lr": recipe.reading_rate}],
            weight_decay=0.01,
        )
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._rate)
        self.step = 0

    def _rate(self, step: int) -> float:
        rising = max(1, int(len(self.batches) * self.recipe.warm_up))
        return min(1.0, (step + 1) / rising, max(0.0, (len(self.batches) - step) / max(1, len(self.batches) - rising)))

    def run(self, progress: Progress, *, every: int = 25) -> None:
        """Trains to the end, saving every so many steps."""
        self.network.train()
        for module in self.network.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0  # two readings of one text would differ, and the matches with them
        while self.step < len(self.batches):
            losses = self.losses(self.batches[self.step])
            self.optimizer.zero_grad()
            torch.stack([*losses.values()]).sum().backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            self.schedule.step()
            self.step += 1
            progress(self.step, len(self.batches), {name: loss.item() for name, loss in losses.items()})
            if self.step % every == 0 or self.step == len(self.batches):
                self.save()

    # -- losses -------------------------------------------------------------------------------------------------------

    def losses(self, examples: Sequence[Example]) -> dict[str, Tensor]:
        """Right passages above all others of the batch; near ones without the answer told apart."""
        passages, owners, right = _passages(examples)
        asked = self._read([one.text for one in examples], self.recipe.question_tokens)
        read = self._read(passages, self.recipe.passage_tokens)
        logits = self.network.logits("relevance", features_of(asked, read))
        losses = {}
        answered = [(row, right.index(row)) for row, one in enumerate(examples) if one.passage is not None]
        if answered:
            rows, columns = (torch.tensor(list(numbers)) for numbers in zip(*answered, strict=True))
            scale = 1 / (self.recipe.temperature * 10)
            losses["order"] = functional.cross_entropy(logits[rows] * scale, columns)
        own = logits[torch.tensor(owners), torch.arange(len(passages))]
        losses["answers"] = functional.binary_cross_entropy_with_logits(
            own, torch.tensor([one >= 0 for one in right]).float()
        )
        return losses

    def _read(self, texts: Sequence[str], tokens: int) -> Read:
        self.tokenizer.enable_truncation(tokens)
        found = self.tokenizer.encode_batch(list(texts))
        longest = max(len(one.ids) for one in found)
        ids = torch.tensor([one.ids + [0] * (longest - len(one.ids)) for one in found])
        mask = torch.tensor([[1] * len(one.ids) + [0] * (longest - len(one.ids)) for one in found])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.network.read(ids, mask)

    # -- going on -----------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """The weights, and all that is needed to go on, in one file that is whole or not there."""
        from safetensors.torch import save_file

        self.folder.mkdir(parents=True, exist_ok=True)
        tensors = {f"network.{name}": value.contiguous() for name, value in self.network.state_dict().items()}
        for number, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in moments.items()}
        draft = self.folder / f"{CHECKPOINT}.draft"
        save_file(tensors, draft, {"step": str(self.step), "recipe": json.dumps(asdict(self.recipe))})
        os.replace(draft, self.folder / CHECKPOINT)  # noqa: PTH105

    def resume(self) -> bool:
        """Goes on from the folder's checkpoint, if it has one."""
        if not (self.folder / CHECKPOINT).is_file():
            return False
        saved = read_checkpoint(self.folder / CHECKPOINT)
        self.network.load_state_dict(saved.network)
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": saved.moments, "param_groups": groups})
        self.step = saved.step
        self.schedule.last_epoch = self.step
        for group, first in zip(self.optimizer.param_groups, self.schedule.base_lrs, strict=True):
            group["lr"] = first * self._rate(self.step)
        return True


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A training as saved: weights by name, the optimizer's moments by parameter, how far it was, and its recipe."""

    network: dict[str, Tensor]
    moments: dict[int, dict[str, Tensor]]
    step: int
    recipe: dict[str, Any]


def read_checkpoint(path: Path) -> Checkpoint:
    from safetensors import safe_open

    network: dict[str, Tensor] = {}
    moments: dict[int, dict[str, Tensor]] = {}
    with safe_open(path, framework="pt") as file:
        card = file.metadata()
        for key in file.keys():  # noqa: SIM118
            part, name = key.split(".", 1)
            if part == "network":
                network[name] = file.get_tensor(key)
            else:
                number, moment = name.split(".")
                moments.setdefault(int(number), {})[moment] = file.get_tensor(key)
    return Checkpoint(network, moments, int(card["step"]), json.loads(card["recipe"]))


def _passages(examples: Sequence[Example]) -> tuple[list[str], list[int], list[int]]:
    """All passages of a batch; which question each belongs to; and which question it answers, -1 for none."""
    passages, owners, right = [], [], []
    for row, one in enumerate(examples):
        own = [(one.passage, row)] if one.passage is not None else []
        for text, answered in [*own, *((negative, -1) for negative in one.negatives[:1])]:
            passages.append(text)
            owners.append(row)
            right.append(answered)
    return passages, owners, right


def _batches(examples: Sequence[Example], recipe: TrainingRecipe) -> list[Sequence[Example]]:
    every = [*examples] * recipe.epochs
    return [every[first : first + recipe.questions] for first in range(0, len(every), recipe.questions)]
