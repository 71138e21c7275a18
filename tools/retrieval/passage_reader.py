"""The passage reader: a small trained model that judges which passages answer a question, and which of their units.

A quick reading adds two heads to the token vectors of the re-ranking reader, which are in memory already, so a passage
takes about a millisecond. A close one combines it with that of the pair reader; only passages that can still compete
are read closely. `argot.learn.passage_reader` trains both, and Argot comes with the weights in the files beside this
module. With another scorer than the reader, or without the files, rules decide alone.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from argot.errors import UnusableModel
from argot.protocols import PassageReader, PassageReading, Scorer
from argot.tools.answering.quoting import may_answer, read_units
from argot.tools.reading.passage_readings import to_chance, to_log_odds
from argot.tools.retrieval.pair_reader import PAIR_READER_FILE, PairReader, PairReading
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.reading_cache import ReadingCache
from argot.tools.retrieval.token_vectors import Floats, TokenVectors
from argot.tools.retrieval.unit_features import add_summary, compare_tokens, measure_passage, measure_units
from argot.types import Passage

logger = logging.getLogger(__name__)

WEIGHTS_FILE = Path(__file__).with_name("passage_reader.json")
PAIR_UNIT_WEIGHT, PAIR_RELEVANCE_WEIGHT = 0.5, 1.0
"""Weights of the pair reader's log-odds beside 1 for those of the quick reading. Chosen on the validation questions:
with more weight for units the pair reader's errors are too sure (bench/laboratory/answers.md)."""
CLEAR_LEAD = 3.0
"""Log-odds by which the best close reading exceeds a quick one whose passage is then not read closely. Chosen on the
training questions of four sets of `lay_train`: 40 % fewer close readings, and one of 228 answers worse; with 2 half of
them and three worse, with 4 a quarter and none (bench/laboratory/speed.md)."""

Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class UnitNetwork:
    """A network that judges units: a linear part, and a layer of hidden values beside it. Shapes: `linear` (features,),
    `inner` (hidden, features), `inner_bias` and `outer` (hidden,).
    """

    linear: Floats
    inner: Floats
    inner_bias: Floats
    outer: Floats
    bias: float

    def compute_logits(self, features: Floats) -> Floats:
        """Compute the logit of each row of standardised features, (units,)."""
        hidden = features @ self.inner.T + self.inner_bias
        return features @ self.linear + np.maximum(hidden, 0) @ self.outer + self.bias  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class HeadWeights:
    """The trained heads. `units` are several networks, whose logits are averaged; `passage` is linear. `means` and
    `scales` standardise the features of units.
    """

    means: Floats
    scales: Floats
    units: tuple[UnitNetwork, ...]
    passage: Floats
    passage_bias: float

    def compute_unit_logits(self, features: Floats) -> Floats:
        standard = (features - self.means) / self.scales
        return np.mean([one.compute_logits(standard) for one in self.units], axis=0)  # type: ignore[no-any-return]

    def compute_relevance(self, logits: Floats, whole: Floats) -> float:
        """Compute the chance that a passage answers, from its own features and the logits of units that may answer."""
        return float(to_chance(add_summary(logits, whole) @ self.passage + self.passage_bias))

    def judge_passage(self, units: Floats, may_answer: Bools, whole: Floats) -> PassageReading:
        """Judge a passage from its features, in service and in measuring alike; units that cannot answer get 0."""
        logits = self.compute_unit_logits(units)
        relevance = self.compute_relevance(logits[may_answer], whole)
        return PassageReading(relevance, tuple(map(float, np.where(may_answer, to_chance(logits), 0.0))))


class TrainedPassageReader:
    """A `PassageReader`: heads over the token vectors of the reader, and the pair reader. Safe to use from several
    threads. Without a pair reader a close reading is a quick one.
    """

    def __init__(self, scorer: ReaderScorer, weights: HeadWeights, pairs: PairReader | None = None) -> None:
        self.scorer = scorer
        self.weights = weights
        self.pairs = pairs
        self._quick, self._close = ReadingCache(), ReadingCache()

    def read_passages(self, question: str, passages: Sequence[Passage]) -> list[PassageReading]:
        return self._quick.all_of(question, passages, self._read_quickly)

    def _read_quickly(self, question: str, passages: Sequence[Passage]) -> list[PassageReading]:
        return [self._judge(one) for one in measure_passages(self.scorer, question, passages)]

    def read_closely(self, question: str, passages: Sequence[Passage]) -> list[PassageReading]:
        """Read the passages from the likeliest on, until what is left can hardly answer as well as what was read."""
        readings = self.read_passages(question, passages)
        best = -inf
        for place in sorted(range(len(readings)), key=lambda place: -readings[place].relevance):
            if best - to_log_odds(readings[place].relevance) > CLEAR_LEAD:
                break
            # Only close readings are kept: which passages get one depends on the others, which other askers may not
            # be allowed to read.
            readings[place] = self._close.all_of(question, [passages[place]], self._read_closely)[0]
            best = max(best, to_log_odds(readings[place].relevance))
        return readings

    def _read_closely(self, question: str, passages: Sequence[Passage]) -> list[PassageReading]:
        quick = self.read_passages(question, passages)
        pairs = self.pairs.read_passages(question, passages) if self.pairs else [None] * len(passages)
        return [combine_readings(one, pair) for one, pair in zip(quick, pairs, strict=True)]

    def _judge(self, measured: MeasuredPassage) -> PassageReading:
        if measured.whole is None:
            return PassageReading(0.0, (0.0,) * len(measured.units))
        return self.weights.judge_passage(measured.units, measured.may_answer, measured.whole)


