"""The loop that every training of a network here runs: resumable at any step, to the same weights for the same seed."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Listing trainings must not load PyTorch, which takes seconds and a quarter of a gigabyte.
if TYPE_CHECKING:
    from torch import Tensor, nn

CHECKPOINT = "checkpoint.safetensors"
Losses = Callable[[int], "Mapping[str, Tensor]"]
"""The losses of a batch (by number; `accumulate` of them make a step), whose sum is minimised."""
Told = Callable[[int, int, Mapping[str, float]], None]
"""Step, of how many, and its losses."""


class TrainingStopped(Exception):
    """A stop was requested; the checkpoint is stored."""


@dataclass(frozen=True, slots=True)
class LoopRecipe:
    """The recipe of the changes to the weights.

    `warm_up`: the share of all steps in which the rates rise; then they fall to zero.
    `every`: the number of steps between checkpoints. `accumulate`: the number of batches in a step.
    """

    steps: int
    seed: int = 7
    warm_up: float = 0.06
    weight_decay: float = 0.01
    largest_gradient: float = 1.0
    every: int = 25
    accumulate: int = 1
    card: Mapping[str, Any] = field(default_factory=dict)
    """The whole recipe, which is stored beside the weights."""


class TrainingLoop:
    """Trains `network` by AdamW, in one folder.

    Args:
        groups: parameters with their rates, as AdamW takes them: `{"params": [...], "lr": 3e-5}`.
        losses: those of a batch; its random draws come from torch's generator, which is seeded for each step, so that a
            resumed training draws the same.
    """

    def __init__(
        self,
        network: nn.Module,
        groups: Sequence[Mapping[str, Any]],
        losses: Losses,
        folder: Path,
        recipe: LoopRecipe,
    ) -> None:
        import torch

        self.network, self.losses, self.folder, self.recipe = network, losses, folder, recipe
        self.optimizer = torch.optim.AdamW([dict(group) for group in groups], weight_decay=recipe.weight_decay)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._rate)
        self.step = 0

    def _rate(self, step: int) -> float:
        steps = self.recipe.steps
        rising = max(1, int(steps * self.recipe.warm_up))
        return min(1.0, (step + 1) / rising, max(0.0, (steps - step) / max(1, steps - rising)))

    def run(self, told: Told, stop: Callable[[], bool] = lambda: False) -> None:
        """Train to the end, saving every so many steps.

        Raises:
            TrainingStopped: `stop` requested it; the progress is saved.
            OSError: the folder cannot be written; the last checkpoint is as it was.
        """
        import torch

        while self.step < self.recipe.steps:
            if stop():
                self.save()
                raise TrainingStopped
            torch.manual_seed(self.recipe.seed * 1_000_003 + self.step)
            losses = self._compute_gradients()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.recipe.largest_gradient)
            self.optimizer.step()
            self.schedule.step()
            self.step += 1
            told(self.step, self.recipe.steps, losses)
            if self.step % self.recipe.every == 0 or self.step == self.recipe.steps:
                self.save()

    def _compute_gradients(self) -> dict[str, float]:
        """Compute the gradients of a step, one batch after the other; its losses are their means."""
        import torch

        self.optimizer.zero_grad()
        parts = self.recipe.accumulate
        means: dict[str, float] = {}
        for part in range(parts):
            losses = self.losses(self.step * parts + part)
            (torch.stack([*losses.values()]).sum() / parts).backward()  # type: ignore[no-untyped-call]
            for name, loss in losses.items():
                means[name] = means.get(name, 0.0) + loss.item() / parts
        return means

    # -- going on -----------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Save the weights that learn, and all that is needed to go on, in one file that is whole or not there."""
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        self.folder.mkdir(parents=True, exist_ok=True)
        tensors = {f"network.{name}": value.detach().contiguous() for name, value in self._select_learning().items()}
        for number, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in moments.items()}
        draft = self.folder / f"{CHECKPOINT}.draft"
        try:
            save_file(tensors, draft, {"step": str(self.step), "recipe": json.dumps(dict(self.recipe.card))})
            os.replace(draft, self.folder / CHECKPOINT)  # noqa: PTH105
        except SafetensorError as error:
            # Only its text has the system's error number; viewers of the training see the system's message.
            number = re.search(r"os error (\d+)", str(error))
            raise OSError(int(number[1]) if number else errno.EIO, _describe_write_error(number), str(draft)) from error
        finally:
            draft.unlink(missing_ok=True)

    def _select_learning(self) -> dict[str, Tensor]:
        """Select the weights that change, without buffers: a LoRA is saved without the model beneath it."""
        return {name: value for name, value in self.network.named_parameters() if value.requires_grad}

    def resume(self) -> bool:
        """Go on from the folder's checkpoint, if it has one."""
        if not (self.folder / CHECKPOINT).is_file():
            return False
        saved = read_checkpoint(self.folder / CHECKPOINT)
        self.network.load_state_dict(saved.network, strict=False)
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": saved.moments, "param_groups": groups})
        self.step = saved.step
        self.schedule.last_epoch = self.step
        for group, first in zip(self.optimizer.param_groups, self.schedule.base_lrs, strict=True):
            group["lr"] = first * self._rate(self.step)
        return True


def _describe_write_error(number: re.Match[str] | None) -> str:
    return os.strerror(int(number[1])) if number else "The checkpoint cannot be written"


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
