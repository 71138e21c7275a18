"""Whether pairs are enough to train on and to measure by: found out before hours are spent, not after."""

from __future__ import annotations

from collections.abc import Sequence

from argot.errors import InvalidInput
from argot.learn.run_folder import RunKind
from argot.learn.training_pairs import PARTS, TrainingPair, of_part

LEAST_PAIRS = {"train": 32, "validation": 4, "test": 4}
"""Of each part. Below this a training says nothing, and no interval excludes zero."""
LEAST_PASSAGES = 8
"""Different passages to learn from: the others are the negatives."""
MORE = "Make more with 'argot learn data make', from more documents or with more kinds of questions."


def require_trainable(pairs: Sequence[TrainingPair], kind: RunKind) -> None:
    """
    Raises:
        InvalidInput: they are too few, all of too few passages, or have no answers where answers are learnt.
    """
    usable = [pair for pair in pairs if pair.answer.strip()] if kind == "generator" else list(pairs)
    if pairs and not usable:
        raise InvalidInput(
            "None of these pairs has an answer, and a generator learns answers. Make pairs that have them: "
            "argot learn data make NAME --kind standard"
        )
    what = "pairs with an answer" if kind == "generator" else "pairs"
    for part in PARTS:
        if (found := len(of_part(usable, part))) < LEAST_PAIRS[part]:
            raise InvalidInput(
                f"There are {found} {what} in the part '{part}', and it takes {LEAST_PAIRS[part]}. {MORE}"
            )
    train = of_part(usable, "train")
    if (passages := len({pair.passage for pair in train})) < LEAST_PASSAGES:
        raise InvalidInput(
            f"The {len(train)} pairs to learn from are about {passages} different passages, and it takes "
            f"{LEAST_PASSAGES}: each learns from what the others are not. {MORE}"
        )
