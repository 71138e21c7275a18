"""Reports as plain tables: a title, column names and rows of text, for a terminal or a page to lay out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argot.evaluate.abbreviation_suite import AbbreviationRow, AbbreviationsReport
from argot.evaluate.identification import IdentifyReport
from argot.evaluate.measures import DEPTHS, MEASURES, Difference
from argot.evaluate.quiz_suite import ALONE, ARGOT, PLAIN, QuizReport, Score
from argot.evaluate.retrieval_suite import RetrievalReport
from argot.evaluate.sample_suite import KindRow, SamplesReport

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


def retrieval_tables(report: RetrievalReport) -> list[Table]:
    """One row a way of asking: the mean and, for nDCG, its interval; every measure by depth; ways compared in pairs."""
    rows = []
    for way, measured in report.ways.items():
        low, high = measured.interval("ndcg@10")
        means = [f"{measured.mean[name]:.3f}" for name in MEASURES]
        explained = f"{EXPLAINED_WAYS[way]} {report.against}" if way == "against" else EXPLAINED_WAYS[way]
        rows.append([way, explained, *means, f"{low:.3f} to {high:.3f}"])
    if report.gap_closed("ndcg@10") is not None:
        closed = [percent(report.gap_closed(name)) for name in MEASURES]
        rows.append(["gap closed", "(glossary - floor) / (ceiling - floor)", *closed, ""])
    title = f"{report.name}: {report.questions} questions over {report.documents} documents"
    tables = [Table(title, ["way", "", *MEASURES, "nDCG@10, 95 %"], rows)]
    tables += [_by_depth(report), *(changes_table(pair, changes) for pair, changes in report.compared().items())]
    if report.senses is not None:
        chosen = [str(report.senses.questions), str(report.senses.right), percent(report.senses.share)]
        tables.append(Table("Senses", ["questions", "rightly chosen", "share"], [chosen]))
    return tables


def _by_depth(report: RetrievalReport) -> Table:
    rows = [
        [way, what, *(f"{measured.mean[f'{name}@{depth}']:.3f}" for depth in DEPTHS)]
        for way, measured in report.ways.items()
        for name, what in (("ndcg", "nDCG@k"), ("map", "MAP@k"), ("hit", "hit@k, Success@k"), ("recall", "recall@k"))
    ]
    rows += [[way, "MRR", f"{one.mean['mrr']:.3f}", *[""] * (len(DEPTHS) - 1)] for way, one in report.ways.items()]
    return Table("By depth", ["way", "", *(f"k = {depth}" for depth in DEPTHS)], rows)


def changes_table(pair: str, changes: Mapping[str, Difference]) -> Table:
    names = ("ndcg@10", "map@10", "mrr", "hit@1", "hit@3", "hit@10", "recall@10")
    one = changes[names[0]]
    title = f"{pair}: {one.questions} questions, {one.clusters} clusters that share no gold"
    return Table(title, ("", "difference", "95 %"), [[name, *difference_cells(changes[name])] for name in names])


def difference_cells(one: Difference) -> list[str]:
    low, high = one.interval95
    return [f"{one.difference:+.3f}", f"{low:+.3f} to {high:+.3f}"]


def difference_text(one: Difference) -> str:
    """Both in one cell."""
    difference, interval = difference_cells(one)
    return f"{difference} ({interval})"


def samples_tables(report: SamplesReport) -> list[Table]:
    """A table by kind with everything on, and one that compares the ways over all questions."""
    tables = []
    # The first way has everything on; by kind, the others would be ten tables of small numbers.
    for way, rows in list(report.ways.items())[:1]:
        body = [[kind, *_cells(row)] for kind, row in rows.items()]
        tables.append(Table(f"Samples, {report.split} split, {way}", ["kind", *_COLUMNS], body))
    # The first two rows: all questions, and those with jargon.
    body = [[way, kind, *_cells(rows[kind])] for way, rows in report.ways.items() for kind in list(rows)[:2]]
    tables.append(Table("With each stage switched off in turn", ["way", "kind", *_COLUMNS], body))
    return tables


SHOWN_WRONG = 10
"""Wrong readings shown for each side; the JSON report has all of them."""


def abbreviations_tables(report: AbbreviationsReport) -> list[Table]:
    """For each side a table by set and number of abbreviations, and some questions that were read wrongly."""
    tables = []
    columns = ("questions", "abbreviations", "n", "all found", "recall", "precision", "exact list", "false", "failed")
    for side, rows in report.sides.items():
        name = f"{side} {report.model}".strip() if side == "model" else side
        trials = f"{report.trials} trial{'s' * (report.trials > 1)} from seed {report.seed}"
        tables.append(Table(f"Unknown abbreviations, {name}, {trials}", columns, [_abbreviation(row) for row in rows]))
        # Evenly over the sets, which stand one behind the other: the first ten would all be of one set.
        if wrong := report.wrong[side]:
            step = max(1, len(wrong) // SHOWN_WRONG)
            body = [
                [one.question.text, ", ".join(one.question.expected), ", ".join(one.found)] for one in wrong[::step]
            ]
            title = f"Read wrongly, {name}: {min(len(body), SHOWN_WRONG)} of {len(wrong)}"
            tables.append(Table(title, ("question", "stands in it", "found"), body[:SHOWN_WRONG]))
    return tables


def _abbreviation(row: AbbreviationRow) -> list[str]:
    size = "all" if row.size is None else str(row.size)
    shares = [percent(share) for share in (row.all_found, row.recall, row.precision, row.exact)]
    return [row.set, size, str(row.questions), *shares, str(row.false_terms), str(row.failed)]


def quiz_tables(reports: Sequence[QuizReport]) -> list[Table]:
    """For each reader a table by context, and the mean over contexts' questions at its end."""
    tables = []
    for report in reports:
        ways = [way for way in (ALONE, PLAIN, ARGOT) if way in report.scores]
        rows = []
        for context, count in report.questions.items():
            scores = [_score(report.scores[way][context]) for way in ways]
            rows.append([context or "(none)", str(count), percent(report.chance[context]), *scores])
        trials = f"{report.trials} trial{'s' * (report.trials > 1)} from seed {report.seed}"
        tables.append(Table(f"Quiz, {report.reader}, {trials}", ("context", "n", "by guessing", *ways), rows))
    return tables


