"""Tables of the report of `argot evaluate disambiguate`."""

from __future__ import annotations

from argot.evaluate.experiments.disambiguation_measures import COVERAGES, Measures
from argot.evaluate.experiments.disambiguation_suite import EACH_FOR_ITSELF, EVERYTHING, DisambiguateReport
from argot.evaluate.reports import Table

# Full coverage is the column "accuracy".
_SURER = [share for share in COVERAGES if share < 1]
_COLUMNS = (
    "precision",
    "recall",
    "macro F1",
    "strict F1",
    "accuracy",
    *(f"surest {share:.0%}" for share in _SURER),
    "calibration error",
)


def build_disambiguate_tables(report: DisambiguateReport) -> list[Table]:
    """Build tables of the ways of choosing by part of the file, of the calibration of probabilities, and of the value
    of each kind of evidence.
    """
    tables = [
        Table(
            f"{report.name}, {part if part == 'all' else f'{part} half'}: {ways[EVERYTHING].sentences} sentences",
            ("", *_COLUMNS),
            [[way, *_format_cells(measures)] for way, measures in ways.items()],
        )
        for part, ways in report.parts.items()
    ]
    whole = report.parts["all"]
    bins = [
        [f"{b.low:.1f} to {b.high:.1f}", str(b.count), _format_percent(b.chance), _format_percent(b.right)]
        for b in whole[EVERYTHING].bins
    ]
    counts = [[reason.replace("_", " "), str(count)] for reason, count in report.unmatched.items() if count]
    if counts:
        tables.append(Table("Sentences for which any choice is wrong, or right", ("", "sentences"), counts))
    columns = ("probability", "sentences", "mean probability", "right")
    tables.append(Table(f"Calibration of the probabilities: {report.name}, everything", columns, bins))
    alone = [[kind, *_format_cells(measures)] for kind, measures in report.alone.items()]
    tables.append(Table("Each kind of evidence alone", ("", *_COLUMNS), alone))
    without = [[f"without: {kind}", *_format_cells(measures)] for kind, measures in report.without.items()]
    # At the top, so that the value of each kind can be read down the column.
    rows = [[way, *_format_cells(whole[way])] for way in (EVERYTHING, EACH_FOR_ITSELF)]
    tables.append(Table("All kinds of evidence but one", ("", *_COLUMNS), [*rows, *without]))
    return tables


def _format_cells(measures: Measures) -> list[str]:
    surest = [_format_percent(measures.get_accuracy(share)) for share in _SURER]
    shares = [
        _format_percent(share)
        for share in (measures.precision, measures.recall, measures.f1, measures.strict_f1, measures.accuracy)
    ]
    return [*shares, *surest, f"{measures.calibration_error:.3f}"]


def _format_percent(share: float) -> str:
    return f"{100 * share:.1f} %"
