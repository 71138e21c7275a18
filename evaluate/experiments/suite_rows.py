"""The rows that a suite of `argot evaluate` measures: the quiz, and the identification of abbreviations."""

from __future__ import annotations

from argot.evaluate.experiments.abbreviation_questions import PAPERS_SET
from argot.evaluate.experiments.abbreviation_suite import evaluate_abbreviations
from argot.evaluate.experiments.quiz_suite import ARGOT, evaluate_quiz
from argot.evaluate.experiments.row_work import Each, RowWork

EACH = 30
"""Questions per template and trial, as many as the paper has abbreviations."""


async def measure_quiz_row(work: RowWork) -> Each:
    """Return each question's share of right trials, in total and by context; that of a benchmark under its name. A
    trial without the model's reply is left out.
    """
    way, trials = (work.row.variant or ARGOT), (1 if work.part.name else work.trials)
    report = await evaluate_quiz(
        work.base, work.part.quiz, work.server, work.seed, trials, work.progress, work.profile, (way,)
    )
    # Without a model, an option is chosen by rules: none chosen is a wrong answer, and no failure.
    work.failed = report.scores[way]["all"].unanswered if work.server else 0
    if work.part.name:
        return {work.make_key(str(n)): {work.part.name: right} for n, right in enumerate(report.each[way], start=1)}
    several = len({one.context for one in work.part.quiz}) > 1
    return {
        str(n): {"total": right, **({one.context: right} if several else {})}
        for n, (one, right) in enumerate(zip(work.part.quiz, report.each[way], strict=True), start=1)
    }


async def measure_abbreviation_row(work: RowWork) -> Each:
    """Return for each question 1 if every abbreviation was found, otherwise 0, under the number of its
    abbreviations. A question without the model's reply is left out.
    """
    side, each = work.row.variant, work.memory.get("limit") or EACH
    identifiers = {side: work.base.make_identifier(work.server if side == "model" else None)}
    report = await evaluate_abbreviations(
        identifiers, work.base.has_word, work.seed, work.trials, each, work.progress, {PAPERS_SET}
    )
    read = report.readings[side]
    work.failed = sum(one.failed for one in read)
    # By their words: the abbreviations are drawn, and another number of them gives another draw.
    return {
        one.question.text: {str(len(one.question.expected)): float(one.all_found)} for one in read if not one.failed
    }
