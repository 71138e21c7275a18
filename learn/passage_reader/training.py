"""Training of the passage reader: small networks for units, each on other documents, and a linear head for passages.

Each network leaves out a part of the sources (organisations). The head for passages thus learns from the logits of
units that their network has not seen, as in service.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from argot.learn.passage_reader.examples import Example, JudgedPassage
from argot.tools.retrieval.token_vectors import Floats
from argot.tools.retrieval.unit_features import add_summary


@dataclass(frozen=True, slots=True)
class PassageReaderRecipe:
    """The recipe of a passage reader: its settings beside the data."""

    seed: int = 7
    networks: int = 4
    hidden: int = 32
    dropout: float = 0.1
    epochs: int = 12
    passages: int = 32
    """Number of passages (for the head for passages: of questions) in one step."""
    rate: float = 3e-3
    weight_decay: float = 0.01
    outside: float = 0.3
    """The weight of a unit of a passage that does not answer, beside one of a passage that does."""
    passage_epochs: int = 15
    passage_rate: float = 5e-3


class UnitHead(nn.Module):
    """The network that judges units: a linear part, and a layer of hidden values beside it."""

    def __init__(self, features: int, recipe: PassageReaderRecipe) -> None:
        super().__init__()
        self.linear = nn.Linear(features, 1)
        self.inner = nn.Linear(features, recipe.hidden)
        self.outer = nn.Linear(recipe.hidden, 1, bias=False)
        self.drop = nn.Dropout(recipe.dropout)

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits, (units,), of standardised features, (units, features)."""
        hidden = functional.relu(self.inner(self.drop(features)))
        return (self.linear(features) + self.outer(self.drop(hidden))).squeeze(-1)  # type: ignore[no-any-return]


ProgressListener = Callable[[str, int, int], None]
"""Reports progress: the part that is trained, its epoch, and the number of epochs."""


def train_passage_reader(
    examples: Sequence[Example], recipe: PassageReaderRecipe, on_progress: ProgressListener
) -> dict[str, Any]:
    """Train both heads; return their weights in the form of the file.

    The same examples and recipe give the same weights. A thousand questions take less than a minute on one core.
    """
    torch.manual_seed(recipe.seed)
    means, scales = _measure_scales(examples)
    sources = sorted({one.source for one in examples})
    networks, summaries = [], {}
    for fold in range(recipe.networks):
        left_out = set(sources[fold :: recipe.networks]) if len(sources) >= recipe.networks else set()
        shown = [one for one in examples if one.source not in left_out]
        head = _train_units(
            [_to_tensors(p, means, scales) for one in shown for p in one.passages], recipe, fold, on_progress
        )
        networks.append(head)
        for one in examples:
            if one.source in left_out or not left_out:
                summaries[id(one)] = [_summarise(head, p, means, scales) for p in one.passages]
    weights, bias = _train_passages([(one, summaries[id(one)]) for one in examples], recipe, on_progress)
    return {
        "means": _round(means),
        "scales": _round(scales),
        "units": [_describe_network(one) for one in networks],
        "passage": _round(weights),
        "passage_bias": bias,
        "recipe": asdict(recipe),
    }


def _measure_scales(examples: Sequence[Example]) -> tuple[Floats, Floats]:
    every = np.concatenate([passage.units for one in examples for passage in one.passages])
    return every.mean(0), every.std(0) + 1e-3


# -- units ------------------------------------------------------------------------------------------------------------

_Units = tuple[Tensor, Tensor, bool]
"""The features of a passage's units, their labels, and true if the passage answers."""


def _to_tensors(passage: JudgedPassage, means: Floats, scales: Floats) -> _Units:
    features = torch.from_numpy((passage.units - means) / scales).float()
    return features, torch.tensor(passage.labels, dtype=torch.float), passage.relevant


