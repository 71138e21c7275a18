"""Borders between the columns of a table: upright rules, and blanks that lie below each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from argot.corpus.readers.pdf_lines import LineSpan
from argot.corpus.readers.pdf_rows import merge_spans
from argot.corpus.readers.pdf_rules import Rule, Rules, group_by_place
from argot.corpus.readers.table_grid import NUMBER_LIKE, Area, TextRow, make_text_rows

EDGE_POINTS = 3.0
"""Points from the edge of a table to a rule that is its frame."""
OVERHANG_POINTS = 2.0
"""Points by which a text may reach into the next column."""
_DIGIT_GAP_SIZES = 0.4
"""In font sizes."""
_FIGURE = re.compile(r"\d|^[—–-]$")
_NOTE_MARK = re.compile(r"\([a-z]\)")
_SIGN_BEFORE = re.compile(r"[$€£¥]\s?\(?|\(")
_SIGN_AFTER = re.compile(r"\)?\s?%|\)")
_SIGN_LAST = re.compile(r"[\d)%—–-]\s+[$€£¥]$")


def split_columns(spans: Sequence[LineSpan], rules: Rules, area: Area) -> tuple[list[LineSpan], list[float]]:
    """Return the spans, cut where columns separate, and these positions."""
    inner = [
        at
        for at, _ in group_by_place(rules.upright, lambda rule: rule.at, EDGE_POINTS)
        if area.x0 + EDGE_POINTS < at < area.x1 - EDGE_POINTS
    ]
    rows = [_join_units(row) for row in make_text_rows(_cut_at_rules(spans, rules.upright))]
    separators = _find_separators(rows, inner)
    # Columns of figures close to each other are one span, until the other rows show where they separate.
    parts = [part for row in rows for span in row for part in _cut_figures(span, separators)]
    return parts, _select_separators(separators, parts, area)


def _cut_at_rules(spans: Sequence[LineSpan], upright: Sequence[Rule]) -> list[LineSpan]:
    return [part for span in spans for part in _cut_span(span, [r.at for r in upright if r.covers(span.middle)])]


def _cut_span(span: LineSpan, places: Iterable[float]) -> list[LineSpan]:
    parts = [span]
    for x in sorted(places):
        if parts[-1].x0 < x < parts[-1].x1:
            parts[-1:] = parts[-1].cut_at(x)
    return parts


def _cut_figures(span: LineSpan, separators: Sequence[float]) -> list[LineSpan]:
    gaps = _find_figure_gaps(span)
    return _cut_span(span, [x for x in separators if any(left - 1 <= x <= right + 1 for left, right in gaps)])


def _find_figure_gaps(span: LineSpan) -> list[tuple[float, float]]:
    """Return the gaps in a row of figures that are wider than the blank that groups digits."""
    if not span.spaces or not NUMBER_LIKE.match(span.text):
        return []
    return [
        (end, begin)
        for offset, end, begin in span.spaces
        # A sign is no figure of its own.
        if begin - end > _DIGIT_GAP_SIZES * span.size
        and _FIGURE.search(span.text[:offset].split()[-1])
        and _FIGURE.search(span.text[offset:].split()[0])
    ]


# -- units -----------------------------------------------------------------------------------------------------------


def _join_units(row: TextRow) -> TextRow:
    """Join signs and brackets in columns of their own to the figures beside them."""
    joined: TextRow = []
    for span in chain.from_iterable(map(_cut_sign, row)):
        last = joined[-1] if joined else None
        if last is not None and (
            (_SIGN_BEFORE.fullmatch(last.text) and NUMBER_LIKE.match(span.text))
            or (_SIGN_AFTER.fullmatch(span.text) and NUMBER_LIKE.fullmatch(last.text) and not last.text.endswith("%"))
        ):
            joined[-1] = merge_spans(last, span, "")
        # The mark of a note between a name and its figures belongs to the name.
        elif (
            last is not None and len(joined) == 1 and _NOTE_MARK.fullmatch(span.text) and not _FIGURE.search(last.text)
        ):
            joined[-1] = merge_spans(last, span, " ")
        else:
            joined.append(span)
    return joined


def _cut_sign(span: LineSpan) -> list[LineSpan]:
    """Cut `5.0 $` apart where the sign belongs to the next figure."""
    if span.spaces and _SIGN_LAST.search(span.text):
        return _cut_span(span, [sum(span.spaces[-1][1:]) / 2])
    return [span]


# -- places ----------------------------------------------------------------------------------------------------------


def _find_separators(rows: Sequence[TextRow], ruled: Sequence[float]) -> list[float]:
    """Return the positions where columns separate: at vertical rules, and where several rows have a blank."""
    gaps = [
        gap
        for row in rows
        for gap in chain(((left.x1, right.x0) for left, right in pairwise(row)), *map(_find_figure_gaps, row))
        if not any(gap[0] - OVERHANG_POINTS <= at <= gap[1] + OVERHANG_POINTS for at in ruled)
    ]
    least = 2 if len(rows) > 2 else 1
    found = list(ruled)
    for begin, end, support in _find_common_gaps(gaps):
        place = (begin + end) / 2
        crossing = sum(span.x0 < place - 1 and span.x1 > place + 1 for row in rows for span in row)
        if (support >= least and crossing < support) or (not crossing and _is_separator(place, gaps, rows)):
            found.append(place)
    return sorted(found)


def _is_separator(place: float, gaps: Sequence[tuple[float, float]], rows: Sequence[TextRow]) -> bool:
    """Return True where several rows have text right beside the place on either side, though few of them on both."""
    left = max((end for _, end in gaps if end < place), default=0.0)
    right = min((begin for begin, _ in gaps if begin > place), default=float("inf"))
    before = sum(any(left - 1 <= span.x0 and span.x1 <= place for span in row) for row in rows)
    behind = sum(any(place <= span.x0 and span.x1 <= right + 1 for span in row) for row in rows)
    return before > 1 and behind > 1


def _find_common_gaps(gaps: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float, int]]:
    """Yield the fewest places that meet every gap: the common part of the gaps that a place meets, and their number."""
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


def _select_separators(separators: Sequence[float], spans: Sequence[LineSpan], area: Area) -> list[float]:
    """Return the separators without those of an empty column, such as that between two strokes of one rule."""
    kept: list[float] = []
    for at in separators:
        last = kept[-1] if kept else area.x0 - 10
        if any(last <= (span.x0 + span.x1) / 2 <= at for span in spans):
            kept.append(at)
        elif kept and at - last < 2 * EDGE_POINTS + 6:
            kept[-1] = (last + at) / 2
        elif kept:
            kept[-1] = at
    while kept and not any((span.x0 + span.x1) / 2 > kept[-1] for span in spans):
        kept.pop()
    return kept
