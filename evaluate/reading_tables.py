"""Tables of the report on which words of a folder's files were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from argot.evaluate.reading_suite import LOSSES, FileReading, ReadingReport, WordCounts
from argot.evaluate.reports import Table

_EXAMPLES = 3
_EXAMPLE_CHARS = 60


def build_reading_tables(report: ReadingReport, worst: int) -> list[Table]:
    """Return the shares of each format, what each rule left out, what was lost, and the files with the most losses."""
    tables = [
        _build_shares(report),
        _build_rules(report),
        _build_kinds(report),
        _build_worst(report, worst),
        _list_uncounted(report),
    ]
    return [table for table in (*tables, _build_refusals(report)) if table.rows]


def _build_shares(report: ReadingReport) -> Table:
    rows = []
    for name, files in report.group_by_format().items():
        counts = WordCounts.of(files)
        lost = [_share(counts.lost[teller], counts.held) for teller in LOSSES]
        refused = sum(not one.is_read for one in files)
        kept, left_out = _share(counts.kept, counts.held), _share(counts.left_out.total(), counts.held)
        rows.append([name, str(len(files)), str(refused), f"{counts.held:,}", kept, left_out, *lost])
    columns = ("format", "files", "refused", "words", "kept", "left out by rule")
    return Table(f"Words of {report.name}", (*columns, *(f"lost, {meaning}" for meaning in LOSSES.values())), rows)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else ""


def _build_rules(report: ReadingReport) -> Table:
    formats = report.group_by_format()
    rows = [
        [name, rule, f"{number:,}", _share(number, counts.held)]
        for name, counts in ((name, WordCounts.of(files)) for name, files in formats.items() if name != "all")
        for rule, number in counts.left_out.most_common()
    ]
    return Table("Left out by a rule", ("format", "rule", "words", "share"), rows)


def _build_kinds(report: ReadingReport) -> Table:
    rows = [
        [suffix, kind, *(f"{counts[teller]:,}" for teller in LOSSES)]
        for (suffix, kind), counts in report.count_lost_by_kind().items()
    ]
    return Table("Lost words by kind", ("format", "kind", *LOSSES.values()), rows)


def _build_worst(report: ReadingReport, number: int) -> Table:
    rows = [
        [
            *(one.name, f"{one.ledger.held:,}", f"{one.ledger.lost_words:,}"),
            *(_share(one.ledger.lost_words, one.ledger.held), _describe_lost_kinds(one), _quote_examples(one)),
        ]
        for one in report.list_worst(number)
    ]
    return Table(
        "Files with the greatest share of lost words", ("file", "words", "lost", "share", "in", "such as"), rows
    )


def _describe_lost_kinds(file: FileReading) -> str:
    counts: Counter[str] = Counter()
    for one in file.ledger.lost:
        counts[one.kind] += one.words
    return ", ".join(f"{kind} {number:,}" for kind, number in counts.most_common())


def _quote_examples(file: FileReading) -> str:
    examples: Sequence[str] = [example for one in file.ledger.lost for example in one.examples]
    # A bar would end the cell of a Markdown table.
    return "; ".join(one[:_EXAMPLE_CHARS].replace("|", " ") for one in examples[:_EXAMPLES])


def _list_uncounted(report: ReadingReport) -> Table:
    rows = [[one.name, one.ledger.shortfall] for one in report.files if one.ledger.shortfall]
    return Table("Read, but their words could not all be counted", ("file", "reason"), rows)


def _build_refusals(report: ReadingReport) -> Table:
    rows = [[one.name, one.refusal.replace("|", " ")] for one in report.files if one.refusal]
    return Table("Refused", ("file", "reason"), rows)
