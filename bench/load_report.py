"""The figures of a load test, and the page that shows them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any

from load_applications import PASSAGES, Application, Sample

WARMING = 60.0
"""First seconds of each block, whose memory is left out of the growth: helpers start, and caches fill again."""


def list_own_times(answers: Sequence[dict[str, Any]]) -> list[float]:
    """Return the own times of the answered questions, in milliseconds."""
    return [one["own"] * 1000 for one in answers if not one["error"] and "own" in one]


def compute_percentile(values: Sequence[float], percent: int) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] if ordered else None


def measure_growth(samples: Sequence[Sample], block: float, size: Callable[[Sample], int]) -> float | None:
    """Return the growth in megabytes a minute of load, by least squares over the second half of the time.

    Args:
        block: seconds of a block; of each the first `WARMING` are left out, or a quarter if that is less.
    """
    warm = min(WARMING, block / 4)
    half = samples[-1].at / 2 if samples else 0.0
    points = [(one.at, size(one)) for one in samples if one.at >= half and one.into >= warm]
    if len(points) < 3:
        return None
    middle = sum(at for at, _ in points) / len(points)
    spread = sum((at - middle) ** 2 for at, _ in points)
    slope = sum((at - middle) * bytes_ for at, bytes_ in points) / spread
    return slope * 60 / 1e6


def format_value(value: float | None, form: str = ".0f") -> str:
    return "-" if value is None else format(value, form)


def describe_standing(application: Application, answers: Sequence[dict[str, Any]]) -> str:
    """Describe the progress of a block."""
    errors = sum(bool(one["error"]) for one in answers)
    own = format_value(compute_percentile(list_own_times(answers), 95))
    text = f"{len(answers)} answered, {errors} errors, own p95 {own} ms"
    if application.samples:
        last = application.samples[-1]
        text += f", memory {last.service / 1e6:.0f} MB and {last.helpers / 1e6:.0f} of helpers"
    refused = f", {len(application.refused)} times refused" if application.refused else ""
    return f"{text}, {application.documents} documents in{refused}"


def report(arguments: argparse.Namespace, applications: Sequence[Application], done: str) -> str:
    """Return the tables. `done`: how far the run is; empty once it is complete."""
    ingest = "" if arguments.no_ingest else f", beside an ingest without end: {_describe_ingest(arguments)}"
    lines = [
        *([f"**Not complete: {done}.**", ""] if done else []),
        f"{arguments.people} conversations, a question every {arguments.every:g} s in each, {arguments.minutes:g}"
        f" minutes for each application in {arguments.blocks} turns{ingest}. {os.cpu_count()} processors. Model: first"
        f" token after {arguments.first * 1000:.0f} ms, replies in JSON after {arguments.reply * 1000:.0f} ms."
        " Times in milliseconds.",
        "",
        "| application | questions | errors | own p50 | own p95 | first word p50 | p95 | documents in |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        *(_build_times(one) for one in applications),
        "",
        "Resident memory of the service, in MB, and of the processes it starts for a while; growth in MB a minute, over"
        " the second half, and in MB for a thousand passages that went in:",
        "",
        "| application | first | most | last | growth | a thousand passages in | helpers, most | growth with helpers |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        *(_build_memory(arguments, one) for one in applications),
        *_describe_search(arguments, applications),
    ]
    for one in applications:
        errors = sorted({answer["error"][:160] for answer in one.answers if answer["error"]})
        lines += ["", *(f"- {one.name}: {error}" for error in errors[:5])] if errors else []
        if one.refused:
            lines += ["", f"- {one.name} refused documents {len(one.refused)} times: {one.refused[0]}"]
    return "\n".join(lines)


def _describe_ingest(arguments: argparse.Namespace) -> str:
    if arguments.new_documents:
        return "always new documents, so that the knowledge base grows"
    return f"the same {arguments.documents} documents, changed each time, so that the knowledge base stays as large"


def _build_times(one: Application) -> str:
    own = list_own_times(one.answers)
    first = [answer["first"] * 1000 for answer in one.answers if answer["first"] is not None]
    times = [format_value(compute_percentile(values, percent)) for values in (own, first) for percent in (50, 95)]
    errors = sum(bool(answer["error"]) for answer in one.answers)
    return _format_row(one.name, len(one.answers), errors, *times, one.documents)


def _build_memory(arguments: argparse.Namespace, one: Application) -> str:
    if not one.samples:
        return _format_row(one.name, *["-"] * 7)
    sizes = [sample.service / 1e6 for sample in one.samples]
    block = arguments.minutes * 60 / arguments.blocks
    alone = measure_growth(one.samples, block, lambda sample: sample.service)
    together = measure_growth(one.samples, block, lambda sample: sample.service + sample.helpers)
    helpers = max(sample.helpers for sample in one.samples) / 1e6
    figures = [format_value(value) for value in (sizes[0], max(sizes), sizes[-1])]
    passages = one.documents * PASSAGES / 1000 / (one.loaded / 60) if one.loaded else 0.0  # thousands a minute
    each = None if alone is None or not passages else alone / passages
    return _format_row(
        one.name,
        *figures,
        *(format_value(value, ".2f") for value in (alone, each)),
        format_value(helpers),
        format_value(together, ".2f"),
    )


def _describe_search(arguments: argparse.Namespace, applications: Sequence[Application]) -> list[str]:
    if not any(one.search for one in applications):
        return []
    lines = ["", f"Without an ingest, until own p95 is above {arguments.limit:g} ms or a question fails:", ""]
    lines += [
        "| application | questions a second | answered | own p50 | own p95 | errors |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for one in applications:
        for step in one.search:
            times = [format_value(step["p50"]), format_value(step["p95"])]
            lines.append(_format_row(one.name, f"{step['rate']:g}", step["answered"], *times, step["errors"]))
    for one in applications:
        kept = [step["rate"] for step in one.search if step["kept"]]
        if one.search:
            lines += ["", f"{one.name} stays within it at {max(kept, default=0):g} questions a second."]
    return lines


def _format_row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
