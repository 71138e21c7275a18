"""Watermarks: big, pale or slanting words behind the text of a page, which are not part of its content."""

from __future__ import annotations

from collections.abc import Sequence

from argot.corpus.readers.pdf_lines import Line, LineSpan, measure_body_size

_MIN_SLANT_DEGREES = 12
_MIN_SLANTING_RATIO = 1.4
"""Larger than the body, in font sizes: slanting words of that size are a watermark's; those of a chart are smaller."""
_MIN_LEVEL_RATIO = 1.7
_MAX_CHARS = 60
_MARGIN_SHARE = 0.12
"""Share of the page's height: a mark of the file within it is a header or a footer, further inside a watermark."""
_MIN_COVERED_SPANS = 2
"""Pieces of text that lie over a level watermark."""


def remove_watermarks(spans: Sequence[LineSpan], height: float) -> list[LineSpan]:
    """Return the spans of a page without those of watermarks; all, if there is no other text."""
    doubtful = [span for span in spans if span.artifact or span.faint or _is_slanting(span)]
    if not doubtful:
        return list(spans)
    plain = [span for span in spans if not _is_slanting(span)]
    body = measure_body_size([Line((span,)) for span in plain])
    watermarks = {id(span) for span in doubtful if _is_watermark(span, plain, body, height)}
    return [span for span in spans if id(span) not in watermarks] or list(spans)


def _is_watermark(span: LineSpan, others: Sequence[LineSpan], body: float, height: float) -> bool:
    if span.artifact and _MARGIN_SHARE * height < span.middle < (1 - _MARGIN_SHARE) * height:
        return True
    if len(span.text) > _MAX_CHARS:
        return False
    if _is_slanting(span):
        return bool(others) and (span.size >= _MIN_SLANTING_RATIO * body)
    return span.faint and span.size >= _MIN_LEVEL_RATIO * body and _count_covered(span, others) >= _MIN_COVERED_SPANS


def _is_slanting(span: LineSpan) -> bool:
    return _MIN_SLANT_DEGREES < span.angle % 90 < 90 - _MIN_SLANT_DEGREES


def _count_covered(span: LineSpan, others: Sequence[LineSpan]) -> int:
    """Return how many smaller pieces of text stand where it does."""
    return sum(
        other.size < span.size
        and min(span.x1, other.x1) > max(span.x0, other.x0)
        and span.y0 <= other.middle <= span.y1
        for other in others
    )
