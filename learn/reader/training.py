"""Training the reader: its losses, over the loop that all trainings share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from argot.learn.reader.network import ReadTexts, compute_features, load_network
from argot.learn.training_loop import LoopRecipe, ProgressListener, TrainingLoop


@dataclass(frozen=True, slots=True)
class Example:
    """A question (`text`) with the passage that answers it, or None; `negatives` are near but do not answer."""

    source: str
    text: str
    passage: str | None
    negatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrainingRecipe:
    """The recipe of a reader: its settings beside the data."""

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
    every: int = 25
    """Steps between checkpoints."""


class Trainer:
    """One run in one folder. Its checkpoint lets it go on where it was, also after a kill."""

    def __init__(self, model: Path, examples: Sequence[Example], folder: Path, recipe: TrainingRecipe) -> None:
        from tokenizers import Tokenizer

        torch.manual_seed(recipe.seed)  # weights that the model does not bring are drawn
        self.recipe = recipe
        self.network = load_network(model)
        self.batches = _split_batches(examples, recipe)
        self.tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self.tokenizer.no_padding()
        encoder = [one for one in self.network.encoder.parameters() if one.requires_grad]
        others = [one for name, one in self.network.named_parameters() if not name.startswith("encoder.")]
        self.loop = TrainingLoop(
            self.network,
            [{"params": encoder, "lr": recipe.encoder_rate}, {"params": others, "lr": recipe.reading_rate}],
            lambda step: self.losses(self.batches[step]),
            folder,
            LoopRecipe(len(self.batches), recipe.seed, recipe.warm_up, every=recipe.every, card=asdict(recipe)),
        )

    def run(self, on_progress: ProgressListener, stop: Callable[[], bool] = lambda: False) -> None:
        """Train to the end, saving every so many steps.

        Raises:
            TrainingStopped: `stop` requested it.
        """
        self.network.train()
        for module in self.network.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0  # two readings of one text would differ, and the matches with them
        self.loop.run(on_progress, stop)

    # -- losses -------------------------------------------------------------------------------------------------------

    def losses(self, examples: Sequence[Example]) -> dict[str, Tensor]:
        """Return the losses: right passages above all others of the batch; similar ones without the answer
        distinguished.
        """
        passages, owners, right = _collect_passages(examples)
        asked = self._read_texts([one.text for one in examples], self.recipe.question_tokens)
        read = self._read_texts(passages, self.recipe.passage_tokens)
        logits = self.network.logits("relevance", compute_features(asked, read))
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

    def _read_texts(self, texts: Sequence[str], tokens: int) -> ReadTexts:
        self.tokenizer.enable_truncation(tokens)
        found = self.tokenizer.encode_batch(list(texts))
        longest = max(len(one.ids) for one in found)
        ids = torch.tensor([one.ids + [0] * (longest - len(one.ids)) for one in found])
        mask = torch.tensor([[1] * len(one.ids) + [0] * (longest - len(one.ids)) for one in found])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.network.read_texts(ids, mask)


def _collect_passages(examples: Sequence[Example]) -> tuple[list[str], list[int], list[int]]:
    """Collect all passages of a batch, the question of each, and the question it answers, -1 for none."""
    passages, owners, right = [], [], []
    for row, one in enumerate(examples):
        own = [(one.passage, row)] if one.passage is not None else []
        for text, answered in [*own, *((negative, -1) for negative in one.negatives[:1])]:
            passages.append(text)
            owners.append(row)
            right.append(answered)
    return passages, owners, right


def _split_batches(examples: Sequence[Example], recipe: TrainingRecipe) -> list[Sequence[Example]]:
    every = [*examples] * recipe.epochs
    return [every[first : first + recipe.questions] for first in range(0, len(every), recipe.questions)]
