"""Tables of a calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from argot.evaluate.calibration import Calibration
from argot.evaluate.judge_agreement import Agreement
from argot.evaluate.reports import Table, format_percent
from argot.evaluate.score_distributions import build_people_tables


def build_calibration_tables(found: Sequence[Calibration]) -> list[Table]:
    """Build one table of all calibrations, with the numbers of unjudged answers, and each one's confusion matrix."""
    columns = (
        "judge", "score", "answers", "n", "questions", "agreement", "95 %", "kappa", "95 %", "Spearman", "malformed",
        "server failed", "undecided",
    )  # fmt: skip
    rows = [
        [one.name, score, kind, *_format_cells(agreement), *_format_left_out(one, first=kind == "all")]
        for one in found
        for score, kinds in one.agreements.items()
        for kind, agreement in kinds.items()
    ]
    rows += [
        [one.name, "", "", *[""] * 7, *_format_left_out(one, first=True)]
        for one in found
        if not any(one.agreements.values())
    ]
    tables = [Table("Agreement with people", columns, rows), *_build_measures_table(found), *build_people_tables(found)]
    for one in found:
        for score, kinds in one.agreements.items():
            if "all" in kinds:
                tables.append(_build_confusion_table(one, score, kinds["all"]))
    return tables


def _format_cells(one: Agreement) -> list[str]:
    return [
        str(one.answers),
        str(one.questions),
        format_percent(one.agreement),
        "" if one.agreement95 is None else "{:.1f} to {:.1f}".format(*(100 * x for x in one.agreement95)),
        _format_decimal(one.kappa) + (" (quadratic weights)" if one.weighted else ""),
        "" if one.kappa95 is None else "{:.3f} to {:.3f}".format(*one.kappa95),
        _format_decimal(one.rank_correlation),
    ]


def _format_left_out(one: Calibration, *, first: bool) -> list[str]:
    """Format the numbers of answers left out. They are totals over all kinds, so only the first row has them."""
    return [str(n) if first else "" for n in (one.malformed, one.unavailable, one.undecided)]


def _build_measures_table(found: Sequence[Calibration]) -> Iterator[Table]:
    rows = [
        [one.name, f"{one.threshold:.3f}", str(one.chosen_on) if one.chosen_on else "given", _format_decimal(one.auroc)]
        for one in found
        if one.threshold is not None and one.name != "exact-match"
    ]
    if rows:
        yield Table("Measures used as verdicts", ("measure", "TRUE from", "chosen on answers", "AUROC"), rows)
    people = [
        [score, format_percent(share)] for one in found[:1] for score, share in one.people.items() if share is not None
    ]
    if people:
        yield Table("Agreement among people", ("score", "pairs that agree"), people)


def _build_confusion_table(one: Calibration, score: str, agreement: Agreement) -> Table:
    names = [_format_label(label, agreement) for label in agreement.labels]
    by = f"{one.name}, by {one.model}" if one.model else one.name
    rows = [[name, *map(str, row)] for name, row in zip(names, agreement.confusion, strict=True)]
    return Table(f"People (rows) and {by} (columns): {score}", ("", *names), rows)


def _format_label(label: int, agreement: Agreement) -> str:
    return str(label) if agreement.weighted else ("FALSE", "TRUE")[label]


def _format_decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
