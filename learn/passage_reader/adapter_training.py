"""Training of the query adapter: questions move towards the passages that answer them, which stay where they are.

The loss is the contrastive one of dense retrieval (Karpukhin and others, 2020, section 3.2), with all other passages of
the same set as negatives: their vectors are fixed, so that the best ones to confuse are always among them. What learns
are low-rank changes of the encoder's matrices (LoRA, Hu and others, 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from argot.corpus.embedding.query_adapter import WeightChange
from argot.learn.passage_reader.searched_sets import SearchedSet
from argot.learn.training_loop import LoopRecipe, ProgressListener, TrainingLoop
from argot.protocols import Vectors

RANKS = (1, 10, 50)


@dataclass(frozen=True, slots=True)
class AdapterRecipe:
    """The recipe of a query adapter.

    Chosen by leaving sets out: a quarter of the training sets was searched by an adapter of the others
    (bench/laboratory/retrieval.md).
    """

    seed: int = 7
    epochs: int = 2
    questions: int = 64
    """Questions of a step, all of one set."""
    max_tokens: int = 128
    rank: int = 16
    dropout: float = 0.1
    rate: float = 1e-3
    temperature: float = 0.05
    every: int = 50
    """Steps between checkpoints."""


class AdapterTraining:
    """One run in one folder. Its checkpoint lets it go on where it was, also after a kill."""

    def __init__(self, model: Path, sets: Sequence[SearchedSet], folder: Path, recipe: AdapterRecipe) -> None:
        """
        Args:
            model: the folder of the transformer whose weights are changed; its tokens' mean is the vector of a text.
            sets: their passages must be embedded by the same model.
        """
        from transformers import AutoTokenizer

        torch.manual_seed(recipe.seed)  # the narrow matrices are drawn
        self.recipe = recipe
        self.tokenizer = AutoTokenizer.from_pretrained(model)
        self.network = _load_network(model, recipe)
        self.batches = _draw_batches(sets, recipe)
        learning = [one for one in self.network.parameters() if one.requires_grad]
        self.loop = TrainingLoop(
            self.network,
            [{"params": learning, "lr": recipe.rate}],
            lambda step: {"search": self._compute_loss(*self.batches[step])},
            folder,
            LoopRecipe(len(self.batches), recipe.seed, every=recipe.every, card=asdict(recipe)),
        )

    def train_adapter(self, on_progress: ProgressListener) -> Mapping[str, WeightChange]:
        """Train to the end, saving every so many steps, and return the changes by layer; go on if there is a
        checkpoint.
        """
        self.loop.resume()
        self.network.train()
        self.loop.run(on_progress)
        self.network.eval()
        return _read_changes(self.network)

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of questions, (questions, dimensions), by the changed model."""
        size = self.recipe.questions
        with torch.inference_mode():
            parts = [self._embed(texts[first : first + size]) for first in range(0, len(texts), size)]
        return torch.cat(parts).numpy()

    def _compute_loss(self, one: SearchedSet, places: Sequence[int]) -> Tensor:
        asked = self._embed([one.texts[place] for place in places])
        logits = asked @ torch.from_numpy(one.passages).T / self.recipe.temperature
        wrong = torch.ones_like(logits, dtype=torch.bool)
        for row, place in enumerate(places):
            wrong[row, list(one.right[place])] = False
        return (torch.logsumexp(logits, 1) - torch.logsumexp(logits.masked_fill(wrong, -1e9), 1)).mean()

    def _embed(self, texts: Sequence[str]) -> Tensor:
        inputs = self.tokenizer(
            list(texts), padding=True, truncation=True, max_length=self.recipe.max_tokens, return_tensors="pt"
        )
        mask = inputs["attention_mask"][:, :, None]
        return normalize((self.network(**inputs).last_hidden_state * mask).sum(1) / mask.sum(1), dim=1)


def _load_network(model: Path, recipe: AdapterRecipe) -> nn.Module:
    """Load the transformer with changes to all matrices of its layers, which alone learn."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModel

    config = LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.rank,  # the changes are added as they are
        lora_dropout=recipe.dropout,
        target_modules=r"encoder\.layer\..*\.(query|key|value|dense)",
    )
    return get_peft_model(AutoModel.from_pretrained(model), config)


def _read_changes(network: Any) -> dict[str, WeightChange]:
    """Return the changes of a network's matrices by the names that their layers have in the exported graph."""
    changes = {}
    for name, module in network.named_modules():
        if hasattr(module, "lora_A"):
            layer = name[name.index("encoder.layer.") :].replace(".", "/").replace("layer/", "layer.", 1)
            down, up = (part["default"].weight.detach().T.numpy() for part in (module.lora_A, module.lora_B))
            changes[layer] = WeightChange(down, up)
    return changes


def _draw_batches(sets: Sequence[SearchedSet], recipe: AdapterRecipe) -> list[tuple[SearchedSet, list[int]]]:
    batches = []
    for epoch in range(recipe.epochs):
        draws, size = np.random.default_rng((recipe.seed, epoch)), recipe.questions
        drawn = []
        for one in sets:
            order = draws.permutation(len(one.texts)).tolist()
            drawn += [(one, order[first : first + size]) for first in range(0, len(order), size)]
        batches += [drawn[place] for place in draws.permutation(len(drawn))]
    return batches


def measure_search(sets: Iterable[SearchedSet], embed: Callable[[Sequence[str]], Vectors]) -> dict[str, float]:
    """Return the share of questions with a right passage among the first 1, 10 and 50 by meaning alone."""
    ranks = [rank for one in sets for rank in _rank_right(one, embed(one.texts))]
    return {f"hit@{most}": sum(rank <= most for rank in ranks) / len(ranks) for most in RANKS} if ranks else {}


def _rank_right(one: SearchedSet, asked: Vectors) -> list[int]:
    cosines = asked @ one.passages.T
    best = np.array([row[list(right)].max() for row, right in zip(cosines, one.right, strict=True)])
    return [int(rank) for rank in (cosines > best[:, None]).sum(1) + 1]