def combine_readings(quick: PassageReading, pair: PairReading | None) -> PassageReading:
    """Combine a quick reading with that of the pair reader by their log-odds. Units that cannot answer stay at 0."""
    if pair is None:
        return quick
    relevance = _mix(quick.relevance, pair.relevance, PAIR_RELEVANCE_WEIGHT)
    units = tuple(
        one if not one or of_pair is None else _mix(one, of_pair, PAIR_UNIT_WEIGHT)
        for one, of_pair in zip(quick.units, pair.units, strict=True)
    )
    return PassageReading(relevance, units)


def _mix(quick: float, pair: float, weight: float) -> float:
    return float(to_chance((to_log_odds(quick) + weight * pair) / (1 + weight)))


class MeasuredPassage(NamedTuple):
    """The features of a passage for a question.

    `units`: of its units, (units, features); `may_answer`: true for the units that may be an answer by themselves,
    (units,); `whole`: of the passage without those of its units; None if nothing of it, or of the question, was read.
    """

    units: Floats
    may_answer: Bools
    whole: Floats | None


def measure_passages(scorer: ReaderScorer, question: str, passages: Sequence[Passage]) -> list[MeasuredPassage]:
    """Measure the passages for a question, in service and for training alike."""
    if not passages:
        return []
    asked, *read = scorer.read_texts([question, *(one.with_header for one in passages)])
    cosines = compare_tokens(asked, read)
    return [_measure_passage(question, asked, *of_one) for of_one in zip(passages, read, cosines, strict=True)]


def _measure_passage(
    question: str, question_tokens: TokenVectors, passage: Passage, read: TokenVectors, cosines: Floats
) -> MeasuredPassage:
    features, units = measure_units(question, question_tokens, passage, read, cosines), read_units(passage.with_columns)
    whole = (
        measure_passage(question, question_tokens, passage, read, cosines) if features.size and len(read.ids) else None
    )
    return MeasuredPassage(features, np.array([may_answer(one, units) for one in units]), whole)


# -- the file ---------------------------------------------------------------------------------------------------------


def load_passage_reader(
    scorer: Scorer, file: Path = WEIGHTS_FILE, pair_file: Path = PAIR_READER_FILE
) -> PassageReader | None:
    """Return the passage reader over this scorer; None if the scorer is not the reader, or without a file.

    Raises:
        UnusableModel: the file is no passage reader's.
    """
    return _get_passage_reader(scorer, file, pair_file) if isinstance(scorer, ReaderScorer) else None


@lru_cache(maxsize=4)
def _get_passage_reader(scorer: ReaderScorer, file: Path, pair_file: Path) -> TrainedPassageReader | None:
    weights = read_weights(file)
    if weights is None:
        return None
    if not pair_file.is_file():
        logger.warning("there is no pair reader in %s: answers are chosen by quick readings alone", pair_file)
        return TrainedPassageReader(scorer, weights)
    return TrainedPassageReader(scorer, weights, PairReader(pair_file, threads=scorer.threads))


@lru_cache(maxsize=4)
def read_weights(file: Path) -> HeadWeights | None:
    """Read the heads from their file; return None, and write a line to the log, if there is no file.

    Raises:
        UnusableModel: the file is malformed.
    """
    if not file.is_file():
        logger.warning("there is no passage reader in %s: rules alone choose the sentences that answer", file)
        return None
    try:
        return parse_weights(json.loads(file.read_text("utf-8"))["weights"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableModel(
            f"{file} is no passage reader: {error}. Install Argot again, or train one: "
            "python -m argot.learn.passage_reader --help"
        ) from error


def parse_weights(row: Mapping[str, Any]) -> HeadWeights:
    """Build the heads from weights in the form that training returns and the file contains.

    Raises:
        ValueError: their shapes do not fit each other, or a value is no number.
    """
    units = tuple(
        UnitNetwork(
            _to_array(one["linear"]),
            _to_array(one["inner"]),
            _to_array(one["inner_bias"]),
            _to_array(one["outer"]),
            float(one["bias"]),
        )
        for one in row["units"]
    )
    heads = HeadWeights(
        _to_array(row["means"]), _to_array(row["scales"]), units, _to_array(row["passage"]), float(row["passage_bias"])
    )
    _require_fitting(heads)
    return heads


def _require_fitting(heads: HeadWeights) -> None:
    count = heads.means.shape
    if not heads.units or heads.scales.shape != count or heads.passage.ndim != 1 or not np.all(heads.scales > 0):
        raise ValueError("its weights have wrong shapes")
    arrays = [heads.means, heads.scales, heads.passage, np.array(heads.passage_bias)]
    for one in heads.units:
        hidden = one.outer.shape
        if (one.linear.shape, one.inner_bias.shape, one.inner.shape) != (count, hidden, hidden + count):
            raise ValueError("its weights have wrong shapes")
        arrays += [one.linear, one.inner, one.inner_bias, one.outer, np.array(one.bias)]
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError("one of its weights is no number")


def _to_array(values: Any) -> Floats:
    return np.array(values, dtype=np.float32)
