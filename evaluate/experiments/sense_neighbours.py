"""Choosing the senses of acronyms in many sentences together: by evidence, and then by similar sentences.

First each sentence is judged alone: a log-linear score combines the evidence of `unlabelled_texts.py`. Then the senses
of all sentences with the same acronym are chosen together, because one text rarely uses an acronym in two senses ("one
sense per discourse"): the probabilities of the most similar sentences change each sentence's own, in a few rounds of
mean-field updates. No label is used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from argot.evaluate.experiments.unlabelled_texts import Floats, Texts
from argot.tools.text.words import content_stems

Weights = Mapping[str, tuple[float, float]]
"""For each kind of evidence its weight with very few sentences, and its weight with very many."""

ALONE: Weights = {
    "meaning": (5.56, 1.54),
    "rest": (4.00, 0.00),
    "field": (2.00, 0.00),
    "surroundings": (5.97, 6.82),
    "topic": (0.00, 3.57),
    "stated": (1.76, 0.59),
    "fluency": (0.19, 0.11),
    "spelt out": (-0.71, -0.53),
    "defined": (0.71, 0.52),
    "near by words": (-1.36, 4.81),
    "near by meaning": (2.17, 2.44),
}
"""Weights for judging each sentence alone. They were fitted, like those below (docs/senses.md)."""

TOGETHER: Weights = {
    "meaning": (5.74, 2.00),
    "rest": (4.00, 0.00),
    "field": (2.00, 0.00),
    "surroundings": (5.10, 5.27),
    "topic": (-0.33, 3.19),
    "stated": (1.63, 0.37),
    "fluency": (0.18, 0.09),
    "spelt out": (-0.65, -0.41),
    "defined": (0.28, 0.24),
    "near by words": (-1.68, 2.88),
    "near by meaning": (2.61, 1.49),
    "alike in words": (-0.83, 0.31),
    "alike in topic": (1.41, 1.89),
}

NEIGHBOURS = {"alike in words": "words", "alike in topic": "topic"}
"""Kinds of evidence from other sentences with the acronym -> what the similarity is measured by."""

_MAX_NEIGHBOURS = 8
_MIN_LIKENESS = 0.05
_HEARD = 0.05  # the sum of squared similarities at which the neighbours' evidence has half its weight
_ROUNDS = 3
_HALF_WAY = 1_000  # the number of sentences half-way between very few and very many
_SHARPNESS = (1.0, 1.1)  # exponents of the last probabilities, so that they are well calibrated
_VARIANTS = 0.5  # two expansions that share this part of their words are variants of one meaning, ...
_SHARED = (0.6, 0.0)  # ... and share this part of their probability evenly: a short text cannot tell them apart
_MAX_COMPARED_SENTENCES = 2_000  # sentences with one acronym that are compared with each other


@dataclass(frozen=True, slots=True)
class RankedExpansions:
    """The expansions of one sentence's acronym with their probabilities, best first."""

    ranked: tuple[tuple[str, float], ...]

    @property
    def margin(self) -> float:
        return self.ranked[0][1] - (self.ranked[1][1] if len(self.ranked) > 1 else 0.0)


@dataclass(frozen=True, slots=True)
class Group:
    """Sentences with one acronym: their rows, its expansions, the evidence, and the similarities of the sentences."""

    acronym: str
    rows: tuple[int, ...]
    expansions: tuple[str, ...]
    evidence: Mapping[str, Floats]
    alike: Mapping[str, Floats]
    plenty: float
    """A measure of how many sentences were read for all acronyms: 0 for none, and up to 1 for very many."""


def group_sentences(texts: Texts, senses: Mapping[str, Sequence[str]]) -> Iterator[Group]:
    """Yield a group of at most 2,000 sentences for each acronym that has senses. Expansions are in alphabetical order,
    so that the order of a glossary has no effect: some dictionaries name the most frequent expansion first.
    """
    rows: defaultdict[str, list[int]] = defaultdict(list)
    plenty = len(texts.usages) / (len(texts.usages) + _HALF_WAY)
    for row, usage in enumerate(texts.usages):
        # Sentences without an acronym count in `plenty`, too: they were read for evidence.
        if senses.get(usage.acronym):
            rows[usage.acronym].append(row)
    for acronym, found in rows.items():
        expansions = tuple(sorted(senses[acronym]))
        for start in range(0, len(found), _MAX_COMPARED_SENTENCES):
            part = found[start : start + _MAX_COMPARED_SENTENCES]
            alike = {kind: _keep_nearest(texts.measure_likeness(part, by)) for kind, by in NEIGHBOURS.items()}
            yield Group(acronym, tuple(part), expansions, texts.collect_evidence(part, expansions), alike, plenty)


