"""Plots as SVG text: one line per row with dots and intervals on a common scale. No script, everything is escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

_Scale = Callable[[float], float]
_LEFT, _WIDTH, _LINE, _TOP, _FOOT = 290, 760, 26, 10, 34


@dataclass(frozen=True, slots=True)
class PlottedRow:
    """A row of the plot: `ours` with its interval, and the `paper`'s figure; None for a missing one."""

    label: str
    ours: float | None
    interval: tuple[float, float] | None
    paper: float | None


def draw_dot_plot(title: str, rows: Sequence[PlottedRow]) -> str:
    """Return an `<svg>` with a title that says what it shows, or an empty text if there is nothing to show."""
    values = [value for row in rows for value in (row.ours, row.paper, *(row.interval or ())) if value is not None]
    if not values:
        return ""
    low, high, step = _choose_scale(min(0.0, *values), max(0.0, *values))
    height = _TOP + _LINE * len(rows) + _FOOT

    def place(value: float) -> float:
        return round(_LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - 20), 1)

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" xmlns="http://www.w3.org/2000/svg">',
        f"<title>{escape(title)}</title>",
        *_draw_axis(low, high, step, height, place),
    ]
    for n, row in enumerate(rows):
        parts += _draw_line(row, _TOP + _LINE * n + _LINE / 2, place)
    return "\n".join([*parts, "</svg>"])


def _draw_axis(low: float, high: float, step: float, height: int, x: _Scale) -> list[str]:
    parts = []
    for tick in range(round((high - low) / step) + 1):
        value = low + tick * step
        at = x(value)
        parts.append(f'<line class="grid" x1="{at}" x2="{at}" y1="{_TOP}" y2="{height - _FOOT}"/>')
        parts.append(f'<text class="tick" x="{at}" y="{height - _FOOT + 18}">{_format_short(value)}</text>')
    return parts


def _draw_line(row: PlottedRow, y: float, x: _Scale) -> list[str]:
    label = row.label if len(row.label) <= 42 else row.label[:41] + "…"
    parts = [f'<text class="row" x="{_LEFT - 12}" y="{y + 4}"><title>{escape(row.label)}</title>{escape(label)}</text>']
    if row.interval is not None:
        parts.append(f'<line class="interval" x1="{x(row.interval[0])}" x2="{x(row.interval[1])}" y1="{y}" y2="{y}"/>')
    if row.paper is not None:
        at = x(row.paper)
        points = f"{at},{y - 6} {at + 6},{y} {at},{y + 6} {at - 6},{y}"
        paper = _format_short(row.paper)
        parts.append(f'<polygon class="paper" points="{points}"><title>paper {paper}</title></polygon>')
    if row.ours is not None:
        parts.append(
            f'<circle class="ours" cx="{x(row.ours)}" cy="{y}" r="5"><title>{_format_short(row.ours)}</title></circle>'
        )
    return parts


def _choose_scale(low: float, high: float) -> tuple[float, float, float]:
    """Return both ends and the step of an axis with about five round steps."""
    high = high if high > low else low + 1.0
    span = high - low
    rough = span / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(round_ * power for round_ in (1, 2, 2.5, 5, 10) if round_ * power >= rough - 1e-12)
    return math.floor(low / step) * step, math.ceil(high / step - 1e-9) * step, step


def _format_short(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") or "0"
