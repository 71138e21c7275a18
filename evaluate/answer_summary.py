"""The summary of the suite `answers`: one table with the figures that matter to users."""

from __future__ import annotations

from collections.abc import Iterator

from argot.evaluate.answer_report import AnswerRow, AnswersReport
from argot.evaluate.answer_units import MAX_BESIDE
from argot.evaluate.reports import Table, format_percent

_Line = tuple[str, str]


def build_summary(report: AnswersReport) -> Table:
    """Build a table with a line for each measure and a column for each profile."""
    columns = {profile: dict(_list_lines(report, profile)) for profile in report.rows}
    labels = dict.fromkeys(label for lines in columns.values() for label in lines)
    rows = [[label, *(lines.get(label, "") for lines in columns.values())] for label in labels]
    return Table(f"{report.name}, {report.questions} questions", ("", *columns), rows)


def _list_lines(report: AnswersReport, profile: str) -> Iterator[_Line]:
    rows = report.rows[profile]
    if rows["answerable"].questions:
        yield from _list_answerable(rows["answerable"])
    if "unanswerable" in rows:
        yield "unanswerable: refused", _format_count(rows["unanswerable"], rows["unanswerable"].outcomes["abstained"])
    if (marks := rows["all"].marks).right:
        lost = marks.marked + marks.withheld
        yield "right sentences of the model marked or withheld", _format_share(lost, marks.right)
    yield from _list_known(report, profile)


def _list_answerable(row: AnswerRow) -> Iterator[_Line]:
    yield "answerable: complete", _format_count(row, row.outcomes["complete"], row.complete_interval)
    clean = f"complete and clean (at most {100 * MAX_BESIDE:.0f} % beside the point)"
    yield clean, _format_count(row, row.complete_and_clean, row.clean_interval)
    yield "partial", _format_count(row, row.outcomes["partial"])
    yield "wrong", _format_count(row, row.outcomes["wrong"])
    yield "refused or asked back", _format_count(row, row.outcomes["abstained"] + row.outcomes["asked back"])
    yield "of complete ones, begin with the answer", format_percent(row.begins_with_answer)
    yield "of an answer's sentences and items, beside the point", format_percent(row.beside)
    if "10" in row.gold_found:
        yield "gold among the first 10", format_percent(row.gold_found["10"])


def _list_known(report: AnswersReport, profile: str) -> Iterator[_Line]:
    """Yield the fate of the right answers and of the lies of a model that knows the answers."""
    losses = report.losses.get(profile, {})
    for loss, count in losses.items():
        yield f"right answers of the model: {loss}", _format_share(count, sum(losses.values()))
    if profile in report.lies:
        accepted, shown = report.lies[profile]["all"]
        yield "false sentences shown as supported", _format_share(shown, accepted)


def _format_count(row: AnswerRow, share: float, interval: tuple[float, float] | None = None) -> str:
    within = "" if interval is None else " ({:.0f} to {:.0f})".format(*(100 * one for one in interval))
    return f"{_format_share(round(share * row.questions), row.questions)}{within}"


def _format_share(count: int, of: int) -> str:
    return f"{count} of {of}, {format_percent(count / of)}" if of else ""
