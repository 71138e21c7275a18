"""The tables of the suite `answers`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from argot.evaluate.answer_judging import JudgeReport
from argot.evaluate.answer_measures import OUTCOMES
from argot.evaluate.answer_report import AnswerRow, AnswersReport
from argot.evaluate.answer_summary import build_summary
from argot.evaluate.judging import SCORES
from argot.evaluate.reference_precision import PrecisionAt
from argot.evaluate.reports import Table, format_difference_cells, format_percent
from argot.evaluate.score_distributions import build_distribution_tables
from argot.measures import Difference

_COLUMNS = (
    "n", *OUTCOMES, "complete and clean", "begins with it", "beside the point", "right citation first", "sentence F1",
    "gold in 1", "3", "5", "10",
)  # fmt: skip
_LIKENESS = ("n", "exact match", "ROUGE-1", "ROUGE-L", "BERTScore P", "R", "F1")


def build_answers_tables(report: AnswersReport) -> list[Table]:
    """Build the summary; for each profile a table by kind, one of similarity to the reference, and one of retrieval by
    correctness; then tables of abstention, comparisons of profiles, judges' verdicts, and false sentences.
    """
    tables = [build_summary(report)]
    tables += [
        Table(
            f"{report.name}, profile {name}",
            ("kind", *_COLUMNS),
            [[kind, *_format_cells(row)] for kind, row in rows.items()],
        )
        for name, rows in report.rows.items()
    ]
    tables += _build_likeness_tables(report)
    columns = list(next(iter(report.abstention.values()), {}))
    # The AUROC is not a share; the others are, as in the table above.
    body = [
        [name, *((_format_decimal if one == "auroc" else format_percent)(row[one]) for one in columns)]
        for name, row in report.abstention.items()
    ]
    tables.append(Table("Abstention, by the best passage's score", ("profile", *columns), body))
    tables += _build_retrieval_tables(report)
    tables += [_build_comparison(pair, changes) for pair, changes in report.compared.items()]
    tables += [table for one in report.judges for table in build_judge_tables(one)]
    tables += _build_matching_tables(report)
    for profile, lies in report.lies.items():
        body = [[kind, str(accepted), str(shown)] for kind, (accepted, shown) in lies.items()]
        tables.append(Table(f"False sentences, profile {profile}", ("changed", "told", "shown as supported"), body))
    return tables


def _format_cells(row: AnswerRow) -> list[str]:
    found = [format_percent(row.gold_found.get(depth)) for depth in ("1", "3", "5", "10")]
    shares = [format_percent(row.outcomes[what]) for what in OUTCOMES]
    clean = [row.complete_and_clean, row.begins_with_answer, row.beside, row.right_citation_first]
    return [str(row.questions), *shares, *map(format_percent, clean), _format_decimal(row.sentence_f1), *found]


def _build_likeness_tables(report: AnswersReport) -> Iterator[Table]:
    """Yield the tables of similarity to the reference, only for the kinds that have references."""
    for name, rows in report.rows.items():
        body = [
            [kind, str(row.questions), format_percent(row.exact_match), *map(_format_decimal, _list_likeness(row))]
            for kind, row in rows.items()
            if row.rouge_l is not None
        ]
        if body:
            title = f"Likeness to the reference, profile {name} (BERTScore: local model, not rescaled)"
            yield Table(title, ("kind", *_LIKENESS), body)


def _list_likeness(row: AnswerRow) -> tuple[float | None, ...]:
    return row.rouge_1, row.rouge_l, row.bert_precision, row.bert_recall, row.bert_f1


def _build_retrieval_tables(report: AnswersReport) -> Iterator[Table]:
    for name, tasks in report.chunks.items():
        body = [
            [
                task,
                str(row.questions),
                format_percent(row.accuracy),
                format_percent(row.cp_ccr),
                format_percent(row.ip_ccr),
            ]
            for task, row in tasks.items()
        ]
        if body:
            title = f"Gold retrieved, for right and wrong answers apart (RAIDD table 3), profile {name}"
            right = f"right ({report.right_by})"
            yield Table(title, ("task", "n", right, "CP-CCR", "IP-CCR"), body)
    for name, found in report.references.items():
        title = f"Cited passages that hold gold, by the citation's least score, profile {name}"
        yield Table(title, ("threshold", "precision", "sentences cited"), build_precision_rows(found))


def build_precision_rows(found: Sequence[PrecisionAt]) -> list[list[str]]:
    """Return a row for each threshold at which any reference is kept."""
    return [[f"{at.threshold:.1f}", _format_decimal(at.precision), format_percent(at.kept)] for at in found if at.kept]


def _build_comparison(pair: str, changes: dict[str, Difference]) -> Table:
    body = [
        [
            what,
            str(one.questions),
            f"{100 * one.difference:+.1f}",
            "{:+.1f} to {:+.1f}".format(*(100 * x for x in one.interval95)),
        ]
        for what, one in changes.items()
        if one.questions
    ]
    return Table(f"{pair}, percentage points", ("", "n", "difference", "95 %"), body)


def build_judge_tables(report: JudgeReport) -> Iterator[Table]:
    """Yield the tables of one judge: its verdicts on each profile, and the comparison of each profile with the
    first.
    """
    scores = SCORES[report.judge]
    by = f", by {report.model}" if report.model else ""
    body = []
    for profile, row in report.rows.items():
        counts = [str(n) for n in (row.questions, row.judged, row.malformed, row.unavailable)]
        values = [cell for score in scores for cell in _format_interval(row.mean.get(score), row.interval95.get(score))]
        body.append([profile, *counts, *values])
    columns = ("profile", "n", "judged", "malformed", "server failed", *_format_matching(scores))
    yield Table(f"Judge {report.judge}{by}", columns, body)
    yield from build_distribution_tables(report)
    for pair, changes in report.compared.items():
        rows = [
            [score, str(one.questions), *format_difference_cells(one)]
            for score, one in changes.items()
            if one.questions
        ]
        if rows:
            yield Table(f"Judge {report.judge}, {pair}", ("", "n", "difference", "95 %"), rows)


def _build_matching_tables(report: AnswersReport) -> Iterator[Table]:
    for name, found in report.matching.items():
        rows = [
            [way, _format_decimal(one.precision), f"{one.segments:.2f}", format_percent(one.sentences_matched)]
            for way, one in (("Argot", found.ours), ("model", found.model))
            if one is not None
        ]
        counts = f"{found.answers} answers, {found.malformed} malformed, {found.unavailable} failed"
        same = f"{format_percent(found.same)} the same"
        title = f"References matched by us and by the model, profile {name}: {counts}, {same}"
        yield Table(title, ("", "precision", "segments per answer", "sentences matched"), rows)


def _format_matching(scores: Sequence[str]) -> list[str]:
    return [column for score in scores for column in (score, "95 %")]


def _format_interval(mean: float | None, interval: tuple[float, float] | None) -> list[str]:
    return [_format_decimal(mean), "{:.3f} to {:.3f}".format(*interval) if interval else ""]


def _format_decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
