"""Charts of questions by day and of shares, as inline SVG without styles or scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from markupsafe import Markup

from argot.languages.catalogues import format_local_day, format_local_number, translate
from argot.service.usecases.questions.insight import DayCount

MAX_BARS = 92
"""The most days with a bar each; longer periods are shown by week, and then by month."""
TITLES = {"day": "Questions by day", "week": "Questions by week", "month": "Questions by month"}
HIGHEST = {
    "day": "at most %(number)s a day",
    "week": "at most %(number)s a week",
    "month": "at most %(number)s a month",
}
WIDE, GAP, TALL = 10, 2, 60
_RECTANGLE = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"></rect>')


@dataclass(frozen=True, slots=True)
class Bar:
    """A day, a week (named by its first day) or a month, labelled for people."""

    label: str
    questions: int
    unanswered: int


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart; `highest` says how many questions the highest bar stands for."""

    drawing: Markup
    title: str
    first: str
    last: str
    highest: str


def draw_questions(days: Sequence[DayCount], since: str, until: str) -> Chart:
    """Draw the questions of a period, with the unanswered part of each bar marked and described in words."""
    step, bars = _make_bars(days, date.fromisoformat(since), date.fromisoformat(until))
    most = max((bar.questions for bar in bars), default=0)
    drawn = Markup("").join(_draw_bar(place, bar, most or 1) for place, bar in enumerate(bars))
    wide = len(bars) * (WIDE + GAP) - GAP
    label = ", ".join(f"{format_local_day(bar.label)}: {bar.questions}" for bar in bars if bar.questions)
    # Stretched to the page's width, so that a year and a week are equally wide.
    frame = Markup(
        '<svg class="days" role="img" aria-label="{}: {}" viewBox="0 0 {} {}" preserveAspectRatio="none">{}</svg>'
    )
    title, highest = translate(TITLES[step]), translate(HIGHEST[step], number=format_local_number(most))
    drawing = frame.format(title, label or translate("none"), wide, TALL, drawn)
    return Chart(drawing, title, format_local_day(bars[0].label), format_local_day(bars[-1].label), highest)


def draw_share(share: float) -> Markup:
    """Draw a bar as long as the share, from 0 to 1. The number stands beside it as text."""
    return Markup('<svg class="share" aria-hidden="true"><rect width="{:.1f}%" height="100%"></rect></svg>').format(
        100 * min(max(share, 0.0), 1.0)
    )


def _draw_bar(place: int, bar: Bar, most: int) -> Markup:
    # At least one unit high, so that a day without questions still shows as a day.
    high = max(round(bar.questions / most * TALL, 1), 1)
    open_high = round(bar.unanswered / most * TALL, 1)
    label = f"{format_local_day(bar.label)}: {format_local_number(bar.questions)}"
    if bar.unanswered:
        label += ", " + translate("%(number)s without an answer", number=format_local_number(bar.unanswered))
    left = place * (WIDE + GAP)
    whole = _RECTANGLE.format("all" if bar.questions else "none", left, TALL - high, WIDE, high)
    part = _RECTANGLE.format("open", left, TALL - open_high, WIDE, open_high) if bar.unanswered else Markup("")
    return Markup("<g><title>{}</title>{}{}</g>").format(label, whole, part)


def _make_bars(days: Sequence[DayCount], since: date, until: date) -> tuple[str, list[Bar]]:
    length = (until - since).days + 1
    step = "day" if length <= MAX_BARS else "week" if length <= 7 * MAX_BARS else "month"
    counts: dict[str, list[int]] = {}
    day = since
    # Including days without questions, so that gaps show.
    while day <= until:
        counts.setdefault(_label_day(day, step), [0, 0])
        day += timedelta(days=1)
    for one in days:
        found = counts[_label_day(date.fromisoformat(one.day), step)]
        found[0] += one.questions
        found[1] += one.unanswered
    return step, [Bar(label, *numbers) for label, numbers in counts.items()]


def _label_day(day: date, step: str) -> str:
    if step == "month":
        return day.isoformat()[:7]
    return (day - timedelta(days=day.weekday() if step == "week" else 0)).isoformat()
