"""Tables of the report on tables in PDFs."""

from __future__ import annotations

from argot.evaluate.experiments.table_suite import ReaderScore, TablesReport
from argot.evaluate.reports import Table

_COLUMNS = (
    "reader", "documents", "relations", "precision", "recall", "F1", "precision by document", "recall by document",
    "F1 by document",
)  # fmt: skip


def build_tables_tables(report: TablesReport) -> list[Table]:
    """Build one table for each half and one for both, with a row for each reader, and one of the F1 of each
    document.
    """
    halves = list(dict.fromkeys(half for scores in report.scores.values() for half in scores))
    tables = []
    for half in halves:
        whole = half if half == "all" else f"{half} half"
        rows = [[reader, *_format_cells(scores[half])] for reader, scores in report.scores.items()]
        tables.append(Table(f"Tables of {report.name}, {whole}: cell adjacency", _COLUMNS, rows))
    readers = list(report.by_document)
    documents = report.by_document[readers[0]]
    rows = [[name, *(f"{report.by_document[reader][name].f1:.3f}" for reader in readers)] for name in documents]
    tables.append(Table("F1 of each document", ("document", *readers), rows))
    rows = [[reader, f"{seconds:.1f}"] for reader, seconds in report.seconds.items()]
    return [*tables, Table("Seconds", ("reader", "all documents"), rows)]


def _format_cells(score: ReaderScore) -> list[str]:
    one = score.pooled
    means = (one.precision, one.recall, one.f1, score.mean_precision, score.mean_recall, score.mean_f1)
    return [str(score.documents), str(one.gold), *(f"{mean:.3f}" for mean in means)]
