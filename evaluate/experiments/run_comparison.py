"""The comparison of two runs, by row and column, or of two rows of one run: the paired differences over the questions
that both have, and the questions won and lost (KaPQA, tables 6 and 7).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from argot.errors import InvalidInput
from argot.evaluate.experiments.experiment import Experiment, PaperColumn
from argot.evaluate.experiments.experiment_runs import ExperimentRun, RowResult
from argot.evaluate.experiments.run_tables import format_number, list_columns
from argot.evaluate.reports import Table, format_difference
from argot.measures import Difference, paired_difference

MAX_EXAMPLES = 5
"""The most questions shown as won, and as many as lost, of each row and column."""


@dataclass(frozen=True, slots=True)
class ChangedQuestion:
    """A question whose value differs between two runs or rows. `question`: its text; empty in runs of earlier
    versions.
    """

    id: str
    question: str
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One row and column: the means of both runs over the questions that they share, and the second minus the first.
    Of two rows of one run, `row` is the second.

    `won`, `tied`, `lost`: the number of questions on which the second has the higher, the same or the lower value.
    `gains`, `losses`: those that changed most.
    """

    row: str
    column: str
    first: float
    second: float
    change: Difference
    won: int
    tied: int
    lost: int
    gains: list[ChangedQuestion]
    losses: list[ChangedQuestion]


@dataclass(frozen=True, slots=True)
class RunComparison:
    """`first`, `second`: the ids of two runs, or the labels of two rows of one run."""

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
        raise InvalidInput(
            f"{first.id} is a run of {first.experiment}, {second.id} one of {second.experiment}. Give runs of one "
            "experiment, as 'argot evaluate experiment show' lists them."
        )
    found = RunComparison(first.id, second.id)
    for row in first.rows:
        if other := second.find_row(row.label):
            # Two sets may use the same question numbers.
            same = {id_ for id_ in row.each if first.asked.get(id_) == second.asked.get(id_)}
            found.figures.extend(_compare_rows(experiment, first, row, other, same))
    if not found.figures:
        raise InvalidInput(
            f"{first.id} and {second.id} have no row that both measured on the same questions ({first.data}, "
            f"{second.data}): nothing is paired."
        )
    return found


def compare_rows(experiment: Experiment, run: ExperimentRun, first: str, second: str) -> RunComparison:
    """Compare two rows of one run, given by their labels.

    Raises:
        InvalidInput: a row is not among those measured, or the two share no question and column.
    """
    one, other = (_find_measured(run, label) for label in (first, second))
    figures = list(_compare_rows(experiment, run, one, other, set(one.each)))
    if not figures:
        raise InvalidInput(
            f"'{one.label}' and '{other.label}' have no question and column in common: nothing is paired."
        )
    return RunComparison(one.label, other.label, figures)


def _find_measured(run: ExperimentRun, label: str) -> RowResult:
    measured = {row.label.casefold(): row for row in run.rows if row.each}
    if label.casefold() not in measured:
        known = ", ".join(f"'{row.label}'" for row in measured.values()) or "none"
        raise InvalidInput(f"{run.id} has measured no row '{label}'. Measured rows: {known}.")
    return measured[label.casefold()]


def _compare_rows(
    experiment: Experiment, run: ExperimentRun, row: RowResult, other: RowResult, asked: Collection[str]
) -> Iterator[ComparedFigure]:
    """Yield the differences by column, over those of the `asked` questions that have a value in both rows. `run`: the
    first row's.
    """
    for column in list_columns(experiment, run):
        shared = [
            ChangedQuestion(id_, run.texts.get(id_, ""), ours, theirs)
            for id_, values in row.each.items()
            if id_ in asked
            if (ours := values.get(column.key)) is not None
            if (theirs := other.each.get(id_, {}).get(column.key)) is not None
        ]
        if shared:
            yield _compare_figure(other.label, column.key, shared, run.clusters)


def _compare_figure(
    row: str, column: str, shared: Sequence[ChangedQuestion], clusters: Mapping[str, int]
) -> ComparedFigure:
    before, after = [one.first for one in shared], [one.second for one in shared]
    change = paired_difference(before, after, [clusters.get(one.id, one.id) for one in shared])
    by_change = sorted(shared, key=lambda one: one.first - one.second)
    won = [one for one in by_change if one.second > one.first]
    lost = [one for one in reversed(by_change) if one.second < one.first]
    return ComparedFigure(
        row=row,
        column=column,
        first=fmean(before),
        second=fmean(after),
        change=change,
        won=len(won),
        tied=len(shared) - len(won) - len(lost),
        lost=len(lost),
        gains=won[:MAX_EXAMPLES],
        losses=lost[:MAX_EXAMPLES],
    )


def build_comparison_tables(experiment: Experiment, found: RunComparison) -> list[Table]:
    titles = {column.key: column for column in experiment.columns}
    rows, changed = [], []
    for one in found.figures:
        column = titles.get(one.column, PaperColumn(one.column, one.column))
        rows.append([
            one.row,
            column.title,
            str(one.change.questions),
            format_number(one.first, column),
            format_number(one.second, column),
            format_difference(one.change),
            "yes" if one.change.excludes_zero else "no",
            f"{one.won} / {one.tied} / {one.lost}",
        ])  # fmt: skip
        for verdict, questions in (("won", one.gains), ("lost", one.losses)):
            changed += [
                [one.row, column.title, verdict, two.id, two.question]
                + [format_number(value, column) for value in (two.first, two.second)]
                for two in questions
            ]
    columns = ["row", "column", "n", "first", "second", "difference, 95 %", "excludes zero", "won / tied / lost"]
    tables = [Table(f"{found.second} against {found.first}", columns, rows)]
    if changed:
        heads = ["row", "column", "", "id", "question", "first", "second"]
        tables.append(
            Table(f"The questions that changed most, at most {MAX_EXAMPLES} a row and column", heads, changed)
        )
    return tables
