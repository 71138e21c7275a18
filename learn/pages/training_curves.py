"""The losses of a training as lines to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 560, 150, 6


@dataclass(frozen=True, slots=True)
class Curve:
    """One loss over the steps. `line`: its points, as SVG's `polyline` takes them."""

    name: str
    line: str
    first: float
    last: float
    highest: float
    lowest: float
    steps: tuple[int, int]


def build_curves(points: Sequence[dict[str, float]]) -> list[Curve]:
    """Build a curve for each loss; the whole height is from its lowest to its highest value."""
    names = dict.fromkeys(name for point in points for name in point if name != "step")
    return [_build_curve(name, [(point["step"], point[name]) for point in points if name in point]) for name in names]


def _build_curve(name: str, points: Sequence[tuple[float, float]]) -> Curve:
    steps, values = [step for step, _ in points], [value for _, value in points]
    low, high = min(values), max(values)
    across, up = max(steps[-1] - steps[0], 1), (high - low) or 1
    line = " ".join(
        f"{MARGIN + (step - steps[0]) / across * (WIDTH - 2 * MARGIN):.1f},"
        f"{HEIGHT - MARGIN - (value - low) / up * (HEIGHT - 2 * MARGIN):.1f}"
        for step, value in points
    )
    return Curve(name, line, values[0], values[-1], high, low, (int(steps[0]), int(steps[-1])))
