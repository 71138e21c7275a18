"""The features by which the passage reader judges a passage and its units: matches, place, and form.

They need no further run of a model: the re-ranker has already read question and passage into token vectors, each in the
context of its whole text, and a unit's vectors are a slice of its passage's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, get_args

import numpy as np

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.languages.english_contractions import CONTRACTED_NOT
from argot.tools.answering.quoting import Unit, find_headings_above, find_heads, is_step, read_units
from argot.tools.answering.support import find_statement_stems
from argot.tools.reading.answer_types import AnswerType, find_answer_type, has_shape
from argot.tools.retrieval.token_vectors import Floats, TokenVectors
from argot.tools.text.rarity import compute_floored_idf
from argot.types import Passage

_STOP_WEIGHT = 0.3  # weight of a stop word or mark of the question, beside 1 for another token
_MIN_UNIT_COUNT = 12
"""Least number of units by which a token's rarity is computed: in a short passage every token would seem common."""
_WORST_SHARPNESS = 12.0  # factor in the exponent with which the worst matches dominate
_NO_UNIT = -9.0
"""The logit of a missing unit, such as the second one of a passage with only one."""

_WHETHER = re.compile(
    r"^\W*(?:is|are|do|does|did|can|could|may|must|should|will|would|has|have|am|was|were)\b", re.IGNORECASE
)
_LEANS = re.compile(
    r"^\W*(?:it|its|this|that|these|those|they|their|them|such|however|therefore|otherwise|also|but|and|or|instead"
    r"|then)\b",
    re.IGNORECASE,
)
_DECIDES = re.compile(rf"\b(?:not|no|never|cannot|only|without|unless)\b|{CONTRACTED_NOT}\b", re.IGNORECASE)
_BINDS = re.compile(r"\b(?:must|should|may|can|need|required|allowed|recommend\w*|please|do)\b", re.IGNORECASE)
_REASONS = re.compile(r"\b(?:because|since|so that|in order to|to avoid|to ensure|due to|as a result)\b", re.IGNORECASE)
_NAMES_PLACE = re.compile(r"https?://|www\.|\S@\S|#\w{3,}|\[[^\]]+\]\(")
_ASKED = {
    "where": re.compile(r"\bwhere\b", re.IGNORECASE),
    "which": re.compile(r"\bwhich\b", re.IGNORECASE),
    "what if": re.compile(r"\b(?:what (?:if|happens)|if (?:i|we|my|the))\b", re.IGNORECASE),
    "whether": _WHETHER,
}


class _TokenMatches(NamedTuple):
    """Matches of the question's tokens in a passage.

    `best` (units, asked tokens): each asked token's best cosine in each unit; `held`: 1 where the unit has it; `means`
    (units,): the cosine of the unit's mean vector with the question's; `central` (units,): with the passage's;
    `heading` (asked tokens,): the best cosines in the passage's heading.
    """

    best: Floats
    held: Floats
    means: Floats
    central: Floats
    heading: Floats


def compare_tokens(question_tokens: TokenVectors, read: Sequence[TokenVectors]) -> list[Floats]:
    """Return the cosines of each text's tokens with those of the question, (tokens, asked tokens)."""
    if not read:
        return []
    # All in one product: waking the threads for many small ones takes longer than multiplying.
    levels = np.concatenate([one.levels for one in read]).astype(np.float32)
    scales = np.concatenate([one.scales for one in read])
    cosines = (levels @ question_tokens.vectors.T) * scales[:, None]
    return np.split(cosines, np.cumsum([len(one.ids) for one in read])[:-1])


def measure_units(
    question: str, question_tokens: TokenVectors, passage: Passage, read: TokenVectors, cosines: Floats
) -> Floats:
    """Return the features of each unit of `read_units(passage.with_columns)`, (units, features).

    `read` is the passage as `with_header` has it, and `cosines` are those of its tokens; units beyond the end of what
    was read match nothing. Without a unit, or a token in the question, there are no features.
    """
    text = passage.with_columns
    units = read_units(text)
    if not units or not len(question_tokens.ids):
        return np.zeros((len(units), 0), dtype=np.float32)
    matches = _match_tokens(question_tokens, read, cosines, units, len(passage.with_header) - len(text))
    columns = [
        *_measure_matches(question, question_tokens, matches),
        *_measure_words(question, passage, units),
        *zip(*(_describe_form(unit.plain) for unit in units), strict=True),
        *_measure_place(units),
        *_measure_question(question, units),
    ]
    return np.array(columns, dtype=np.float32).T


