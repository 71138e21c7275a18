"""Training of the pair reader: its losses, over the loop that all trainings share, and its two stages."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from argot.corpus.embedding.embedder import open_tokenizer
from argot.learn.passage_reader.examples import Example, JudgedPassage
from argot.learn.passage_reader.pair_network import load_network
from argot.learn.passage_reader.question_wording import vary_question
from argot.learn.pool_search import has_bfloat16
from argot.learn.training_loop import (
    CHECKPOINT,
    LoopRecipe,
    ProgressListener,
    TrainingLoop,
    TrainingStopped,
    average_checkpoints,
    read_checkpoint,
)
from argot.tools.retrieval.passage_windows import Window, build_inputs, build_windows

KEPT_CHECKPOINT, AVERAGED_CHECKPOINT = "kept.safetensors", "averaged.safetensors"
_BATCH_WINDOWS = 8


@dataclass(frozen=True, slots=True)
class PairRecipe:
    """The recipe of a pair reader: its settings beside the data."""

    seed: int = 7
    layers: int = 6
    epochs: int = 3
    steps: int | None = None
    """Steps of the training if the epochs have more."""
    most_steps: int | None = None
    """Steps after which the training ends, though its rates fall as if it did not."""
    averaged_step: int | None = None
    """The step whose weights are averaged with the last ones."""
    questions: int = 4
    """Questions of a step."""
    negatives: int = 3
    """Passages without the answer that are read beside the right one, drawn anew in each epoch."""
    window_tokens: int = 160
    """Tokens of a window; in service it has more, which would take twice as long to train."""
    encoder_rate: float = 5e-5
    head_rate: float = 1e-3
    warm_up: float = 0.06
    outside: float = 0.3
    """The weight of a unit of a passage that does not answer, beside one of a passage that does."""
    every: int = 25
    """Steps between checkpoints."""


@dataclass(frozen=True, slots=True)
class _BatchWindow:
    """A window of a batch: the question's place in it, and what is known of passage and units."""

    window: Window
    question: int
    relevant: bool
    labels: tuple[int, ...]


class PairTraining:
    """One run in one folder. Its checkpoint lets it go on where it was, also after a kill.

    Args:
        start: a checkpoint of an earlier training to start from, such as one on other data.
    """

    def __init__(
        self, model: Path, examples: Sequence[Example], folder: Path, recipe: PairRecipe, start: Path | None = None
    ) -> None:
        torch.manual_seed(recipe.seed)  # the heads are drawn
        self.recipe = recipe
        self.network = load_network(model, recipe.layers)
        if start is not None:
            self.network.load_state_dict(read_checkpoint(start).network, strict=False)
        self.tokenizer = open_tokenizer(model)
        self.batches = _draw_batches(examples, recipe)[: recipe.steps]
        self.half = has_bfloat16()
        encoder = [one for one in self.network.encoder.parameters() if one.requires_grad]
        heads = [one for name, one in self.network.named_parameters() if not name.startswith("encoder.")]
        self.loop = TrainingLoop(
            self.network,
            [{"params": encoder, "lr": recipe.encoder_rate}, {"params": heads, "lr": recipe.head_rate}],
            self.compute_losses,
            folder,
            LoopRecipe(len(self.batches), recipe.seed, recipe.warm_up, every=recipe.every, card=asdict(recipe)),
        )

    def train_network(self, on_progress: ProgressListener) -> Path:
        """Train to the end, saving every so many steps, and return the result; go on if there is a checkpoint.

        Raises:
            FileNotFoundError: the training has passed the step that is averaged, and its weights were not kept.
        """
        self.loop.resume()
        self.network.train()
        last, averaged = self.loop.folder / CHECKPOINT, self.recipe.averaged_step
        if averaged is None:
            self._train_until(self.recipe.most_steps, on_progress)
            return last
        kept, result = last.with_name(KEPT_CHECKPOINT), last.with_name(AVERAGED_CHECKPOINT)
        if self.loop.step <= averaged:
            self._train_until(averaged, on_progress)
            shutil.copyfile(last, kept)
        elif not kept.is_file():
            raise FileNotFoundError(
                f"{last.parent} has no weights of step {averaged}. Empty the folder and train again."
            )
        self._train_until(self.recipe.most_steps, on_progress)
        average_checkpoints(kept, last, result)
        return result

    def _train_until(self, step: int | None, on_progress: ProgressListener) -> None:
        with suppress(TrainingStopped):
            self.loop.run(on_progress, lambda: step is not None and self.loop.step >= step)

    def compute_losses(self, step: int) -> dict[str, Tensor]:
        """Return the losses of a batch: a relevant passage above the others of its question, each passage and each unit
        judged by itself, and the answer's units above the others of their passage.
        """
        draws = random.Random(f"{self.recipe.seed} {step}")  # noqa: S311
        read = [one for place, e in enumerate(self.batches[step]) for one in self._read_example(place, e, draws)]
        read.sort(key=lambda one: len(one.window.ids))  # so that little is filled up
        parts = [read[first : first + _BATCH_WINDOWS] for first in range(0, len(read), _BATCH_WINDOWS)]
        logits = [self._compute_logits([one.window for one in part]) for part in parts]
        most = max(units.shape[1] for _, units in logits)
        units = torch.cat([functional.pad(one, (0, most - one.shape[1]), value=-30.0) for _, one in logits])
        return compute_losses(torch.cat([one for one, _ in logits]), units, read, self.recipe.outside)

    def _compute_logits(self, windows: Sequence[Window]) -> tuple[Tensor, Tensor]:
        inputs = {name: torch.from_numpy(value) for name, value in build_inputs(windows).items()}
        with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
            relevance, units = self.network(**inputs)
        return relevance.float(), units.float()

    def _read_example(self, place: int, example: Example, draws: random.Random) -> list[_BatchWindow]:
        question = vary_question(example.question, draws)
        right = [one for one in example.passages if one.relevant]
        wrong = [one for one in example.passages if not one.relevant]
        chosen = draws.sample(right, min(1, len(right)))
        chosen += draws.sample(wrong, min(self.recipe.negatives, len(wrong)))
        return [one for passage in chosen for one in self._read_passage(place, question, passage, draws)]

    def _read_passage(
        self, place: int, question: str, passage: JudgedPassage, draws: random.Random
    ) -> list[_BatchWindow]:
        """Return one window of a passage: of one that answers, a window with the answer."""
        windows = build_windows(self.tokenizer, question, passage.text, self.recipe.window_tokens)
        if passage.relevant and any(label > 0 for label in passage.labels):
            windows = [one for one in windows if any(passage.labels[number] > 0 for number in one.units)]
        if not windows:
            return []
        window = draws.choice(windows)
        return [_BatchWindow(window, place, passage.relevant, tuple(passage.labels[number] for number in window.units))]


