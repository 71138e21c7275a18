"""Rows of a PDF page: pieces of text side by side become one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from argot.corpus.readers.pdf_lines import Line, LineSpan

# Bullets and numbers of list items, which many programs separate from their text.
_MARKER = re.compile(r"[•●○◦▪■□‣⁃∙·–—\-*o\uf0b7\uf0a7\uf0d8➢➤✓❖]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)]")
_CURRENCY = re.compile(r"[$€£¥(]|\(?[$€£¥]\(?")
_LOOK_FIELDS = ("size", "bold", "mono", "angle", "faint", "artifact")
_MIN_WORDS = 4
_MAX_WORD_GAP = 0.6
"""In font sizes: wider than the space between most words, and narrower than that between most cells."""
_CLOSING_SIGN = re.compile(r"[)%]{1,2}")


def make_lines(spans: Iterable[LineSpan]) -> list[Line]:
    """Return the spans as lines: consecutive spans side by side are one."""
    return [Line(tuple(_join_marks(_merge_words(row)))) for row in _group_rows(spans)]


def _merge_words(row: list[LineSpan]) -> list[LineSpan]:
    """Return the row with its words as phrases, if a program placed each word separately."""
    small = [_is_word_gap(span, after) for span, after in pairwise(row)]
    words = sum(span.text.strip(",.;:()").isalpha() for span in row)
    if len(row) < _MIN_WORDS or words < len(row) / 2 or sum(small) < len(small) / 2:
        return row
    merged = row[:1]
    for span, is_small in zip(row[1:], small, strict=True):
        glue = "" if merged[-1].text[-1] in "([" or span.text[0] in ",.;:)]" else " "
        merged[-1:] = [merge_spans(merged[-1], span, glue)] if is_small else [merged[-1], span]
    return merged


def _is_word_gap(one: LineSpan, other: LineSpan) -> bool:
    """Return whether two pieces are as close as words of one style; figures side by side may be two cells."""
    if other.x0 - one.x1 >= _MAX_WORD_GAP * one.size or (one.text[-1].isdigit() and other.text[0].isdigit()):
        return False
    return all(getattr(one, name) == getattr(other, name) for name in _LOOK_FIELDS)


def _group_rows(spans: Iterable[LineSpan]) -> Iterator[list[LineSpan]]:
    """Group spans that follow each other and stand side by side, left to right."""
    row: list[LineSpan] = []
    for span in spans:
        if row and not (_is_level(row[-1], span) and span.x0 > row[-1].x1 - 1):
            yield row
            row = []
        row.append(span)
    if row:
        yield row


def _is_level(one: LineSpan, other: LineSpan) -> bool:
    """Return True if both are on one line: they overlap by half the smaller one's height."""
    overlap = min(one.y1, other.y1) - max(one.y0, other.y0)
    return overlap > 0.5 * min(one.y1 - one.y0, other.y1 - other.y0) or (
        abs(one.y1 - other.y1) < 0.3 * min(one.size, other.size)
    )


def _join_marks(row: list[LineSpan]) -> Iterator[LineSpan]:
    """Join bullets, currency signs and closing brackets that stand apart to their neighbours."""
    held: LineSpan | None = None
    for index, span in enumerate(row):
        last = index == len(row) - 1
        if held is not None:
            # Two signs side by side are those of two columns, drawn without their figures.
            signs = not any(char.isalnum() for char in held.text + span.text)
            close = _CLOSING_SIGN.fullmatch(span.text) is not None and not signs
            marks = (_CURRENCY.fullmatch(held.text) and not (signs and _CURRENCY.fullmatch(span.text))) or (
                index == 1 and _MARKER.fullmatch(held.text)
            )
            if close or marks:
                glue = "" if close or _CURRENCY.fullmatch(held.text) else " "
                held = merge_spans(held, span, glue)
            else:
                yield held
                held = span
        else:
            held = span
        if last and held is not None:
            yield held


def merge_spans(one: LineSpan, other: LineSpan, glue: str) -> LineSpan:
    wide = one if len(one.text) > len(other.text) else other
    offset = len(one.text) + len(glue)
    between = ((offset, one.x1, other.x0),) if glue else ()
    return replace(
        wide,
        text=f"{one.text}{glue}{other.text}",
        x0=min(one.x0, other.x0),
        y0=min(one.y0, other.y0),
        x1=max(one.x1, other.x1),
        y1=max(one.y1, other.y1),
        raised=(*one.raised, *(place + offset for place in other.raised)),
        spaces=(*one.spaces, *between, *((place + offset, left, right) for place, left, right in other.spaces)),
    )
