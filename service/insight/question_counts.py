"""Counts of a period's questions, added up by the database over an index that holds every column it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from argot.databases import Connection, Dialect
from argot.service.insight.insight_results import (
    DayCount,
    ModelUse,
    OutcomeName,
    OutcomeShare,
    QuestionCounts,
    ThumbReason,
    Thumbs,
    Wait,
)
from argot.service.threads.question_log import FAILED, UNANSWERED, WEAK

MAX_REASONS = 50

OUTCOMES: Mapping[str, OutcomeName] = {
    "answered": "answered",
    WEAK: "unsure",
    "judged": "judged wrong",
    **dict.fromkeys(UNANSWERED, "unanswered"),
    "needs_choice": "asked back",
    "small_talk": "small talk",
    **dict.fromkeys(FAILED, "failed"),
}
_SUMS = """
SELECT day, surface, status, count(*), sum(asked_back), sum(calls), sum(failed_calls), sum(sent), sum(received)
FROM asked WHERE day BETWEEN :since AND :until GROUP BY day, surface, status ORDER BY day, surface, status
"""
# The times of replies to greetings, and of failures, are not those of answers. Two columns of floats: ranking them in
# SQLite takes four times as long.
_WAITS = """
SELECT first_word, seconds FROM asked
WHERE day BETWEEN :since AND :until AND status IN ('answered', 'weak', 'abstained', 'query_miss')
"""
# The index of days leads to them: few answers are judged.
_JUDGED = """
SELECT status, count(*) FROM asked WHERE day BETWEEN :since AND :until AND status IN ('answered', 'weak') AND EXISTS (
    SELECT 1 FROM feedback WHERE feedback.thread = asked.thread AND feedback.turn = asked.turn AND value < 0
) GROUP BY status
"""
_THUMBS = "SELECT value, count(*) FROM feedback WHERE value != 0 AND at >= :since AND at < :after GROUP BY value"
_REASONS = """
SELECT value, comment, coalesce({question}, ''), at FROM feedback
WHERE value != 0 AND shared = 1 AND at >= :since AND at < :after ORDER BY at DESC LIMIT :most
"""


def count_questions(connection: Connection, since: str, until: str) -> QuestionCounts:
    """Count the questions from one day to the other, both included."""
    period = {"since": since, "until": until}
    rows = connection.execute(_SUMS, period).fetchall()
    total = sum(row[3] for row in rows)
    outcomes: Counter[OutcomeName] = Counter()
    for row in rows:
        outcomes[OUTCOMES.get(row[2], "failed")] += row[3]
    # What somebody judged wrong was no answer to them.
    for status, number in connection.execute(_JUDGED, period).fetchall():
        outcomes[OUTCOMES[status]] -= number
        outcomes["judged wrong"] += number
    first_word, whole_answer = _measure_waits(connection, period)
    return QuestionCounts(
        questions=total,
        days=_count_days(rows),
        surfaces=dict(_count_surfaces(rows).most_common()),
        outcomes=[
            OutcomeShare(name, outcomes[name], outcomes[name] / total if total else 0.0)
            for name in dict.fromkeys(OUTCOMES.values())
        ],
        asked_back=sum(row[4] for row in rows),
        first_word=first_word,
        whole_answer=whole_answer,
        model=ModelUse(*(sum(row[place] for row in rows) for place in range(5, 9))),
    )


def count_thumbs(connection: Connection, dialect: Dialect, since: str, after: str, *, in_words: bool) -> Thumbs:
    """Return the thumbs from `since` on and before the day `after`; reasons only if they are to be shown."""
    period: dict[str, Any] = {"since": since, "after": after, "most": MAX_REASONS}
    counts = dict(connection.execute(_THUMBS, period).fetchall())
    query = _REASONS.format(question=dialect.member("nullif(trace, '')", "question"))
    reasons = [ThumbReason(*row) for row in connection.execute(query, period)] if in_words else []
    return Thumbs(counts.get(1, 0), counts.get(-1, 0), reasons)


def find_first_day(connection: Connection) -> str:
    """Return the day of the first question that was recorded; empty: none was."""
    return str(connection.execute("SELECT min(day) FROM asked").fetchone()[0] or "")


def _count_days(rows: Iterable[Any]) -> list[DayCount]:
    by_day: dict[str, list[Any]] = {}
    for row in rows:
        by_day.setdefault(row[0], []).append(row)
    return [
        DayCount(
            day,
            sum(row[3] for row in some),
            sum(row[3] for row in some if row[2] in UNANSWERED),
            dict(_count_surfaces(some).most_common()),
        )
        for day, some in by_day.items()
    ]


def _count_surfaces(rows: Iterable[Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row[1]] += row[3]
    return counts


def _measure_waits(connection: Connection, period: Mapping[str, str]) -> tuple[Wait, Wait]:
    """Return the waits for the first word, and for the end."""
    import numpy

    rows = numpy.array(connection.execute(_WAITS, period).fetchall(), float).reshape(-1, 2)
    waits = []
    for column in rows.T:
        # None, which is NaN here, if there was no word.
        measured = column[~numpy.isnan(column)]
        # By nearest rank, so that each is an actual wait.
        ranked = numpy.percentile(measured, (50, 95), method="inverted_cdf").tolist() if measured.size else (None, None)
        waits.append(Wait(*ranked))
    return waits[0], waits[1]
