"""Reports as plain tables: a title, column names and rows of text, for a terminal or a page to lay out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argot.evaluate.measures import MEASURES, bootstrap_interval
from argot.evaluate.retrieval import RetrievalReport
from argot.evaluate.samples import KindRow, SamplesReport

EXPLAINED_WAYS = {
    "plain": "the questions as they stand, no glossary",
    "glossary": "as they stand, with the glossary",
    "floor": "as they stand, without the glossary",
    "ceiling": "the untouched questions, without the glossary",
}


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def retrieval_tables(report: RetrievalReport) -> list[Table]:
    """One row a way of asking; the mean and, for nDCG, the bootstrap interval."""
    rows = []
    for way, measured in report.ways.items():
        low, high = bootstrap_interval([values["ndcg@10"] for values in measured.by_question.values()])
        means = [f"{measured.mean[name]:.3f}" for name in MEASURES]
        rows.append([way, EXPLAINED_WAYS[way], *means, f"{low:.3f} to {high:.3f}"])
    if report.gap_closed("ndcg@10") is not None:
        closed = [_percent(report.gap_closed(name)) for name in MEASURES]
        rows.append(["gap closed", "(glossary - floor) / (ceiling - floor)", *closed, ""])
    title = f"{report.name}: {report.questions} questions over {report.documents} documents"
    tables = [Table(title, ["way", "", *MEASURES, "nDCG@10, 95 %"], rows)]
    if report.senses is not None:
        chosen = [str(report.senses.questions), str(report.senses.right), _percent(report.senses.share)]
        tables.append(Table("Senses", ["questions", "rightly chosen", "share"], [chosen]))
    return tables


def samples_tables(report: SamplesReport) -> list[Table]:
    """A table by kind with everything on, and one that compares the ways over all questions."""
    tables = []
    for way, rows in list(report.ways.items())[:1]:
        body = [[kind, *_cells(row)] for kind, row in rows.items()]
        tables.append(Table(f"Samples, {report.split} split, {way}", ["kind", *_COLUMNS], body))
    body = [[way, kind, *_cells(rows[kind])] for way, rows in report.ways.items() for kind in list(rows)[:2]]
    tables.append(Table("With each stage switched off in turn", ["way", "kind", *_COLUMNS], body))
    return tables


_COLUMNS = (
    "n", "as expected", "rightly answered", "answered", "abstained", "missed", "asked back", "false misses",
    "senses", "options", "hit@1", "hit@3", "hit@10", "nDCG@10",
)  # fmt: skip


def _cells(row: KindRow) -> list[str]:
    statuses = [str(row.statuses.get(name, 0)) for name in ("answered", "abstained", "query_miss", "needs_choice")]
    retrieval = [f"{row.retrieval[name]:.3f}" if row.retrieval else "" for name in ("hit@1", "hit@3", "hit@10")]
    ndcg = f"{row.retrieval['ndcg@10']:.3f}" if row.retrieval else ""
    shares = [_percent(row.expected_outcome), _percent(row.rightly_answered)]
    judged = [str(row.false_misses), _percent(row.senses_right), _percent(row.options_right)]
    return [str(row.questions), *shares, *statuses, *judged, *retrieval, ndcg]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