def measure_passage(
    question: str, question_tokens: TokenVectors, passage: Passage, read: TokenVectors, cosines: Floats
) -> Floats:
    """Return the features of the passage as a whole, (features,), without those that `add_summary` adds."""
    best = cosines.max(0)
    plain = _weigh_tokens(question, question_tokens)
    wanted = find_statement_stems(question)
    held = wanted & find_statement_stems(f"{passage.header} {passage.text}")
    return np.array(
        (
            best @ plain,
            _measure_worst(best[None], plain)[0],
            read.mean @ question_tokens.mean,
            len(held) / max(1, len(wanted)),
            len(wanted),
        ),
        dtype=np.float32,
    )


def add_summary(logits: Floats, whole: Floats) -> Floats:
    """Return the features of a passage with those of its units: the best and the second logit of the units that may
    answer, all of them together, and their number.
    """
    there = np.append(logits, (_NO_UNIT, _NO_UNIT))
    first, second = np.sort(there)[:-3:-1]
    summary = np.array((first, second, np.logaddexp.reduce(there), np.log1p(len(logits))), dtype=np.float32)
    return np.concatenate([summary, whole])


def _weigh_tokens(question: str, question_tokens: TokenVectors) -> Floats:
    words = (question[start:end].casefold() for start, end in question_tokens.spans)
    weights = np.array([_STOP_WEIGHT if word in STOP_WORDS or not word.isalnum() else 1.0 for word in words])
    return weights / weights.sum()  # type: ignore[no-any-return]


def _measure_worst(best: Floats, weights: Floats) -> Floats:
    """Return the mean of the best matches in which the worst count most, (units,)."""
    return -np.log(np.maximum(np.exp(-_WORST_SHARPNESS * best) @ weights, 1e-9)) / _WORST_SHARPNESS  # type: ignore[no-any-return]


def _match_tokens(
    question_tokens: TokenVectors, read: TokenVectors, cosines: Floats, units: Sequence[Unit], offset: int
) -> _TokenMatches:
    vectors, starts = read.vectors, read.spans[:, 0] - offset
    same = read.ids[:, None] == question_tokens.ids
    best, held = np.zeros((2, len(units), len(question_tokens.ids)), dtype=np.float32)
    means = np.zeros((len(units), vectors.shape[1]), dtype=np.float32)
    for unit in units:
        # Tokens stand in order, so those of a unit are a slice.
        first, last = np.searchsorted(starts, (unit.start, unit.end))
        if first < last:
            best[unit.number] = cosines[first:last].max(0)
            held[unit.number] = same[first:last].any(0)
            means[unit.number] = vectors[first:last].mean(0)
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-6)
    above = cosines[starts < 0]
    heading = above.max(0) if len(above) else np.zeros(len(question_tokens.ids), dtype=np.float32)
    return _TokenMatches(best, held, means @ question_tokens.mean, means @ read.mean, heading)


def _measure_matches(question: str, question_tokens: TokenVectors, matches: _TokenMatches) -> list[Floats]:
    """Measure how well each unit matches the question's tokens: all of them, the rare ones, the worst-matched ones, and
    those that the heading does not match; and how far each unit stands out in its passage.
    """
    plain = _weigh_tokens(question, question_tokens)
    held = matches.held.sum(0)
    count = max(len(matches.best), _MIN_UNIT_COUNT)
    rare = plain * (np.log(1 + (count - held + 0.5) / (held + 0.5)) + 0.2)
    rare /= rare.sum()
    left = rare * (1.05 - np.clip(matches.heading, 0, 1))
    left /= left.sum()
    winners = matches.best.argmax(0)
    share = np.array([rare[winners == number].sum() for number in range(len(matches.best))])
    rarely = matches.best @ rare
    compared = [rarely, matches.best @ left, matches.means, matches.held @ rare]
    return [
        *compared,
        *(_stand_out(one) for one in compared),
        matches.best @ plain,
        share,
        _measure_worst(matches.best, plain),
        matches.held @ plain,
        matches.central,
        _shift(rarely, 1),
        _shift(rarely, -1),
        np.full(len(rarely), matches.heading @ rare),
        np.argsort(np.argsort(-rarely)) / len(rarely),
    ]


