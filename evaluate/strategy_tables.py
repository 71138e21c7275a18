"""Tables of a choice of strategy."""

from __future__ import annotations

from argot.evaluate.reports import Table, format_difference
from argot.evaluate.strategy_suite import MIN_CLUSTERS, StrategyReport


def build_strategy_tables(report: StrategyReport) -> list[Table]:
    """Build the table of strategies, best first, and the table of conclusions."""
    rows = [
        [
            one.name + (" (present)" if one.name == report.present else ""),
            f"{one.mean:.3f}",
            "{:.3f} to {:.3f}".format(*one.interval95),
            format_difference(one.to_best) if one.name != report.best else "",
            format_difference(one.to_present) if one.name != report.present else "",
        ]
        for one in report.rows
    ]
    title = f"{report.name}: {report.questions} questions, {report.tried} strategies; the best ones by {report.measure}"
    columns = ["strategy", report.measure, "95 %", "to the best, 95 %", "to the present one, 95 %"]
    return [
        Table(title, columns, rows),
        Table("Choice", ["", ""], [["chosen", report.chosen], ["because", _explain_choice(report)]]),
    ]


def _explain_choice(report: StrategyReport) -> str:
    if report.better:
        return f"it is better than the present one ({report.present}): the interval excludes zero"
    if report.best == report.present:
        return "none of the others measures better than the present one"
    few = report.clusters < MIN_CLUSTERS
    doubt = f"take questions of {MIN_CLUSTERS} passages or more" if few else "the interval includes zero"
    return f"{report.best} measures highest, but its difference to the present one may be chance: {doubt}"
