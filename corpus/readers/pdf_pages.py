"""The lines of a PDF page set upright: rotated text is read in its own direction, and watermarks are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from argot.corpus.readers.pdf_annotations import PageAnnotations
from argot.corpus.readers.pdf_columns import order_columns
from argot.corpus.readers.pdf_lines import Line, LineSpan, read_spans
from argot.corpus.readers.pdf_pictures import PagePictures
from argot.corpus.readers.pdf_rows import make_lines
from argot.corpus.readers.pdf_rules import Rule, Rules, find_rules
from argot.corpus.readers.pdf_watermarks import remove_watermarks

_MAX_SLANT_DEGREES = 8
"""Text rotated by less counts as level or upright, since scans are skewed."""
_MIN_TURNED_SHARE = 0.3
"""Share of a page's characters: if as many are rotated, they are a part of it, such as a table, else labels."""
_MIN_TURNED_CHARS = 200
_TURNED_PART_OFFSET_POINTS = 40.0
"""Points from the end of the page to a rotated part: it is read last."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The lines of a page as read.

    `turned`: degrees by which it is set upright, clockwise. `part`: the same for a part below its end.
    """

    lines: list[Line]
    width: float
    height: float
    turned: int = 0
    part: int = 0
    rules: Rules | None = None
    annotations: PageAnnotations = field(default_factory=PageAnnotations)
    pictures: PagePictures = field(default_factory=PagePictures)


def read_page_text(page: Any) -> PageText:
    """Return the lines of a page, which is left upright."""
    spans = read_spans(page)
    lengths = Counter[int]()
    for span in spans:
        lengths[_find_direction(span)] += len(span.text)
    turned = lengths.most_common(1)[0][0] if lengths else 0
    if turned:
        _turn(page, -turned)
        spans = read_spans(page)
    width, height = page.get_size()
    spans = remove_watermarks([span for span in spans if _is_on_page(span, width, height)] or spans, height)
    aside = sorted({_find_direction(span) for span in spans} - {0})
    if not aside:
        return PageText(order_columns(make_lines(spans)), width, height, -turned % 360)
    return _read_turned_parts(page, spans, aside, -turned % 360)


def read_rules(page: Any, text: PageText) -> Rules:
    """Return the rules of a page that was read, with those of the part that stands below its end."""
    rules = find_rules(page)
    if not text.part:
        return rules
    _turn(page, text.part)
    below = find_rules(page)
    _turn(page, -text.part)
    down = text.height + _TURNED_PART_OFFSET_POINTS
    level = (Rule(rule.at + down, rule.start, rule.end) for rule in below.level)
    upright = (Rule(rule.at, rule.start + down, rule.end + down) for rule in below.upright)
    return Rules((*rules.level, *level), (*rules.upright, *upright))


def _read_turned_parts(page: Any, spans: Sequence[LineSpan], aside: Sequence[int], turned: int) -> PageText:
    """Read rotated text again, with the page turned so that it is upright."""
    width, height = page.get_size()
    total = sum(len(span.text) for span in spans)
    below: list[Line] = []
    part = 0
    in_place = [span for span in spans if _find_direction(span) == 0]
    for direction in aside:
        _turn(page, -direction)
        upright = remove_watermarks(
            [span for span in read_spans(page) if _find_direction(span) == 0], page.get_height()
        )
        _turn(page, direction)
        length = sum(len(span.text) for span in upright)
        if not part and length >= max(_MIN_TURNED_SHARE * total, _MIN_TURNED_CHARS):
            part = -direction % 360
            below = [
                _lower_line(line, height + _TURNED_PART_OFFSET_POINTS) for line in order_columns(make_lines(upright))
            ]
            continue
        first = next(number for number, span in enumerate(spans) if _find_direction(span) == direction)
        place = sum(_find_direction(span) == 0 for span in spans[:first])
        in_place[place:place] = [_set_back(span, direction, width, height) for span in upright]
    return PageText([*order_columns(make_lines(in_place)), *below], width, height, turned, part)


def _turn(page: Any, degrees: int) -> None:
    page.set_rotation((page.get_rotation() + degrees) % 360)


def _find_direction(span: LineSpan) -> int:
    """Return the quarter turn in which the text is read; 0 for a slanting one."""
    quarter = round(span.angle / 90) * 90
    return quarter % 360 if abs(span.angle - quarter) <= _MAX_SLANT_DEGREES else 0


def _is_on_page(span: LineSpan, width: float, height: float) -> bool:
    """Return whether any of it is within the edges: text outside the crop box is not shown."""
    return span.x1 > 0 and span.x0 < width and span.y1 > 0 and span.y0 < height


def _lower_line(line: Line, down: float) -> Line:
    return Line(tuple(replace(span, y0=span.y0 + down, y1=span.y1 + down) for span in line.spans))


def _set_back(span: LineSpan, direction: int, width: float, height: float) -> LineSpan:
    """Return a span of the page rotated by `direction` counter-clockwise with its position on the page as read."""
    if direction == 90:
        x0, y0, x1, y1 = width - span.y1, span.x0, width - span.y0, span.x1
    elif direction == 180:
        x0, y0, x1, y1 = width - span.x1, height - span.y1, width - span.x0, height - span.y0
    else:
        x0, y0, x1, y1 = span.y0, height - span.x1, span.y1, height - span.x0
    return replace(span, x0=x0, y0=y0, x1=x1, y1=y1, spaces=(), angle=direction)