def compute_losses(relevance: Tensor, units: Tensor, read: Sequence[_BatchWindow], outside: float) -> dict[str, Tensor]:
    """Compute the losses of windows from their logits, (windows,), and those of their units, (windows, units)."""
    relevant = torch.tensor([one.relevant for one in read])
    labels = torch.full(units.shape, -1.0)
    for row, one in enumerate(read):
        labels[row, : len(one.labels)] = torch.tensor(one.labels, dtype=torch.float)
    losses = {"relevance": functional.binary_cross_entropy_with_logits(relevance, relevant.float())}
    orders = _compute_orders(relevance, relevant, torch.tensor([one.question for one in read]))
    if orders is not None:
        losses["order"] = orders
    known = labels >= 0
    if known.any():
        weights = torch.where(relevant[:, None].expand_as(units), 1.0, outside)[known]
        single = functional.binary_cross_entropy_with_logits(units[known], labels[known], reduction="none")
        losses["units"] = (single * weights).sum() / weights.sum()
    held = (labels > 0).any(-1)
    if held.any():
        whole = units[held].masked_fill(~known[held], -30.0).logsumexp(-1)
        losses["choice"] = (whole - units[held].masked_fill(labels[held] <= 0, -30.0).logsumexp(-1)).mean()
    return losses


def _compute_orders(relevance: Tensor, relevant: Tensor, questions: Tensor) -> Tensor | None:
    """Compute the mean cross entropy of the relevant passages of each question that has relevant and other ones."""
    losses = []
    for question in {*questions.tolist()}:
        own = questions == question
        if relevant[own].any() and not relevant[own].all():
            losses.append(relevance[own].logsumexp(0) - relevance[own & relevant].logsumexp(0))
    return torch.stack(losses).mean() if losses else None


def _draw_batches(examples: Sequence[Example], recipe: PairRecipe) -> list[list[Example]]:
    """Draw the batches of all epochs, each epoch in another order; the last ones of an epoch may be left out."""
    draws, size, batches = random.Random(recipe.seed), recipe.questions, []  # noqa: S311
    for _ in range(recipe.epochs):
        order = draws.sample(list(examples), len(examples))
        batches += [order[first : first + size] for first in range(0, len(order) - size + 1, size)]
    return batches


# -- the three stages -------------------------------------------------------------------------------------------------

STAGES = (
    PairRecipe(epochs=1, most_steps=700, encoder_rate=1e-4, every=100),
    PairRecipe(epochs=3, averaged_step=2_300, encoder_rate=8e-5, every=100),
    PairRecipe(epochs=2, steps=5_000, encoder_rate=8e-5, every=100),
    PairRecipe(epochs=1, encoder_rate=6e-5, every=100),
)
"""The recipes of the first stage, on data of all kinds, of two runs of the second, on employees' questions alone, and
of the third, which goes on from the mean of both runs.

The mean of the weights early in the second epoch and at the end chooses better than either, and so does the mean of
both runs; of the third stage the end does (bench/laboratory/retrieval.md)."""


def train_pair_reader(
    model: Path, first: Sequence[Example], known: Sequence[Example], folder: Path, on_progress: ProgressListener
) -> Path:
    """Train the stages in the folder, or go on where they were; return the checkpoint that is the result.

    Args:
        first: examples of the first stage, which the known questions join twice.
    """
    every = [*first, *(one for one in first if one.source == "clapnq"), *known, *known]
    start = PairTraining(model, every, folder / "first", STAGES[0]).train_network(on_progress)
    one, other = (
        PairTraining(model, known, folder / name, recipe, start).train_network(on_progress)
        for name, recipe in zip(("second", "third"), STAGES[1:3], strict=True)
    )
    mean = folder / AVERAGED_CHECKPOINT
    average_checkpoints(one, other, mean)
    return PairTraining(model, known, folder / "fourth", STAGES[3], mean).train_network(on_progress)
