"""Training of the query projection: questions move towards the passages that answer them, which stay where they are.

The loss is the contrastive one of dense retrieval (Karpukhin and others, 2020, section 3.2), with all other passages of
the same set as negatives: their vectors are fixed, so that the best ones to confuse are always among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from argot.learn.passage_reader.searched_sets import SearchedSet
from argot.protocols import Vectors
from argot.tools.retrieval.query_projection import QueryProjection

RANKS = (1, 10, 50)


@dataclass(frozen=True, slots=True)
class ProjectionRecipe:
    """The recipe of a query projection.

    Chosen by leaving sets out: each quarter of the training sets was searched by a projection of the other three
    (bench/laboratory/retrieval.md).
    """

    seed: int = 7
    epochs: int = 3
    questions: int = 64
    """Questions of a step, all of one set."""
    rate: float = 3e-4
    decay: float = 0.01
    temperature: float = 0.05


def train_projection(sets: Sequence[SearchedSet], recipe: ProjectionRecipe) -> Vectors:
    """Return the matrix, (dimensions, dimensions), after training on all questions of the sets."""
    matrix = torch.nn.Parameter(torch.zeros((sets[0].passages.shape[1],) * 2))
    optimizer = torch.optim.AdamW([matrix], lr=recipe.rate, weight_decay=recipe.decay)
    batches = [batch for epoch in range(recipe.epochs) for batch in _draw_batches(sets, recipe, epoch)]
    for step, (one, places) in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate * (1 - step / len(batches))
        optimizer.zero_grad()
        _compute_loss(one, places, matrix, recipe.temperature).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return matrix.detach().numpy()


def _draw_batches(
    sets: Sequence[SearchedSet], recipe: ProjectionRecipe, epoch: int
) -> list[tuple[SearchedSet, list[int]]]:
    draws, size = np.random.default_rng((recipe.seed, epoch)), recipe.questions
    batches = []
    for one in sets:
        order = draws.permutation(len(one.questions)).tolist()
        batches += [(one, order[first : first + size]) for first in range(0, len(order), size)]
    return [batches[place] for place in draws.permutation(len(batches))]


def _compute_loss(one: SearchedSet, places: Sequence[int], matrix: Tensor, temperature: float) -> Tensor:
    asked = torch.from_numpy(one.questions[places])
    logits = normalize(asked + asked @ matrix, dim=1) @ torch.from_numpy(one.passages).T / temperature
    wrong = torch.ones_like(logits, dtype=torch.bool)
    for row, place in enumerate(places):
        wrong[row, list(one.right[place])] = False
    return (torch.logsumexp(logits, 1) - torch.logsumexp(logits.masked_fill(wrong, -1e9), 1)).mean()


def measure_projection(sets: Iterable[SearchedSet], projection: QueryProjection | None) -> dict[str, float]:
    """Return the share of questions with a right passage among the first 1, 10 and 50 by meaning alone."""
    ranks = [rank for one in sets for rank in _rank_right(one, projection)]
    return {f"hit@{most}": sum(rank <= most for rank in ranks) / len(ranks) for most in RANKS} if ranks else {}


def _rank_right(one: SearchedSet, projection: QueryProjection | None) -> list[int]:
    asked = projection.project_queries(one.questions) if projection else one.questions
    cosines = asked @ one.passages.T
    best = np.array([row[list(right)].max() for row, right in zip(cosines, one.right, strict=True)])
    return [int(rank) for rank in (cosines > best[:, None]).sum(1) + 1]