def _train_units(
    passages: Sequence[_Units], recipe: PassageReaderRecipe, fold: int, on_progress: ProgressListener
) -> UnitHead:
    head = UnitHead(passages[0][0].shape[1], recipe)
    size, draws = recipe.passages, random.Random(f"{recipe.seed} {fold}")  # noqa: S311
    steps = max(1, recipe.epochs * (len(passages) // size))
    optimizer = torch.optim.AdamW(head.parameters(), lr=recipe.rate, weight_decay=recipe.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.rate, total_steps=steps + 1)
    head.train()
    for epoch in range(recipe.epochs):
        on_progress(f"network {fold + 1} of {recipe.networks}", epoch + 1, recipe.epochs)
        order = draws.sample(list(passages), len(passages))
        for first in range(0, len(order) - size + 1, size):
            _step(compute_unit_loss(head, order[first : first + size], recipe.outside), optimizer)
            schedule.step()
    return head.eval()


def _step(loss: Tensor, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def compute_unit_loss(head: nn.Module, passages: Sequence[_Units], outside: float) -> Tensor:
    """Compute the loss of a batch: each unit is judged by itself, and the answer's units must exceed the others of
    their passage.
    """
    logits = head(torch.cat([features for features, _, _ in passages]))
    labels = torch.cat([labels for _, labels, _ in passages])
    weights = torch.cat([torch.full_like(labels, 1.0 if relevant else outside) for _, labels, relevant in passages])
    known = labels >= 0
    single = functional.binary_cross_entropy_with_logits(logits[known], labels[known], reduction="none")
    loss = (single * weights[known]).sum() / weights[known].sum().clamp_min(1e-6)
    choices = [
        own[wanted >= 0].logsumexp(0) - own[wanted > 0].logsumexp(0)
        for own, (_, wanted, _) in zip(logits.split([len(one[1]) for one in passages]), passages, strict=True)
        if (wanted > 0).any()
    ]
    return loss + torch.stack(choices).mean() if choices else loss


# -- passages ---------------------------------------------------------------------------------------------------------


def _summarise(head: UnitHead, passage: JudgedPassage, means: Floats, scales: Floats) -> Floats:
    """Return the features of a passage as a whole, with those that come from its units' logits."""
    with torch.inference_mode():
        logits = head(torch.from_numpy((passage.units - means) / scales).float()).numpy()
    return add_summary(logits[list(passage.may_answer)], passage.whole)


def _train_passages(
    examples: Sequence[tuple[Example, Sequence[Floats]]], recipe: PassageReaderRecipe, on_progress: ProgressListener
) -> tuple[Floats, float]:
    """Train the head for passages; return the weights of its features, and its bias."""
    every = np.concatenate([np.stack(features) for _, features in examples])
    means, scales = every.mean(0), every.std(0) + 1e-6
    batch = [
        (
            torch.from_numpy((np.stack(features) - means) / scales).float(),
            torch.tensor([p.relevant for p in one.passages]),
        )
        for one, features in examples
    ]
    head, draws = nn.Linear(len(means), 1), random.Random(recipe.seed)  # noqa: S311
    optimizer = torch.optim.AdamW(head.parameters(), lr=recipe.passage_rate, weight_decay=recipe.weight_decay)
    for epoch in range(recipe.passage_epochs):
        on_progress("passages", epoch + 1, recipe.passage_epochs)
        order = draws.sample(batch, len(batch))
        for first in range(0, len(order), recipe.passages):
            losses = [compute_passage_loss(head, *one) for one in order[first : first + recipe.passages]]
            _step(torch.stack(losses).mean(), optimizer)
    weights = head.weight.detach().numpy()[0] / scales
    return weights, float(head.bias.detach()) - float(weights @ means)


def compute_passage_loss(head: nn.Module, features: Tensor, relevant: Tensor) -> Tensor:
    """Compute the loss of a question's passages: each is judged by itself, and right ones must exceed the others."""
    logits = head(features).squeeze(-1)
    loss = functional.binary_cross_entropy_with_logits(logits, relevant.float())
    if relevant.any() and not relevant.all():
        loss = loss + 0.5 * (logits.logsumexp(0) - logits[relevant].logsumexp(0))
    return loss


# -- the file ---------------------------------------------------------------------------------------------------------


def _describe_network(head: UnitHead) -> dict[str, Any]:
    values = {name: value.detach().numpy() for name, value in head.state_dict().items()}
    return {
        "linear": _round(values["linear.weight"][0]),
        "inner": [_round(row) for row in values["inner.weight"]],
        "inner_bias": _round(values["inner.bias"]),
        "outer": _round(values["outer.weight"][0]),
        "bias": round(float(values["linear.bias"][0]), 4),
    }


def _round(values: Floats) -> list[float]:
    return [round(float(one), 4) for one in values]
