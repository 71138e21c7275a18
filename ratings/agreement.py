"""Krippendorff's alpha: the agreement of raters beyond chance, with any number of raters and missing values.

After Klaus Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), with the ordinal and the nominal metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations

Distances = dict[tuple[int, int], float]
"""Squared distance of two values."""


def compute_ordinal_alpha(units: Iterable[Sequence[int]]) -> float | None:
    """Compute alpha of ordered values, such as points: the farther apart, the worse. See `compute_nominal_alpha`."""
    return _compute_alpha(units, _measure_ordinal_distances)


def compute_nominal_alpha(units: Iterable[Sequence[int]]) -> float | None:
    """Compute alpha of values that are the same or not, such as yes and no.

    1: they agree in all; 0: as by chance; below: they disagree systematically.

    Args:
        units: for each thing that was rated the values it was given, of however many raters. A single value is no
            evidence of agreement, and is left out.

    Returns:
        None if no item has two values, or all values are the same: agreement is undefined.
    """
    return _compute_alpha(units, lambda totals: {(a, b): float(a != b) for a in totals for b in totals})


def _compute_alpha(
    units: Iterable[Sequence[int]], distances_of: Callable[[dict[int, float]], Distances]
) -> float | None:
    coincidences: dict[tuple[int, int], float] = {}
    for values in units:
        if len(values) > 1:
            for pair, count in Counter(permutations(values, 2)).items():
                coincidences[pair] = coincidences.get(pair, 0.0) + count / (len(values) - 1)
    totals: dict[int, float] = {}
    for (value, _), weight in coincidences.items():
        totals[value] = totals.get(value, 0.0) + weight
    n = sum(totals.values())
    distances = distances_of(totals)
    by_chance = sum(totals[a] * totals[b] * distance for (a, b), distance in distances.items())
    if not by_chance:
        return None
    observed = sum(weight * distances[pair] for pair, weight in coincidences.items())
    return 1 - (n - 1) * observed / by_chance


def _measure_ordinal_distances(totals: dict[int, float]) -> Distances:
    """Return for each pair the square of the number of values between the two, half of each of the two counted."""
    ranked = sorted(totals)
    found: Distances = {}
    for first, low in enumerate(ranked):
        for last in range(first, len(ranked)):
            high = ranked[last]
            between = sum(totals[value] for value in ranked[first : last + 1]) - (totals[low] + totals[high]) / 2
            found[low, high] = found[high, low] = between**2
    return found
