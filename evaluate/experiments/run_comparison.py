"""The comparison of two runs, by row and column: the paired differences over the questions that both have."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from argot.errors import InvalidInput
from argot.evaluate.experiments.experiment import Experiment
from argot.evaluate.experiments.experiment_runs import ExperimentRun
from argot.evaluate.experiments.run_tables import format_number, list_columns
from argot.evaluate.reports import Table, format_difference
from argot.measures import Difference, paired_difference


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One row and column: the means of both runs over the questions that they share, and the second minus the first."""

    row: str
    column: str
    first: float
    second: float
    change: Difference


@dataclass(frozen=True, slots=True)
class RunComparison:
    first: str
    second: str
    figures: list[ComparedFigure] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_runs(experiment: Experiment, first: ExperimentRun, second: ExperimentRun) -> RunComparison:
    """Compare two runs of one experiment.

    Raises:
        InvalidInput: the runs are of different experiments, or share no measured row and question.
    """
    if first.experiment != second.experiment:
        raise InvalidInput(f"{first.id} is a run of {first.experiment}, {second.id} one of {second.experiment}.")
    found = RunComparison(first.id, second.id)
    for row in first.rows:
        other = second.find_row(row.label)
        for column in list_columns(experiment, first) if other else ():
            assert other is not None
            shared = [
                (id_, ours, theirs)
                for id_, values in row.each.items()
                if (ours := values.get(column.key)) is not None
                # Two sets may use the same question numbers.
                if first.asked.get(id_) == second.asked.get(id_)
                if (theirs := other.each.get(id_, {}).get(column.key)) is not None
            ]
            if shared:
                ids, before, after = (list(part) for part in zip(*shared, strict=True))
                clusters = [first.clusters.get(id_, id_) for id_ in ids]
                change = paired_difference(before, after, clusters)
                one, two = sum(before) / len(before), sum(after) / len(after)
                found.figures.append(ComparedFigure(row.label, column.key, one, two, change))
    if not found.figures:
        raise InvalidInput(
            f"{first.id} and {second.id} have no row that both measured on the same questions ({first.data}, "
            f"{second.data}): nothing is paired."
        )
    return found


def build_comparison_tables(experiment: Experiment, found: RunComparison) -> list[Table]:
    titles = {column.key: column for column in experiment.columns}
    rows = []
    for one in found.figures:
        column = titles.get(one.column)
        shown = [format_number(value, column) if column else f"{value:.3f}" for value in (one.first, one.second)]
        rows.append([
            one.row,
            column.title if column else one.column,
            str(one.change.questions),
            *shown,
            format_difference(one.change),
            "yes" if one.change.excludes_zero else "no",
        ])  # fmt: skip
    columns = ["row", "column", "n", "first", "second", "difference, 95 %", "excludes zero"]
    return [Table(f"{found.second} against {found.first}", columns, rows)]
