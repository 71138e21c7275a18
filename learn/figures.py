"""The figures of a card: measures of a model before and after, and their paired differences."""

from __future__ import annotations

import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from argot.learn.run_data import RunData
from argot.learn.training_pairs import Part
from argot.measures import Measured, measure

MEASURES = ("map@1", "map@3", "map@5", "map@10", "hit@1", "hit@3", "hit@5", "hit@10", "ndcg@10")
"""hit@k is called Success@k in the papers."""
MEASURED_PARTS: tuple[Part, ...] = ("validation", "test")

Rankings = Mapping[str, Sequence[str]]
"""The passages found, best first, by the id of a pair."""


def measure_rankings(data: RunData, before: Mapping[str, Rankings], after: Mapping[str, Rankings]) -> dict[str, Any]:
    """Measure each part: the means of each way, and each way after against each before, over the same questions.

    The intervals are of 95 %, paired, and questions of one gold passage are drawn together.
    """
    return {part: _measure_part(data, part, before, after) for part in MEASURED_PARTS if data.pairs[part]}


def _measure_part(
    data: RunData, part: Part, before: Mapping[str, Rankings], after: Mapping[str, Rankings]
) -> dict[str, Any]:
    qrels = data.qrels(part)
    ways = {name: measure({pair: run[pair] for pair in qrels}, qrels) for name, run in {**before, **after}.items()}
    return {
        "questions": len(qrels),
        "means": {name: {one: round(measured.mean[one], 5) for one in MEASURES} for name, measured in ways.items()},
        "differences": {
            f"{later} against {earlier}": _compare_ways(ways[earlier], ways[later])
            for later in after
            for earlier in before
        },
    }


def _compare_ways(before: Measured, after: Measured) -> dict[str, Any]:
    changes = before.compare(after)
    return {name: asdict(changes[name]) for name in MEASURES}


def measure_peak_megabytes() -> float:
    """Return this process's peak memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
