"""What a training of embedder or re-ranker learns from and is measured by, checked."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from argot.errors import InvalidInput
from argot.learn.run_folder import PAIRS, PASSAGES, RunFolder
from argot.learn.training_pairs import PARTS, Part, PoolPassage, TrainingPair, of_part

LEAST_PAIRS, LEAST_PASSAGES, LEAST_VALIDATION = 20, 10, 5


@dataclass(frozen=True, slots=True)
class RunData:
    """Pairs by part, and the passages they are searched among.

    Attributes:
        pool: the text of each passage by its id. Of several with the same text the first alone is there.
        gold: by the id of a pair the passages that answer its question: those of all pairs that ask the same.
        fingerprint: of pairs and passages. It changes when either does.
    """

    pairs: dict[Part, list[TrainingPair]]
    pool: dict[str, str]
    gold: dict[str, frozenset[str]]
    fingerprint: str

    @property
    def all_pairs(self) -> list[TrainingPair]:
        return [pair for part in PARTS for pair in self.pairs[part]]

    def qrels(self, part: Part) -> dict[str, dict[str, int]]:
        return {pair.id: dict.fromkeys(sorted(self.gold[pair.id]), 1) for pair in self.pairs[part]}

    def counts(self) -> dict[str, Any]:
        """How many pairs there are by part, and by kind and part, for the card."""
        kinds = {part: dict(Counter(pair.kind for pair in self.pairs[part])) for part in PARTS}
        by_kind = {kind: {part: kinds[part].get(kind, 0) for part in PARTS} for kind in sorted({*sum_keys(kinds)})}
        return {"pairs": {part: len(self.pairs[part]) for part in PARTS}, "kinds": by_kind, "passages": len(self.pool)}


def sum_keys(kinds: Mapping[Part, Mapping[str, int]]) -> list[str]:
    return [kind for counts in kinds.values() for kind in counts]


def run_data(run: RunFolder) -> RunData:
    """
    Raises:
        InvalidInput: a line of the files is none, a pair's passage isn't among those searched, or there are too few.
    """
    data = data_of(run.pairs(), run.passages())
    require_trainable(data)
    return data


def data_of(pairs: Sequence[TrainingPair], passages: Sequence[PoolPassage]) -> RunData:
    """
    Raises:
        InvalidInput: a pair's passage isn't among those searched.
    """
    first: dict[str, str] = {}
    same = {one.id: first.setdefault(" ".join(one.text.split()), one.id) for one in passages}
    texts = {one.id: one.text for one in passages}
    for pair in pairs:
        if pair.passage_id not in same:
            raise InvalidInput(
                f"The passage '{pair.passage_id}' of the question '{pair.question}' in {PAIRS} is not in {PASSAGES}."
            )
    answers: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        answers[asked(pair.question)].add(same[pair.passage_id])
    return RunData(
        {part: of_part(pairs, part) for part in PARTS},
        {identifier: texts[identifier] for identifier in dict.fromkeys(same.values())},
        {pair.id: frozenset(answers[asked(pair.question)]) for pair in pairs},
        _fingerprint(pairs, passages),
    )


def asked(question: str) -> str:
    """The question as it is compared with others: whatever its case and spaces."""
    return " ".join(question.casefold().split())


def require_trainable(data: RunData) -> None:
    """
    Raises:
        InvalidInput: there are too few pairs to learn from or to measure by.
    """
    train, validation = data.pairs["train"], data.pairs["validation"]
    passages = {passage for pair in train for passage in data.gold[pair.id]}
    if len(train) < LEAST_PAIRS:
        raise InvalidInput(f"There are {len(train)} pairs to learn from, at least {LEAST_PAIRS} are needed.")
    if len(passages) < LEAST_PASSAGES:
        raise InvalidInput(
            f"The pairs to learn from are of {len(passages)} different passages, at least {LEAST_PASSAGES} are needed."
        )
    if len(validation) < LEAST_VALIDATION:
        raise InvalidInput(
            f"There are {len(validation)} pairs in the part 'validation', at least {LEAST_VALIDATION} are needed to "
            "see whether the trained model is better."
        )


def _fingerprint(pairs: Sequence[TrainingPair], passages: Sequence[PoolPassage]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for one in [*pairs, *passages]:
        digest.update(repr(sorted(asdict(one).items())).encode())
    return digest.hexdigest()
