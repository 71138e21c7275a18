"""Figures of a passage reader on examples that it did not learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from argot.learn.passage_reader.examples import OPEN, PART, Example, JudgedPassage
from argot.protocols import PassageReading
from argot.tools.retrieval.pair_reader import PairReader
from argot.tools.retrieval.passage_reader import HeadWeights, combine_readings
from argot.tools.retrieval.token_vectors import Floats

_TOKEN_MATCH = 0
"""The feature that ranks units without any training: how well the rare asked tokens match."""


def measure_examples(
    examples: Sequence[Example], weights: HeadWeights, pairs: PairReader | None = None
) -> dict[str, float]:
    """Measure the choice of units and of passages, and the distinction of questions that nothing answers.

    `sentence`: the share of right passages with several units whose best unit is a part of the answer;
    `sentence_untrained`: the same by token matches alone. `first`: the share of answerable questions whose most
    relevant passage answers; `first_untrained`: the one with the best score. `answerable_auroc`: the chance
    that the best relevance is higher for a question that the passages answer than for another;
    `answerable_auroc_untrained`: by the best score.

    Args:
        pairs: reads all passages closely.
    """
    read = {id(one): _read_passages(one, weights, pairs) for one in examples}
    answerable = [one for one in examples if one.is_answerable]
    others = [one for one in examples if not one.is_answerable]
    right = [
        pair
        for one in answerable
        for pair in [pair for pair in zip(one.passages, read[id(one)], strict=True) if pair[0].relevant][:1]
        if _has_choice(pair[0])
    ]

    def list_relevance(example: Example) -> list[float]:
        return [one.relevance for one in read[id(example)]]

    def list_scores(example: Example) -> list[float]:
        return [one.score for one in example.passages]

    figures = {
        "questions": float(len(examples)),
        "sentence": _share(_chooses_answer(passage, reading.units) for passage, reading in right),
        "sentence_untrained": _share(_chooses_answer(one, one.units[:, _TOKEN_MATCH]) for one, _ in right),
        "first": _share(_is_first_right(one, list_relevance(one)) for one in answerable),
        "first_untrained": _share(_is_first_right(one, list_scores(one)) for one in answerable),
        "answerable_auroc": _compute_auroc(answerable, others, list_relevance),
        "answerable_auroc_untrained": _compute_auroc(answerable, others, list_scores),
    }
    return {name: round(float(value), 3) for name, value in figures.items()}


def _read_passages(example: Example, weights: HeadWeights, pairs: PairReader | None) -> list[PassageReading]:
    quick = [weights.judge_passage(one.units, np.array(one.may_answer), one.whole) for one in example.passages]
    if pairs is None:
        return quick
    close = pairs.read_texts(example.question, [one.text for one in example.passages])
    return [combine_readings(one, pair) for one, pair in zip(quick, close, strict=True)]


def _is_first_right(example: Example, scores: Sequence[float]) -> bool:
    return example.passages[int(np.argmax(scores))].relevant


def _has_choice(passage: JudgedPassage) -> bool:
    return sum(label != OPEN for label in passage.labels) > 1 and PART in passage.labels


def _chooses_answer(passage: JudgedPassage, scores: Sequence[float] | Floats) -> bool:
    best = int(np.argmax(np.where(passage.may_answer, scores, -np.inf)))
    return passage.labels[best] == PART


def _share(values: Iterable[bool]) -> float:
    return float(np.mean([float(one) for one in values] or [0.0]))


def _compute_auroc(
    answerable: Sequence[Example], others: Sequence[Example], judge: Callable[[Example], Sequence[float]]
) -> float:
    best = [[max(judge(one)) for one in many] for many in (answerable, others)]
    return float(np.mean([(high > low) + 0.5 * (high == low) for high in best[0] for low in best[1]] or [0.0]))
