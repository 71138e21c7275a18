"""Counts of the scores and ranks that judges gave, and of the answers of one profile that beat another's (*Trustworthy
Answers*, figures 6 and 7, table 11); and how much more often people gave each score than a judge (figure 8).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from argot.evaluate.answer_judging import JudgeReport
from argot.evaluate.calibration import Calibration
from argot.evaluate.judging import ASPECTS
from argot.evaluate.reports import Table

RANKS, SCALE = (1, 2, 3, 4), (1, 2, 3, 4, 5)
LOWER_IS_BETTER = "rank"


def build_distribution_tables(report: JudgeReport) -> Iterator[Table]:
    """Yield the counts of each score, and the wins, ties and losses, of a judge that gives ranks or aspects."""
    scores = [LOWER_IS_BETTER] if report.judge == "ranking" else list(ASPECTS) if report.judge == "aspects" else []
    if not scores or not any(row.judged for row in report.rows.values()):
        return
    values = RANKS if report.judge == "ranking" else SCALE
    body = [
        [score, profile, *(str(_count(report, profile, score)[value]) for value in values)]
        for score in scores
        for profile in report.rows
    ]
    what = "rank" if report.judge == "ranking" else "score"
    yield Table(f"How often the judge gave each {what}", ("", "profile", *map(str, values)), body)
    pairs = [
        [score, f"{second} against {first}", *_compare(report, first, second, score)]
        for score in scores
        for first, second in combinations(report.rows, 2)
    ]
    if pairs:
        yield Table("Wins, ties and losses", ("", "pair", "win", "tie", "loss"), pairs)


def _read_scores(report: JudgeReport, profile: str, score: str) -> dict[str, int]:
    own = [one for one in report.each if one["profile"] == profile]
    return {one["id"]: round(one["scores"][score]) for one in own if one["scores"]}


def _count(report: JudgeReport, profile: str, score: str) -> Counter[int]:
    return Counter(_read_scores(report, profile, score).values())


def _compare(report: JudgeReport, first: str, second: str, score: str) -> list[str]:
    one, other = _read_scores(report, first, score), _read_scores(report, second, score)
    sign = -1 if score == LOWER_IS_BETTER else 1
    gains = [sign * (other[id_] - one[id_]) for id_ in other if id_ in one]
    counts = (sum(gain > 0 for gain in gains), sum(gain == 0 for gain in gains), sum(gain < 0 for gain in gains))
    return [f"{count} ({100 * count / len(gains):.0f} %)" if gains else "-" for count in counts]


def build_people_tables(found: Sequence[Calibration]) -> Iterator[Table]:
    """Yield, of judges that give scores from 1 to 5, how much more often people gave each one, in percentage points of
    all answers; and the means of both (figure 8, table 6).
    """
    for one in found:
        rows = []
        for score, kinds in one.agreements.items():
            for kind, agreement in kinds.items():
                if agreement.weighted:
                    rows.append([score, kind, *_format_tendencies(agreement.labels, agreement.confusion)])
        if rows:
            columns = ("score", "answers", *map(str, SCALE), "mean, people", "mean, judge")
            yield Table(f"People minus {one.name}: how often each score was given, in percentage points", columns, rows)


def _format_tendencies(labels: Sequence[int], confusion: Sequence[Sequence[int]]) -> list[str]:
    people = [sum(row) for row in confusion]
    judge = [sum(row[place] for row in confusion) for place in range(len(labels))]
    total = sum(people)
    cells = [f"{100 * (mine - theirs) / total:+.1f}" for mine, theirs in zip(people, judge, strict=True)]
    means = [sum(label * n for label, n in zip(labels, side, strict=True)) / total for side in (people, judge)]
    return [*cells, *(f"{mean:.2f}" for mean in means)]
