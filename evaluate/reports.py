"""Reports as plain tables (a title, column names and rows of text), which a terminal or a page formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argot.evaluate.retrieval_failures import count_failures
from argot.evaluate.retrieval_suite import RetrievalReport
from argot.evaluate.sample_suite import KindRow, SamplesReport
from argot.measures import DEPTHS, MEASURES, Difference

EXPLAINED_WAYS = {
    "plain": "the questions as they stand, no glossary",
    "glossary": "as they stand, with the glossary",
    "floor": "as they stand, without the glossary",
    "ceiling": "the untouched questions, without the glossary",
    "against": "as the first, with the profile",
}


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def build_retrieval_tables(report: RetrievalReport) -> list[Table]:
    """Build the tables of a retrieval report: the means of each way of asking, for nDCG with the interval; every
    measure by depth; and the paired comparisons of ways.
    """
    rows = []
    for way, measured in report.ways.items():
        low, high = measured.interval("ndcg@10")
        means = [f"{measured.mean[name]:.3f}" for name in MEASURES]
        explained = f"{EXPLAINED_WAYS[way]} {report.against}" if way == "against" else EXPLAINED_WAYS[way]
        rows.append([way, explained, *means, f"{low:.3f} to {high:.3f}"])
    if report.measure_gap_closed("ndcg@10") is not None:
        closed = [format_percent(report.measure_gap_closed(name)) for name in MEASURES]
        rows.append(["gap closed", "(glossary - floor) / (ceiling - floor)", *closed, ""])
    title = f"{report.name}: {report.questions} questions over {report.documents} documents"
    tables = [Table(title, ["way", "", *MEASURES, "nDCG@10, 95 %"], rows)]
    tables += [
        _build_depth_table(report),
        *(build_changes_table(pair, changes) for pair, changes in report.compare_ways().items()),
    ]
    failed = count_failures(report.failures)
    columns = ["questions", "no gold among the first ten", "gold among them, but not first"]
    tables.append(Table("Failures", columns, [[str(n) for n in (report.questions, *failed.values())]]))
    if report.senses is not None:
        chosen = [str(report.senses.questions), str(report.senses.right), format_percent(report.senses.share)]
        tables.append(Table("Senses", ["questions", "rightly chosen", "share"], [chosen]))
    return tables


def _build_depth_table(report: RetrievalReport) -> Table:
    rows = [
        [way, what, *(f"{measured.mean[f'{name}@{depth}']:.3f}" for depth in DEPTHS)]
        for way, measured in report.ways.items()
        for name, what in (("ndcg", "nDCG@k"), ("map", "MAP@k"), ("hit", "hit@k, Success@k"), ("recall", "recall@k"))
    ]
    rows += [[way, "MRR", f"{one.mean['mrr']:.3f}", *[""] * (len(DEPTHS) - 1)] for way, one in report.ways.items()]
    return Table("By depth", ["way", "", *(f"k = {depth}" for depth in DEPTHS)], rows)


def build_changes_table(pair: str, changes: Mapping[str, Difference]) -> Table:
    names = ("ndcg@10", "map@10", "mrr", "hit@1", "hit@3", "hit@10", "recall@10")
    one = changes[names[0]]
    title = f"{pair}: {one.questions} questions, {one.clusters} clusters that share no gold"
    return Table(title, ("", "difference", "95 %"), [[name, *format_difference_cells(changes[name])] for name in names])


def format_difference_cells(one: Difference) -> list[str]:
    low, high = one.interval95
    return [f"{one.difference:+.3f}", f"{low:+.3f} to {high:+.3f}"]


def format_difference(one: Difference) -> str:
    """Format a difference and its interval in one cell."""
    difference, interval = format_difference_cells(one)
    return f"{difference} ({interval})"


def build_samples_tables(report: SamplesReport) -> list[Table]:
    """Build one table by kind of question with every stage on, and one that compares the ways over all questions."""
    tables = []
    # In the first way every stage is on. The others by kind would be ten tables of small numbers.
    for way, rows in list(report.ways.items())[:1]:
        body = [[kind, *_format_cells(row)] for kind, row in rows.items()]
        tables.append(Table(f"Samples, {report.split} split, {way}", ["kind", *_COLUMNS], body))
    # The first two rows are those of all questions and of questions with jargon.
    body = [[way, kind, *_format_cells(rows[kind])] for way, rows in report.ways.items() for kind in list(rows)[:2]]
    tables.append(Table("With each stage switched off in turn", ["way", "kind", *_COLUMNS], body))
    return tables


_COLUMNS = (
    "n", "as expected", "rightly answered", "answered", "by model", "abstained", "missed", "asked back", "false misses",
    "senses", "options", "hit@1", "hit@3", "hit@10", "nDCG@10",
)  # fmt: skip


def _format_cells(row: KindRow) -> list[str]:
    statuses = [str(row.statuses.get(name, 0)) for name in ("answered", "abstained", "query_miss", "needs_choice")]
    statuses.insert(1, str(row.by_model))
    retrieval = [f"{row.retrieval[name]:.3f}" if row.retrieval else "" for name in ("hit@1", "hit@3", "hit@10")]
    ndcg = f"{row.retrieval['ndcg@10']:.3f}" if row.retrieval else ""
    shares = [format_percent(row.expected_outcome), format_percent(row.rightly_answered)]
    judged = [str(row.false_misses), format_percent(row.senses_right), format_percent(row.options_right)]
    return [str(row.questions), *shares, *statuses, *judged, *retrieval, ndcg]


def format_percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