def _stand_out(values: Floats) -> Floats:
    """Return the difference between each value and the best of the others, or 0 if that is higher."""
    second, first = np.sort(np.append(values, (0.0, 0.0)))[-2:]
    return values - np.where(np.arange(len(values)) == values.argmax(), max(second, 0.0), max(first, 0.0))  # type: ignore[no-any-return]


def _shift(values: Floats, by: int) -> Floats:
    """Return the value of the unit before (1) or after (-1) each; 0 beyond the ends."""
    shifted = np.roll(values, by)
    shifted[0 if by > 0 else -1] = 0.0
    return shifted


def _measure_words(question: str, passage: Passage, units: Sequence[Unit]) -> list[Floats]:
    """Measure the share of the question's words, weighted by rarity in the passage: in each unit, in the unit with what
    stands above and before it, and in what stands above it.
    """
    wanted = find_statement_stems(question)
    held = [wanted & find_statement_stems(unit.plain) for unit in units]
    count = len(units)
    rarity = {stem: compute_floored_idf(sum(stem in one for one in held), count) + 0.1 for stem in sorted(wanted)}
    total = sum(rarity.values()) or 1.0
    header = wanted & find_statement_stems(passage.header)
    above = [frozenset().union(*(held[number] for number in one)) for one in _list_above(passage.with_columns)]
    within = [
        own | heads | header | (held[place - 1] if place else frozenset())
        for place, (own, heads) in enumerate(zip(held, above, strict=True))
    ]
    own, around, heads = (
        np.array([sum(rarity[stem] for stem in one) / total for one in many]) for many in (held, within, above)
    )
    return [own, _stand_out(own), around, heads]


@lru_cache(maxsize=1_000)
def _list_above(text: str) -> tuple[tuple[int, ...], ...]:
    """List for each unit of a text the units that introduce it and its headings. The same for every question, and slow
    for a list of hundreds of items.
    """
    units = read_units(text)
    return tuple((*find_heads(unit, units), *find_headings_above(unit, units)) for unit in units)


@lru_cache(maxsize=20_000)
def _describe_form(plain: str) -> tuple[float, ...]:
    """Describe the form of a unit: its length, and the kinds of words and marks in it."""
    return (
        float(np.log1p(len(plain.split()))),
        plain.rstrip().endswith("?"),
        plain.rstrip().endswith(":"),
        any(map(str.isdigit, plain)),
        *(bool(one.search(plain)) for one in (_LEANS, _DECIDES, _BINDS, _REASONS, _NAMES_PLACE)),
    )


def _measure_place(units: Sequence[Unit]) -> list[list[float]]:
    last = max(1, len(units) - 1)
    kinds = [[float(unit.kind == kind) for unit in units] for kind in ("item", "row", "code")]
    return [
        *kinds,
        [unit.number / last for unit in units],
        [float(unit.number == 0) for unit in units],
        [float(unit.number == len(units) - 1) for unit in units],
        [float(is_step(unit)) for unit in units],
        [float(np.log1p(len(units)))] * len(units),
        [float(unit.number > 0 and units[unit.number - 1].plain.endswith(":")) for unit in units],
    ]


def _measure_question(question: str, units: Sequence[Unit]) -> list[list[float]]:
    """Measure whether each unit looks like the kind of answer that the question wants, and that kind, which is the same
    for all units.
    """
    wanted = find_answer_type(question)
    kinds = [float(wanted == kind) for kind in get_args(AnswerType)]
    kinds += [float(bool(one.search(question))) for one in _ASKED.values()]
    kinds.append(float(np.log1p(len(question.split()))))
    return [[float(has_shape(wanted, unit.plain)) for unit in units], *([one] * len(units) for one in kinds)]
