"""What a study says: means, ranks, wins, and how far its raters agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from argot.service.ratings.agreement import ordinal_alpha
from argot.service.ratings.study import HIGHEST, LOWEST, Judgement, Rating, Study, StudyItem

RANK = "Rank"


@dataclass(frozen=True, slots=True)
class SystemMean:
    """What one system was given in an aspect, or as rank (1 is the best). `interval`: 95 %, by drawing the questions
    again with replacement; None where there is one question only. `counts`: how often each value was given, from 1.
    """

    system: str
    ratings: int
    mean: float
    interval: tuple[float, float] | None
    counts: list[int]


@dataclass(frozen=True, slots=True)
class SystemPair:
    """How often raters put one answer of two above the other."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class AspectResults:
    """One aspect, or the ranks: each system, each pair of them, and the raters' agreement.

    `alpha`: Krippendorff's, ordinal; None where no answer has two ratings, or all ratings are the same.
    """

    name: str
    systems: list[SystemMean]
    pairs: list[SystemPair]
    alpha: float | None


@dataclass(frozen=True, slots=True)
class StudyResults:
    """All that was saved so far. `rated`: questions with a rating; `passed`: ratings that say "cannot judge"."""

    ratings: int
    rated: int
    passed: int
    measured: list[AspectResults]


Value = Callable[[Judgement, str], int | None]
"""What a judgement gives a system."""


def study_results(study: Study, items: Sequence[StudyItem], ratings: Sequence[Rating]) -> StudyResults:
    saved = [(one.item, one.said) for one in ratings if one.said is not None]
    judged = [(item, said) for item, said in saved if not said.cannot_judge]
    systems = list(dict.fromkeys(sorted(answer.system for item in items for answer in item.answers)))
    most = max((len(item.answers) for item in items), default=0)
    measured = [_measured(one.name, _scored(one.name), judged, systems, HIGHEST, best=1) for one in study.aspects]
    if study.ranking:
        measured.append(_measured(RANK, lambda said, system: said.ranks.get(system), judged, systems, most, best=-1))
    return StudyResults(len(saved), len({item for item, _ in saved}), len(saved) - len(judged), measured)


def _scored(aspect: str) -> Value:
    return lambda said, system: said.scores.get(system, {}).get(aspect)


def _measured(
    name: str, value: Value, judged: Sequence[tuple[int, Judgement]], systems: Sequence[str], most: int, *, best: int
) -> AspectResults:
    """`best`: 1 where the larger value is the better one, else -1."""
    means = [mean for system in systems if (mean := _mean(system, value, judged, most))]
    pairs = [
        SystemPair(first, second, *_compared(value, judged, first, second, best))
        for first, second in combinations([one.system for one in means], 2)
    ]
    return AspectResults(name, means, pairs, ordinal_alpha(_units(value, judged, systems)))


def _mean(system: str, value: Value, judged: Sequence[tuple[int, Judgement]], most: int) -> SystemMean | None:
    given = [(item, points) for item, said in judged if (points := value(said, system)) is not None]
    if not given:
        return None
    # Only here: whoever merely lists studies need not wait for it.
    from argot.evaluate.measures import bootstrap_interval

    items, every = zip(*given, strict=True)
    # The ratings of one question are not independent of each other: they are drawn together.
    interval = bootstrap_interval(every, clusters=items) if len(set(items)) > 1 else None
    counts = [every.count(step) for step in range(LOWEST, most + 1)]
    return SystemMean(system, len(every), fmean(every), interval, counts)


def _compared(
    value: Value, judged: Sequence[tuple[int, Judgement]], first: str, second: str, best: int
) -> tuple[int, int, int]:
    wins = ties = losses = 0
    for _, said in judged:
        one, other = value(said, first), value(said, second)
        if one is not None and other is not None:
            wins += (one - other) * best > 0
            ties += one == other
            losses += (one - other) * best < 0
    return wins, ties, losses


def _units(value: Value, judged: Sequence[tuple[int, Judgement]], systems: Sequence[str]) -> Iterator[list[int]]:
    """For each answer what its raters gave it."""
    found: dict[tuple[int, str], list[int]] = {}
    for item, said in judged:
        for system in systems:
            if (given := value(said, system)) is not None:
                found.setdefault((item, system), []).append(given)
    yield from found.values()
