"""The loop that every training of a network here runs: resumable at any step, to the same weights for the same seed."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Listing trainings must not load PyTorch, which takes seconds and a quarter of a gigabyte.
if TYPE_CHECKING:
    from torch import Tensor, nn

CHECKPOINT = "checkpoint.safetensors"
BEST = "best.safetensors"
"""The weights that measured best, of a training that validates."""
Losses = Callable[[int], "Mapping[str, Tensor]"]
"""The losses of a batch (by number; `accumulate` of them make a step), whose sum is minimised."""
ProgressListener = Callable[[int, int, Mapping[str, float]], None]
"""Step, of how many, and its losses."""


class TrainingStopped(Exception):
    """A stop was requested; the checkpoint is stored."""


@dataclass(frozen=True, slots=True)
class Validation:
    """A measurement of the network while it learns. The weights that measure best are kept, and the training ends after
    `patience` measurements in a row that are no better (*Trustworthy Answers* A.1.2).

    `measure`: returns the figure, higher for better weights. `every`: the number of steps between two of them; the last
    step is measured, too.
    """

    measure: Callable[[], float]
    every: int
    patience: int = 3


@dataclass(slots=True)
class _ValidationResults:
    """The results of validation so far: the best figure, its step, and the measurements since then."""

    best: float | None = None
    best_step: int = 0
    since: int = 0


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
        validation: ends the training early; without it the last weights are the result.
    """

    def __init__(  # noqa: PLR0917
        self,
        network: nn.Module,
        groups: Sequence[Mapping[str, Any]],
        losses: Losses,
        folder: Path,
        recipe: LoopRecipe,
        validation: Validation | None = None,
    ) -> None:
        import torch

        self.network, self.losses, self.folder, self.recipe = network, losses, folder, recipe
        self.validation, self._measured = validation, _ValidationResults()
        self.optimizer = torch.optim.AdamW([dict(group) for group in groups], weight_decay=recipe.weight_decay)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._rate)
        self.step = 0

    def _rate(self, step: int) -> float:
        steps = self.recipe.steps
        rising = max(1, int(steps * self.recipe.warm_up))
        return min(1.0, (step + 1) / rising, max(0.0, (steps - step) / max(1, steps - rising)))

    def run(self, on_progress: ProgressListener, stop: Callable[[], bool] = lambda: False) -> None:
        """Train to the end, saving every so many steps. With a validation the network then has the best weights.

        Raises:
            TrainingStopped: `stop` requested it; the progress is saved.
            OSError: the folder cannot be written; the last checkpoint is as it was.
        """
        import torch

        while self.step < self.recipe.steps and not self._has_stalled:
            if stop():
                self.save()
                raise TrainingStopped
            torch.manual_seed(self.recipe.seed * 1_000_003 + self.step)
            losses = self._compute_gradients()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.recipe.largest_gradient)
            self.optimizer.step()
            self.schedule.step()
            self.step += 1
            on_progress(self.step, self.recipe.steps, losses)
            is_measured = self._validate()
            if is_measured or self.step % self.recipe.every == 0 or self.step == self.recipe.steps:
                self.save()
        if self.validation is not None:
            self._restore_best()

    # -- validation ---------------------------------------------------------------------------------------------------

    @property
    def best_step(self) -> int | None:
        """Return the step whose weights are the result; None without a validation."""
        return self._measured.best_step if self.validation is not None else None

    @property
    def _has_stalled(self) -> bool:
        return self.validation is not None and self._measured.since >= self.validation.patience

    def _validate(self) -> bool:
        """Measure the network if its turn has come, and keep its weights if they are the best so far."""
        if self.validation is None or (self.step % self.validation.every and self.step != self.recipe.steps):
            return False
        self.network.eval()
        figure = self.validation.measure()
        self.network.train()
        if self._measured.best is None or figure > self._measured.best:
            self._measured = _ValidationResults(figure, self.step)
            write_tensors(
                self.folder / BEST, {name: one.detach().contiguous() for name, one in self._select_learning().items()}
            )
        else:
            self._measured.since += 1
        return True

    def _restore_best(self) -> None:
        from safetensors.torch import load_file

        self.network.load_state_dict(load_file(self.folder / BEST), strict=False)

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
        tensors = {f"network.{name}": value.detach().contiguous() for name, value in self._select_learning().items()}
        for number, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in moments.items()}
        card = {"step": str(self.step), "recipe": json.dumps(dict(self.recipe.card))}
        if self.validation is not None:
            card["measured"] = json.dumps(asdict(self._measured))
        write_tensors(self.folder / CHECKPOINT, tensors, card)

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
        self._measured = _ValidationResults(**saved.measured)
        self.schedule.last_epoch = self.step
        for group, first in zip(self.optimizer.param_groups, self.schedule.base_lrs, strict=True):
            group["lr"] = first * self._rate(self.step)
        return True


def write_tensors(path: Path, tensors: dict[str, Tensor], card: dict[str, str] | None = None) -> None:
    """Write a file of tensors and its card, completely or not at all.

    Raises:
        OSError: the file cannot be written; one that was there before is as it was.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.draft")
    try:
        save_file(tensors, draft, card)
        os.replace(draft, path)  # noqa: PTH105
    except SafetensorError as error:
        # Only its text has the system's error number; viewers of the training see the system's message.
        number = re.search(r"os error (\d+)", str(error))
        raise OSError(int(number[1]) if number else errno.EIO, _describe_write_error(number), str(draft)) from error
    finally:
        draft.unlink(missing_ok=True)


def _describe_write_error(number: re.Match[str] | None) -> str:
    return os.strerror(int(number[1])) if number else "The checkpoint cannot be written"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A training as saved: weights by name, the optimizer's moments by parameter, how far it was, its recipe, and what
    its validation measured.
    """

    network: dict[str, Tensor]
    moments: dict[int, dict[str, Tensor]]
    step: int
    recipe: dict[str, Any]
    measured: dict[str, Any] = field(default_factory=dict)


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
    measured = json.loads(card.get("measured", "{}"))
    return Checkpoint(network, moments, int(card["step"]), json.loads(card["recipe"]), measured)


def average_checkpoints(first: Path, last: Path, target: Path) -> None:
    """Write a checkpoint with the means of the weights of two, and with the step and recipe of the last one.

    Raises:
        OSError: it cannot be written.
    """
    from safetensors import safe_open

    with safe_open(last, framework="pt") as file:
        card = file.metadata()
    one, other = read_checkpoint(first).network, read_checkpoint(last).network
    write_tensors(target, {f"network.{name}": (one[name] + other[name]) / 2 for name in other}, card)
