"""Tables of the shared tasks' reports: unknown abbreviations, quizzes, and forms in running text."""

from __future__ import annotations

from collections.abc import Sequence

from argot.evaluate.experiments.abbreviation_suite import AbbreviationRow, AbbreviationsReport
from argot.evaluate.experiments.identification import IdentifyReport
from argot.evaluate.experiments.quiz_suite import ALONE, ARGOT, PLAIN, QuizReport, Score
from argot.evaluate.reports import Table, format_percent

SHOWN_WRONG = 10
"""The number of wrong readings shown for each side; the JSON report has all of them."""


def build_abbreviations_tables(report: AbbreviationsReport) -> list[Table]:
    """Build for each side a table by set and number of abbreviations, and a table of questions with wrong readings."""
    tables = []
    columns = ("questions", "abbreviations", "n", "all found", "recall", "precision", "exact list", "false", "failed")
    for side, rows in report.sides.items():
        name = f"{side} {report.model}".strip() if side == "model" else side
        trials = f"{report.trials} trial{'s' * (report.trials > 1)} from seed {report.seed}"
        tables.append(
            Table(f"Unknown abbreviations, {name}, {trials}", columns, [_format_abbreviation(row) for row in rows])
        )
        # Evenly over the sets: they follow one another, so the first ten would all come from one set.
        if wrong := report.wrong[side]:
            step = max(1, len(wrong) // SHOWN_WRONG)
            body = [
                [one.question.text, ", ".join(one.question.expected), ", ".join(one.found)] for one in wrong[::step]
            ]
            title = f"Read wrongly, {name}: {min(len(body), SHOWN_WRONG)} of {len(wrong)}"
            tables.append(Table(title, ("question", "in the question", "found"), body[:SHOWN_WRONG]))
    return tables


def _format_abbreviation(row: AbbreviationRow) -> list[str]:
    size = "all" if row.size is None else str(row.size)
    shares = [format_percent(share) for share in (row.all_found, row.recall, row.precision, row.exact)]
    return [row.set, size, str(row.questions), *shares, str(row.false_terms), str(row.failed)]


def build_quiz_tables(reports: Sequence[QuizReport]) -> list[Table]:
    """Build for each reader a table by context, with the mean over all questions in its last row."""
    tables = []
    for report in reports:
        ways = [way for way in (ALONE, PLAIN, ARGOT) if way in report.scores]
        rows = []
        for context, count in report.questions.items():
            scores = [_score(report.scores[way][context]) for way in ways]
            rows.append([context or "(none)", str(count), format_percent(report.chance[context]), *scores])
        trials = f"{report.trials} trial{'s' * (report.trials > 1)} from seed {report.seed}"
        tables.append(Table(f"Quiz, {report.reader}, {trials}", ("context", "n", "by guessing", *ways), rows))
    return tables


def build_identify_tables(report: IdentifyReport) -> list[Table]:
    """Build a table for the whole file and one for each half: both classes, and the mean of both as the shared tasks
    compute it.
    """
    tables = []
    columns = ("", "marked", "found", "precision", "recall", "F1")
    for part, measured in report.parts.items():
        rows = [
            [name, str(s.gold), str(s.found), *map(format_percent, (s.precision, s.recall, s.f1))]
            for name, s in measured.by_class.items()
        ]
        rows.append(["macro", "", "", *map(format_percent, (measured.precision, measured.recall, measured.f1))])
        whole = part if part == "all" else f"{part} half"
        tables.append(Table(f"{report.name}, {whole}: {measured.texts} texts", columns, rows))
    return tables


def _score(score: Score) -> str:
    silent = f", {score.unanswered} unanswered" if score.unanswered else ""
    return f"{format_percent(score.mean)} ± {100 * score.deviation:.1f}{silent}"
