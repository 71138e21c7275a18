"""Tables of scores from 1 to 5 beside their means: how often each was given, and which row wins (Trustworthy Answers,
table 11 and figure 7).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from argot.evaluate.experiments.experiment import Experiment
from argot.evaluate.experiments.experiment_runs import ExperimentRun, RowResult
from argot.evaluate.reports import Table

SCORES = (1, 2, 3, 4, 5)


def build_score_tables(experiment: Experiment, run: ExperimentRun) -> list[Table]:
    """Build both tables of an experiment whose rows are scored on aspects; none for others, or before a row is
    measured.
    """
    rows = [row for row in run.rows if row.each and _is_scored(experiment, row)]
    tables = [_build_counts(experiment, rows)] if rows else []
    if len(rows) > 1:
        tables.append(_build_wins(experiment, rows[0], rows[-1]))
    return tables


def _is_scored(experiment: Experiment, result: RowResult) -> bool:
    row = experiment.find_row(result.label)
    return row is not None and row.way == "aspects"


def _build_counts(experiment: Experiment, rows: Sequence[RowResult]) -> Table:
    body = []
    for column in experiment.columns:
        for row in rows:
            counts = Counter(round(value) for values in row.each.values() if (value := values.get(column.key)))
            body.append([column.title, row.label, *(str(counts[score]) for score in SCORES)])
    return Table("How often each score was given (table 11)", ["aspect", "row", *map(str, SCORES)], body)


def _build_wins(experiment: Experiment, first: RowResult, last: RowResult) -> Table:
    """Compare the last row with the first, over the questions that both have."""
    body = []
    for column in experiment.columns:
        pairs = [
            (values.get(column.key), other.get(column.key))
            for id_, values in last.each.items()
            if (other := first.each.get(id_)) is not None
        ]
        gains = [mine - theirs for mine, theirs in pairs if mine is not None and theirs is not None]
        counts = (sum(gain > 0 for gain in gains), sum(gain == 0 for gain in gains), sum(gain < 0 for gain in gains))
        body.append([column.title, *(_format_share(count, len(gains)) for count in counts)])
    title = f"{last.label} against {first.label} (figure 7)"
    return Table(title, ["aspect", "win", "tie", "loss"], body)


def _format_share(count: int, of: int) -> str:
    return f"{count} ({100 * count / of:.0f} %)" if of else "-"
