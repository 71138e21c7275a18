"""Batches of questions with their passage and near ones that do not answer, nothing twice in a batch."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from argot.learn.figures import MEASURED_PARTS
from argot.learn.pool_search import FoundPassages
from argot.learn.run_data import RunData, normalize_wording
from argot.learn.training_pairs import TrainingPair


@dataclass(frozen=True, slots=True)
class Drawing:
    """The settings by which batches are drawn.

    Attributes:
        size: questions in a batch.
        negatives: near passages beside each question, drawn again in each epoch.
        negatives_from: of how many of the nearest they are drawn.
        margin: a negative's cosine stays at least so far beneath that of the passage that answers; 0: any.
        unique: no question, passage or negative occurs twice in a batch.
        in_training: no negative is a passage of the validation or test part.
    """

    epochs: int
    size: int
    negatives: int
    negatives_from: int
    margin: float
    seed: int
    unique: bool = True
    in_training: bool = False


@dataclass(frozen=True, slots=True)
class DrawnExample:
    """A question, the text of the passage that answers it, and texts of passages that do not."""

    question: str
    passage: str
    negatives: tuple[str, ...]


def draw_batches(data: RunData, found: Mapping[str, FoundPassages], drawing: Drawing) -> list[list[DrawnExample]]:
    """Draw the batches of all epochs, one after the other; the same for the same data and seed."""
    drawn: list[list[DrawnExample]] = []
    left_out = _list_held_out(data) if drawing.in_training else frozenset()
    for epoch in range(drawing.epochs):
        chance = random.Random(f"{drawing.seed}:{epoch}")  # noqa: S311
        pairs = list(data.pairs["train"])
        chance.shuffle(pairs)
        chosen = {pair.id: _draw_negatives(pair, data, found[pair.id], drawing, chance, left_out) for pair in pairs}
        for batch in _fill_batches(pairs, data, chosen, drawing):
            # A single pair could only be contrasted with its own negatives.
            if len(batch) > 1:
                drawn.append([_build_example(pair, data, chosen[pair.id]) for pair in batch])
    return drawn


def _list_held_out(data: RunData) -> frozenset[str]:
    """List the passages that answer questions of the validation and test parts."""
    return frozenset(one for part in MEASURED_PARTS for pair in data.pairs[part] for one in data.gold[pair.id])


def _draw_negatives(  # noqa: PLR0917
    pair: TrainingPair,
    data: RunData,
    found: FoundPassages,
    drawing: Drawing,
    chance: random.Random,
    left_out: frozenset[str],
) -> tuple[str, ...]:
    """Draw ids of passages near the question that do not answer it; where too few are near, any others."""
    gold = data.gold[pair.id] | left_out
    near = [
        passage
        for passage, cosine in zip(found.passages, found.cosines, strict=True)
        if passage not in gold and (not drawing.margin or cosine <= found.own - drawing.margin)
    ]
    known = [passage for passage in pair.negatives if passage in data.pool and passage not in gold]
    candidates = list(dict.fromkeys([*known, *near]))[: drawing.negatives_from]
    drawn = chance.sample(candidates, min(drawing.negatives, len(candidates)))
    if len(drawn) < drawing.negatives:
        others = [passage for passage in data.pool if passage not in gold and passage not in drawn]
        drawn += chance.sample(others, min(drawing.negatives - len(drawn), len(others)))
    return tuple(drawn)


def _fill_batches(
    pairs: Sequence[TrainingPair], data: RunData, chosen: Mapping[str, tuple[str, ...]], drawing: Drawing
) -> Iterator[list[TrainingPair]]:
    """Fill batches in order; a pair that would repeat a text waits for the next batch (NO_DUPLICATES sampling)."""
    waiting = list(pairs)
    while waiting:
        batch: list[TrainingPair] = []
        later: list[TrainingPair] = []
        taken: set[str] = set()
        for place, pair in enumerate(waiting):
            if len(batch) == drawing.size:
                later += waiting[place:]
                break
            # All passages that answer it, not only its own: another pair's negative must not be an answer here.
            own = {normalize_wording(pair.question), *data.gold[pair.id], *chosen[pair.id]}
            if drawing.unique and own & taken:
                later.append(pair)
            else:
                batch.append(pair)
                taken |= own
        yield batch
        waiting = later


def _build_example(pair: TrainingPair, data: RunData, negatives: tuple[str, ...]) -> DrawnExample:
    return DrawnExample(pair.question, pair.passage, tuple(data.pool[one] for one in negatives))