def choose_together(group: Group, alone: Weights = ALONE, together: Weights = TOGETHER) -> Floats:
    """Return probabilities of shape (sentences, expansions). With `together` empty each sentence is judged alone."""
    chances = compute_softmax(_weigh_evidence(group.evidence, alone, group.plenty))
    for _ in range(_ROUNDS if together else 0):
        evidence = {**group.evidence, **_collect_opinions(group, chances)}
        chances = compute_softmax(_weigh_evidence(evidence, together, group.plenty))
    sharp = chances ** _scale_between(_SHARPNESS, group.plenty)
    sharp /= sharp.sum(axis=1, keepdims=True)
    shared = _scale_between(_SHARED, group.plenty)
    return np.asarray((1 - shared) * sharp + shared * sharp @ _share_variants(group.expansions), dtype=np.float32)


def _scale_between(ends: tuple[float, float], plenty: float) -> float:
    few, many = ends
    return few + (many - few) * plenty


@lru_cache(maxsize=2_000)
def _share_variants(expansions: tuple[str, ...]) -> Floats:
    """Return shares, shape (expansions, expansions): the part of each expansion's probability that each gets. Rows add
    up to 1.
    """
    stems = [set(content_stems(expansion)) for expansion in expansions]
    alike = np.array(
        [[one == other or len(one & other) >= _VARIANTS * len(one | other) for other in stems] for one in stems]
    )
    even = alike / alike.sum(axis=1, keepdims=True)
    return np.asarray(even, dtype=np.float32)


def _collect_opinions(group: Group, chances: Floats) -> dict[str, Floats]:
    """Return evidence from the most similar sentences: the mean of their probabilities minus a uniform distribution."""
    even = 1 / len(group.expansions)
    found = {}
    for kind, alike in group.alike.items():
        loudness = alike.sum(axis=1, keepdims=True)
        # A sentence without similar ones has the sum 0, and its evidence is 0.
        opinions = alike @ chances / np.maximum(loudness, 1e-9) - even
        found[kind] = np.asarray(opinions * loudness / (loudness + _HEARD), dtype=np.float32)
    return found


def compute_softmax(scores: Floats) -> Floats:
    # Subtract the maximum, because `exp` overflows float32 above 88.
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float32)


def rank_expansions(group: Group, chances: Floats) -> Iterable[tuple[int, RankedExpansions]]:
    """Yield each row of the group with its expansions, best first."""
    for row, values in zip(group.rows, chances, strict=True):
        # A stable sort: equal values stay in alphabetical order with every version of numpy.
        order = np.argsort(-values, kind="stable")
        yield row, RankedExpansions(tuple((group.expansions[n], float(values[n])) for n in order))


def _weigh_evidence(evidence: Mapping[str, Floats], weights: Weights, plenty: float) -> Floats:
    shape = next(iter(evidence.values())).shape
    total = np.zeros(shape, dtype=np.float32)
    for kind, ends in weights.items():
        total += _scale_between(ends, plenty) * evidence[kind]
    return total


def _keep_nearest(likeness: Floats) -> Floats:
    """Return the squared similarities of each sentence to its eight most similar others; all other values are 0."""
    likeness = np.maximum(likeness - _MIN_LIKENESS, 0)
    # A sentence must not be evidence for itself.
    np.fill_diagonal(likeness, 0)
    if len(likeness) > _MAX_NEIGHBOURS + 1:
        # `partition` finds the eighth largest without sorting the rest.
        least = np.partition(likeness, -_MAX_NEIGHBOURS, axis=1)[:, -_MAX_NEIGHBOURS][:, None]
        likeness = np.where(likeness >= least, likeness, 0)
    return np.asarray(likeness**2, dtype=np.float32)
