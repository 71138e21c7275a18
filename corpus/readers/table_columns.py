"""Where the columns of a table part: at upright rules, and where blanks lie below each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from argot.corpus.readers.pdf_lines import LineSpan
from argot.corpus.readers.pdf_rows import merged_spans
from argot.corpus.readers.pdf_rules import Rule, Rules, grouped
from argot.corpus.readers.table_grid import NUMBER_LIKE, Area, TextRow, text_rows

AT_EDGE = 3.0
"""Points from the edge of a table to a rule that is its frame."""
OVER = 2.0
"""Points by which a text may reach into the next column."""
_DIGIT_GAP = 0.4
"""In font sizes."""
_FIGURE = re.compile(r"\d|^[—–-]$")
_NOTE_MARK = re.compile(r"\([a-z]\)")
_SIGN_BEFORE = re.compile(r"[$€£¥]\s?\(?|\(")
_SIGN_AFTER = re.compile(r"\)?\s?%|\)")
_SIGN_LAST = re.compile(r"[\d)%—–-]\s+[$€£¥]$")


def columns_of(spans: Sequence[LineSpan], rules: Rules, area: Area) -> tuple[list[LineSpan], list[float]]:
    """The spans, cut where columns part, and these places."""
    inner = [
        at
        for at, _ in grouped(rules.upright, lambda rule: rule.at, AT_EDGE)
        if area.x0 + AT_EDGE < at < area.x1 - AT_EDGE
    ]
    rows = [_with_units(row) for row in text_rows(_cut_at_rules(spans, rules.upright))]
    separators = _separators(rows, inner)
    # Columns of figures set close to each other are one span, until the other rows tell where they part.
    parts = [part for row in rows for span in row for part in _cut_figures(span, separators)]
    return parts, _with_text_between(separators, parts, area)


def _cut_at_rules(spans: Sequence[LineSpan], upright: Sequence[Rule]) -> list[LineSpan]:
    return [part for span in spans for part in _cut(span, [r.at for r in upright if r.covers(span.middle)])]


def _cut(span: LineSpan, places: Iterable[float]) -> list[LineSpan]:
    parts = [span]
    for x in sorted(places):
        if parts[-1].x0 < x < parts[-1].x1:
            parts[-1:] = parts[-1].cut_at(x)
    return parts


def _cut_figures(span: LineSpan, separators: Sequence[float]) -> list[LineSpan]:
    gaps = _between_figures(span)
    return _cut(span, [x for x in separators if any(left - 1 <= x <= right + 1 for left, right in gaps)])


def _between_figures(span: LineSpan) -> list[tuple[float, float]]:
    """Where a row of figures may part: wider than the blank that groups the digits of one."""
    if not span.spaces or not NUMBER_LIKE.match(span.text):
        return []
    return [
        (end, begin)
        for offset, end, begin in span.spaces
        # A sign is no figure of its own.
        if begin - end > _DIGIT_GAP * span.size
        and _FIGURE.search(span.text[:offset].split()[-1])
        and _FIGURE.search(span.text[offset:].split()[0])
    ]


# -- units -----------------------------------------------------------------------------------------------------------


def _with_units(row: TextRow) -> TextRow:
    """Signs and brackets that stand in columns of their own belong to the figures beside them."""
    joined: TextRow = []
    for span in chain.from_iterable(map(_cut_sign, row)):
        last = joined[-1] if joined else None
        if last is not None and (
            (_SIGN_BEFORE.fullmatch(last.text) and NUMBER_LIKE.match(span.text))
            or (_SIGN_AFTER.fullmatch(span.text) and NUMBER_LIKE.fullmatch(last.text) and not last.text.endswith("%"))
        ):
            joined[-1] = merged_spans(last, span, "")
        # The mark of a note between a name and its figures belongs to the name.
        elif (
            last is not None and len(joined) == 1 and _NOTE_MARK.fullmatch(span.text) and not _FIGURE.search(last.text)
        ):
            joined[-1] = merged_spans(last, span, " ")
        else:
            joined.append(span)
    return joined


def _cut_sign(span: LineSpan) -> list[LineSpan]:
    """`5.0 $` apart, where the sign belongs to the next figure."""
    if span.spaces and _SIGN_LAST.search(span.text):
        return _cut(span, [sum(span.spaces[-1][1:]) / 2])
    return [span]


# -- places ----------------------------------------------------------------------------------------------------------


def _separators(rows: Sequence[TextRow], ruled: Sequence[float]) -> list[float]:
    """Where columns part: at upright rules, and where blanks lie below each other in several rows."""
    gaps = [
        gap
        for row in rows
        for gap in chain(((left.x1, right.x0) for left, right in pairwise(row)), *map(_between_figures, row))
        if not any(gap[0] - OVER <= at <= gap[1] + OVER for at in ruled)
    ]
    least = 2 if len(rows) > 2 else 1
    found = list(ruled)
    for begin, end, support in _stabbed(gaps):
        place = (begin + end) / 2
        crossing = sum(span.x0 < place - 1 and span.x1 > place + 1 for row in rows for span in row)
        if (support >= least and crossing < support) or (not crossing and _parts_columns(place, gaps, rows)):
            found.append(place)
    return sorted(found)


def _parts_columns(place: float, gaps: Sequence[tuple[float, float]], rows: Sequence[TextRow]) -> bool:
    """Whether several rows have text right beside the place on either side, though few of them on both."""
    left = max((end for _, end in gaps if end < place), default=0.0)
    right = min((begin for begin, _ in gaps if begin > place), default=float("inf"))
    before = sum(any(left - 1 <= span.x0 and span.x1 <= place for span in row) for row in rows)
    behind = sum(any(place <= span.x0 and span.x1 <= right + 1 for span in row) for row in rows)
    return before > 1 and behind > 1


def _stabbed(gaps: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float, int]]:
    """The fewest places that meet every gap: what the gaps that a place meets have in common, and how many they are."""
    begin, end, support = 0.0, -1.0, 0
    for left, right in sorted(gaps, key=lambda gap: gap[1]):
        if support and left < end:
            begin, support = max(begin, left), support + 1
            continue
        if support:
            yield begin, end, support
        begin, end, support = left, right, 1
    if support:
        yield begin, end, support


def _with_text_between(separators: Sequence[float], spans: Sequence[LineSpan], area: Area) -> list[float]:
    """Without those that part a column nothing stands in, as between two strokes of one rule."""
    kept: list[float] = []
    for at in separators:
        last = kept[-1] if kept else area.x0 - 10
        if any(last <= (span.x0 + span.x1) / 2 <= at for span in spans):
            kept.append(at)
        elif kept and at - last < 2 * AT_EDGE + 6:
            kept[-1] = (last + at) / 2
        elif kept:
            kept[-1] = at
    while kept and not any((span.x0 + span.x1) / 2 > kept[-1] for span in spans):
        kept.pop()
    return kept
