"""The check that pairs suffice to train on and to measure by: done before hours are spent, not after."""

from __future__ import annotations

from collections.abc import Sequence

from argot.errors import InvalidInput
from argot.learn.run_folder import RunKind
from argot.learn.training_pairs import PARTS, TrainingPair, select_part

MIN_PAIRS = {"train": 32, "validation": 4, "test": 4}
"""Minimum of each part. Below this a training is meaningless, and no interval excludes zero."""
MIN_PASSAGES = 8
"""Different passages to learn from: the others are the negatives."""
MORE = "Make more with 'argot learn data make', from more documents or with more kinds of questions."


class TooFewPairs(InvalidInput):
    """The pairs of a set do not suffice, and as long as they are the same, trying again does not help."""


def require_trainable(pairs: Sequence[TrainingPair], kind: RunKind) -> None:
    """Check that a training of this kind can learn from these pairs.

    Raises:
        TooFewPairs: they are too few, all of too few passages, or have no answers where answers are learnt.
    """
    usable = [pair for pair in pairs if pair.answer.strip()] if kind == "generator" else list(pairs)
    if pairs and not usable:
        raise TooFewPairs(
            "None of these pairs has an answer, and a generator learns answers. Make pairs that have them: "
            "argot learn data make NAME --kind standard"
        )
    what = "pairs with an answer" if kind == "generator" else "pairs"
    for part in PARTS:
        if (found := len(select_part(usable, part))) < MIN_PAIRS[part]:
            raise TooFewPairs(f"There are {found} {what} in the part '{part}', and it takes {MIN_PAIRS[part]}. {MORE}")
    train = select_part(usable, "train")
    if (passages := len({pair.passage for pair in train})) < MIN_PASSAGES:
        raise TooFewPairs(
            f"The {len(train)} pairs to learn from are about {passages} different passages, and it takes "
            f"{MIN_PASSAGES}: the passages of other pairs serve as wrong answers. {MORE}"
        )