def identify_tables(report: IdentifyReport) -> list[Table]:
    """A table for the whole file and one for each half: both classes, and their mean as the shared tasks take it."""
    tables = []
    columns = ("", "marked", "found", "precision", "recall", "F1")
    for part, measured in report.parts.items():
        rows = [
            [name, str(s.gold), str(s.found), *map(percent, (s.precision, s.recall, s.f1))]
            for name, s in measured.by_class.items()
        ]
        rows.append(["macro", "", "", *map(percent, (measured.precision, measured.recall, measured.f1))])
        whole = part if part == "all" else f"{part} half"
        tables.append(Table(f"{report.name}, {whole}: {measured.texts} texts", columns, rows))
    return tables


def _score(score: Score) -> str:
    silent = f", {score.unanswered} unanswered" if score.unanswered else ""
    return f"{percent(score.mean)} ± {100 * score.deviation:.1f}{silent}"


_COLUMNS = (
    "n", "as expected", "rightly answered", "answered", "by model", "abstained", "missed", "asked back", "false misses",
    "senses", "options", "hit@1", "hit@3", "hit@10", "nDCG@10",
)  # fmt: skip


def _cells(row: KindRow) -> list[str]:
    statuses = [str(row.statuses.get(name, 0)) for name in ("answered", "abstained", "query_miss", "needs_choice")]
    statuses.insert(1, str(row.by_model))
    retrieval = [f"{row.retrieval[name]:.3f}" if row.retrieval else "" for name in ("hit@1", "hit@3", "hit@10")]
    ndcg = f"{row.retrieval['ndcg@10']:.3f}" if row.retrieval else ""
    shares = [percent(row.expected_outcome), percent(row.rightly_answered)]
    judged = [str(row.false_misses), percent(row.senses_right), percent(row.options_right)]
    return [str(row.questions), *shares, *statuses, *judged, *retrieval, ndcg]


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
