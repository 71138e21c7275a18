"""Several runs of one experiment as one table: the mean of each figure and its standard deviation over the runs.

*Trustworthy Answers*, tables 3 and 10, report models trained from several seeds so. A run here measures one model; the
interval in its own table is that over questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any

from argot.errors import InvalidInput
from argot.evaluate.experiments.experiment import Experiment, PaperColumn
from argot.evaluate.experiments.experiment_runs import ExperimentRun
from argot.evaluate.experiments.run_tables import format_number
from argot.evaluate.reports import Table


@dataclass(frozen=True, slots=True)
class PooledFigure:
    """One row and column over several runs. `deviation`: the sample standard deviation of the runs' means.

    `runs`: those that measured it; of the others the figure says nothing.
    """

    row: str
    column: str
    mean: float
    deviation: float
    means: list[float]
    runs: list[str]


@dataclass(frozen=True, slots=True)
class PooledRuns:
    experiment: str
    runs: list[str]
    figures: list[PooledFigure]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def pool_runs(runs: Sequence[ExperimentRun]) -> PooledRuns:
    """Pool runs of one experiment on the same questions.

    Raises:
        InvalidInput: there are fewer than two runs, they differ in experiment or questions, or no figure was measured
            by two of them.
    """
    _refuse_unlike(runs)
    measured: dict[tuple[str, str], dict[str, float]] = {}
    for run in runs:
        for row in run.rows:
            for column, figure in row.figures.items():
                measured.setdefault((row.label, column), {})[run.id] = figure.mean
    figures = [
        PooledFigure(row, column, fmean(means.values()), stdev(means.values()), [*means.values()], [*means])
        for (row, column), means in measured.items()
        if len(means) > 1
    ]
    if not figures:
        raise InvalidInput(f"No row was measured by two of the runs {', '.join(run.id for run in runs)}.")
    return PooledRuns(runs[0].experiment, [run.id for run in runs], figures)


def _refuse_unlike(runs: Sequence[ExperimentRun]) -> None:
    if len(runs) < 2:
        raise InvalidInput("Name at least two different runs to pool: argot evaluate experiment show lists them.")
    first = runs[0]
    for run in runs[1:]:
        if run.experiment != first.experiment:
            raise InvalidInput(
                f"{first.id} is a run of {first.experiment}, {run.id} one of {run.experiment}. Give runs of one "
                "experiment, as 'argot evaluate experiment show' lists them."
            )
        if run.fingerprint != first.fingerprint:
            raise InvalidInput(
                f"{first.id} and {run.id} asked different questions ({first.data}, {run.data}): their figures are not "
                "one quantity. Compare them over the shared ones: argot evaluate experiment compare."
            )


def build_pooled_tables(experiment: Experiment, pooled: PooledRuns) -> list[Table]:
    titles = {column.key: column for column in experiment.columns}
    rows = []
    for one in pooled.figures:
        column = titles.get(one.column, PaperColumn(one.column, one.column))
        shown = [format_number(value, column) for value in (one.mean, one.deviation)]
        rows.append([one.row, column.title, *shown, ", ".join(format_number(value, column) for value in one.means)])
    title = f"{experiment.paper}, {experiment.table}: {len(pooled.runs)} runs"
    return [Table(title, ["row", "column", "mean", "standard deviation", "the runs' means"], rows)]
