"""The checked data that a training of embedder or re-ranker learns from and is measured by."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from argot.errors import InvalidInput
from argot.learn.run_folder import PAIRS, PASSAGES, RunFolder
from argot.learn.trainable_pairs import require_trainable
from argot.learn.training_pairs import PARTS, Part, PoolPassage, TrainingPair, select_part


@dataclass(frozen=True, slots=True)
class RunData:
    """Pairs by part, and the passages they are searched among.

    Attributes:
        pool: the text of each passage by its id. Of several with the same text only the first is included.
        gold: by the id of a pair, the passages that answer its question: those of all pairs with the same question.
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
        """Count the pairs by part, and by kind and part, for the card."""
        counted = Counter((pair.kind, pair.part) for pair in self.all_pairs)
        by_kind = {
            kind: {part: counted[kind, part] for part in PARTS} for kind in sorted({kind for kind, _ in counted})
        }
        return {"pairs": {part: len(self.pairs[part]) for part in PARTS}, "kinds": by_kind, "passages": len(self.pool)}


def load_run_data(run: RunFolder) -> RunData:
    """Return the pairs and passages that a training reads from its files.

    Raises:
        InvalidInput: a line of the files is none, a pair's passage isn't among those searched, or there are too few.
    """
    pairs = run.pairs()
    require_trainable(pairs, run.request.kind)
    return build_run_data(pairs, run.passages())


def build_run_data(pairs: Sequence[TrainingPair], passages: Sequence[PoolPassage]) -> RunData:
    """Join pairs with the passages that are searched.

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
        answers[normalize_wording(pair.question)].add(same[pair.passage_id])
    return RunData(
        {part: select_part(pairs, part) for part in PARTS},
        {identifier: texts[identifier] for identifier in dict.fromkeys(same.values())},
        {pair.id: frozenset(answers[normalize_wording(pair.question)]) for pair in pairs},
        compute_data_fingerprint(pairs, passages),
    )


def normalize_wording(question: str) -> str:
    """Return the question without differences of case and spaces, to compare it with others."""
    return " ".join(question.casefold().split())


def compute_data_fingerprint(pairs: Sequence[TrainingPair], passages: Sequence[PoolPassage]) -> str:
    """Compute the fingerprint of all that a training learns from and is measured by: 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=8)
    everything: list[TrainingPair | PoolPassage] = [*pairs, *passages]
    for one in everything:
        digest.update(repr(sorted(asdict(one).items())).encode())
    return digest.hexdigest()
