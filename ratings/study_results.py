"""The results of a study: means, ranks, wins, and how far its raters agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from argot.ratings.agreement import compute_nominal_alpha, compute_ordinal_alpha
from argot.ratings.passage_files import find_supporting_passages
from argot.ratings.study import LOWEST, NO, YES, Judgement, Rating, Study, StudyItem

RANK = "Rank"
BORNE_OUT = "Borne out"
EVERY = "all"
"""The name of all passages together, beside single ones, which are named by number."""


@dataclass(frozen=True, slots=True)
class SystemMean:
    """One system's mean in an aspect, or as rank (1 is the best). `interval`: 95 %, by drawing the questions
    again with replacement; None where there is one question only. `counts`: how often each value was given, in order.
    """

    system: str
    ratings: int
    mean: float
    interval: tuple[float, float] | None
    counts: list[int]


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems, and how often raters put the answer of one above the other's."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class AspectResults:
    """One aspect, or the ranks: each system, each pair of them, and the raters' agreement.

    For passages, each rank in the search results, and all. For references, all sentences, where 1 means that a passage
    supports it; agreement is measured on each sentence and passage.

    `alpha`: Krippendorff's, ordinal, of yes and no nominal; None where no answer has two ratings, or all ratings are
    the same. `scale`: the least and the most that can be given.
    """

    name: str
    systems: list[SystemMean]
    pairs: list[SystemPair]
    alpha: float | None
    scale: tuple[int, int]


@dataclass(frozen=True, slots=True)
class StudyResults:
    """The results of all saved ratings. `rated`: questions with a rating; `passed`: ratings that say "cannot judge"."""

    ratings: int
    rated: int
    passed: int
    measured: list[AspectResults]


Value = Callable[[Judgement, str], int | None]
"""The value that a judgement gives a system."""
NumberedJudgements = Sequence[tuple[int, Judgement]]
"""Judgements, each with its question's id."""
RatedParts = list[tuple[int, int]]
"""A question's id, and a rater's value for one of its parts."""


def compute_study_results(study: Study, items: Sequence[StudyItem], ratings: Sequence[Rating]) -> StudyResults:
    saved = [(one.item, one.said) for one in ratings if one.said is not None]
    judged = [(item, judgement) for item, judgement in saved if not judgement.cannot_judge]
    measure = {"answers": _measure_answers, "passages": _measure_passages, "references": _measure_references}[
        study.kind
    ]
    measured = measure(study, items, judged)
    return StudyResults(len(saved), len({item for item, _ in saved}), len(saved) - len(judged), measured)


def _measure_answers(study: Study, items: Sequence[StudyItem], judged: NumberedJudgements) -> list[AspectResults]:
    systems = sorted({answer.system for item in items for answer in item.answers})
    most = max((len(item.answers) for item in items), default=0)
    measured = [
        _measure_aspect(one.name, _choose_score(one.name), judged, systems, study.scale, best=1)
        for one in study.aspects
    ]
    if study.ranking:
        scale = LOWEST, most
        measured.append(
            _measure_aspect(RANK, lambda said, system: said.ranks.get(system), judged, systems, scale, best=-1)
        )
    return measured


def _measure_passages(study: Study, items: Sequence[StudyItem], judged: NumberedJudgements) -> list[AspectResults]:
    numbers = sorted({one.system for item in items for one in item.answers}, key=int)
    found = []
    for aspect in study.aspects:
        value = _choose_score(aspect.name)
        by_number = {number: _select_values(value, judged, number) for number in numbers}
        every = [one for values in by_number.values() for one in values]
        means = [
            _compute_mean(name, values, study.scale) for name, values in ((EVERY, every), *by_number.items()) if values
        ]
        alpha = compute_nominal_alpha(_collect_units(value, judged, numbers))
        found.append(AspectResults(aspect.name, means, [], alpha, study.scale))
    return found


def _measure_references(study: Study, items: Sequence[StudyItem], judged: NumberedJudgements) -> list[AspectResults]:
    by_id = {one.id: one for one in items}
    rated_parts: RatedParts = []
    units: dict[tuple[int, str, str], list[int]] = {}
    for id_, judgement in judged:
        for number, _ in enumerate(by_id[id_].sentences, 1):
            rated_parts.append((id_, YES if find_supporting_passages(judgement, number) else NO))
        for passage, points in judgement.scores.items():
            for sentence, value in points.items():
                units.setdefault((id_, passage, sentence), []).append(value)
    means = [_compute_mean("sentences", rated_parts, study.scale)] if rated_parts else []
    return [AspectResults(BORNE_OUT, means, [], compute_nominal_alpha(units.values()), study.scale)]


def _choose_score(aspect: str) -> Value:
    return lambda said, system: said.scores.get(system, {}).get(aspect)


def _measure_aspect(
    name: str, value: Value, judged: NumberedJudgements, systems: Sequence[str], scale: tuple[int, int], *, best: int
) -> AspectResults:
    """Measure an aspect. `best`: 1 where the larger value is the better one, else -1."""
    means = [
        _compute_mean(system, rated_parts, scale)
        for system in systems
        if (rated_parts := _select_values(value, judged, system))
    ]
    pairs = [
        SystemPair(first, second, *_compare_systems(value, judged, first, second, best))
        for first, second in combinations([one.system for one in means], 2)
    ]
    return AspectResults(name, means, pairs, compute_ordinal_alpha(_collect_units(value, judged, systems)), scale)


def _select_values(value: Value, judged: NumberedJudgements, system: str) -> RatedParts:
    return [(item, points) for item, judgement in judged if (points := value(judgement, system)) is not None]


def _compute_mean(system: str, rated_parts: RatedParts, scale: tuple[int, int]) -> SystemMean:
    # Imported only here, so that listing studies does not wait for it.
    from argot.measures import bootstrap_interval

    items, every = zip(*rated_parts, strict=True)
    # The ratings of one question are not independent of each other: they are drawn together.
    interval = bootstrap_interval(every, clusters=items) if len(set(items)) > 1 else None
    lowest, most = scale
    counts = [every.count(step) for step in range(lowest, most + 1)]
    return SystemMean(system, len(every), fmean(every), interval, counts)


def _compare_systems(
    value: Value, judged: NumberedJudgements, first: str, second: str, best: int
) -> tuple[int, int, int]:
    wins = ties = losses = 0
    for _, judgement in judged:
        one, other = value(judgement, first), value(judgement, second)
        if one is not None and other is not None:
            wins += (one - other) * best > 0
            ties += one == other
            losses += (one - other) * best < 0
    return wins, ties, losses


def _collect_units(value: Value, judged: NumberedJudgements, systems: Sequence[str]) -> Iterator[list[int]]:
    """Collect for each answer the values that its raters gave it."""
    found: dict[tuple[int, str], list[int]] = {}
    for item, judgement in judged:
        for system in systems:
            if (points := value(judgement, system)) is not None:
                found.setdefault((item, system), []).append(points)
    yield from found.values()
