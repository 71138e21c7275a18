"""Tables of a run: the paper's rows and columns, with the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence

from argot.evaluate.experiments.experiment import Experiment, PaperColumn
from argot.evaluate.experiments.experiment_runs import ColumnFigure, ExperimentRun, RowResult
from argot.evaluate.experiments.score_tables import build_score_tables
from argot.evaluate.reports import Table

COLUMNS_PER_TABLE = 5
"""The most columns that fit beside each other."""


def build_run_tables(experiment: Experiment, run: ExperimentRun) -> list[Table]:
    """Build tables whose cells have our figure with its 95 % interval and, after a dot, the paper's figure."""
    columns = list_columns(experiment, run)
    tables = []
    for start in range(0, len(columns), COLUMNS_PER_TABLE):
        some = columns[start : start + COLUMNS_PER_TABLE]
        rows = [[row.label, *(_format_cell(experiment, row, column) for column in some)] for row in run.rows]
        title = f"{experiment.paper}, {experiment.table}: ours · the paper's"
        tables.append(Table(title if not start else "Further columns", ["row", *(one.title for one in some)], rows))
    tables += build_score_tables(experiment, run)
    if lacking := [[row.label, row.reason] for row in run.rows if row.reason]:
        tables.append(Table("Not run, or not as the paper did", ["row", "why"], lacking))
    tables.append(Table("Data and models", ["", ""], _list_setting(experiment, run)))
    return tables


def list_columns(experiment: Experiment, run: ExperimentRun) -> list[PaperColumn]:
    """Return the paper's columns, then those that the data adds: one for each domain of a quiz."""
    known = {column.key for column in experiment.columns}
    more = dict.fromkeys(key for row in run.rows for key in row.figures if key not in known)
    return [*experiment.columns, *(PaperColumn(key, key) for key in more)]


def _format_cell(experiment: Experiment, result: RowResult, column: PaperColumn) -> str:
    row = experiment.find_row(result.label)
    published = row.paper.get(column.key) if row else None
    ours = format_figure(result.figures.get(column.key), column)
    return f"{ours or '-'} · {format_published(published, column) if published is not None else '-'}"


def format_figure(figure: ColumnFigure | None, column: PaperColumn) -> str:
    if figure is None:
        return ""
    low, high = figure.interval95
    if low == high == figure.mean:
        return format_number(figure.mean, column)
    return f"{format_number(figure.mean, column)} ({format_number(low, column)} to {format_number(high, column)})"


def format_number(value: float, column: PaperColumn) -> str:
    if column.percent:
        return f"{100 * value:.1f} %"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def format_published(value: float, column: PaperColumn) -> str:
    """Format a number with as many digits as the paper prints."""
    return f"{round(100 * value, 4):g} %" if column.percent else f"{value:g}"


def _list_setting(experiment: Experiment, run: ExperimentRun) -> list[Sequence[str]]:
    limited = f", the first {run.limit}" if run.limit else ""
    rows: list[Sequence[str]] = [
        ["run", run.id],
        ["data", f"{run.data}: {run.questions} questions{limited}" if run.questions else run.data],
        *([name, value] for name, value in run.models.items()),
        ["the paper", experiment.published_with],
        *(["note", note] for note in (*experiment.notes, *run.notes)),
    ]
    return rows
