"""Form fields of a PDF page, joined to the labels that are printed beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from argot.corpus.readers.pdf_annotations import FormField, Remark
from argot.corpus.readers.pdf_lines import Line, LineSpan

_MAX_LABEL_GAP_POINTS = 260.0
"""Points from the end of a label to its field."""
_MAX_OPTION_GAP_POINTS = 40.0
_MAX_CHOICE_GAP_POINTS = 12.0
_MAX_DROP_POINTS = 16.0
"""Points from a label down to the field that stands under it."""
_TOUCH_POINTS = 4.0
_EDGE_TOLERANCE_POINTS = 20.0
_WRITING_ROOM = re.compile(r"_{3,}|\.{4,}|…{2,}")
"""Space that a form leaves for writing."""
_TICK = re.compile(r"\[[x ]\]")
_LABEL_END = re.compile(r"[:?=(\]$€£]$")


def join_form_fields(lines: Sequence[Line], fields: Sequence[FormField]) -> tuple[list[Line], list[Remark]]:
    """Return the lines with the values of the fields after their labels, and the fields without a label on the page.

    An empty form stays unchanged.
    """
    if not any(one.is_filled for one in fields):
        return list(lines), []
    rows = [list(line.spans) for line in lines]
    unlabelled: list[Remark] = []
    # Ticks first: a value must not follow the label of a tick.
    for one in sorted(fields, key=lambda one: (one.ticked is None, one.box[1], one.box[0])):
        join = _join_value if one.ticked is None else _join_tick
        is_blank = one.ticked is None and not one.value
        if not is_blank and not join(rows, one):
            unlabelled.append(Remark(_name_field(one), one.box))
    return [Line(tuple(row)) for row in rows], unlabelled


def _name_field(one: FormField) -> str:
    """Return the field with its name in the file, because no label is printed."""
    name = f"{one.name}: {one.option}" if one.option else one.name
    if one.ticked is not None:
        return f"{_write_tick(one)} {name}"
    return f"{name}: {one.value}" if name else one.value


def _write_tick(one: FormField) -> str:
    return "[x]" if one.ticked else "[ ]"


def _join_value(rows: list[list[LineSpan]], one: FormField) -> bool:
    x0, y0, *_ = one.box
    for row in rows:
        for place, span in enumerate(row):
            if _is_level(span, one) and span.x0 < x0 < span.x1 - _TOUCH_POINTS:
                row[place] = _insert_value(span, one)
                return True
    places = [(row, place, span) for row in rows for place, span in enumerate(row)]
    beside = [(x0 - span.x1, row, place) for row, place, span in places if _is_level(span, one)]
    left = [(gap, row, place) for gap, row, place in beside if -_TOUCH_POINTS <= gap <= _choose_max_gap(row[place])]
    if not left:
        left = [
            (y0 - span.y1, row, place)
            for row, place, span in places
            if -_TOUCH_POINTS <= y0 - span.y1 <= _MAX_DROP_POINTS
            and abs(span.x0 - x0) < _EDGE_TOLERANCE_POINTS
            and not _is_choice(span)
        ]
    if not left:
        return False
    _, row, place = min(left, key=lambda one: one[0])
    row[place] = _append_value(row[place], one)
    return True


def _is_choice(span: LineSpan) -> bool:
    """Return whether words are the label of a tick beside them, and ask for no value, as "Other:" does."""
    return bool(_TICK.search(span.text)) and not _LABEL_END.search(_WRITING_ROOM.sub("", span.text).rstrip())


def _choose_max_gap(label: LineSpan) -> float:
    """Return the maximum distance of a field after its label: small after a choice, such as "Other"."""
    return _MAX_CHOICE_GAP_POINTS if _is_choice(label) else _MAX_LABEL_GAP_POINTS


def _join_tick(rows: list[list[LineSpan]], one: FormField) -> bool:
    x0, _, x1, _ = one.box
    level = [(row, place) for row in rows for place, span in enumerate(row) if _is_level(span, one)]
    for row, place in level:
        span = row[place]
        if span.x0 < x0 < span.x1 - _TOUCH_POINTS:
            row[place] = _insert_tick(span, one)
            return True
    right = [(row[place].x0 - x1, row, place) for row, place in level]
    right = [(gap, row, place) for gap, row, place in right if -_TOUCH_POINTS <= gap <= _MAX_OPTION_GAP_POINTS]
    left = [(x0 - row[place].x1, row, place) for row, place in level]
    left = [(gap, row, place) for gap, row, place in left if -_TOUCH_POINTS <= gap <= _MAX_LABEL_GAP_POINTS]
    if right:
        _, row, place = min(right, key=lambda one: one[0])
        # Ticks under each other are a list.
        mark = f"{'' if left or len(row) > 1 else '- '}{_write_tick(one)} "
        row[place] = _put_mark_before(row[place], mark, x0)
    elif left:
        _, row, place = min(left, key=lambda one: one[0])
        row[place] = replace(row[place], text=f"{row[place].text} {_write_tick(one)}", x1=x1)
    return bool(left or right)


def _is_level(span: LineSpan, one: FormField) -> bool:
    _, y0, _, y1 = one.box
    return y0 - 1 <= span.middle <= y1 + 1 or span.y0 <= (y0 + y1) / 2 <= span.y1


def _append_value(span: LineSpan, one: FormField) -> LineSpan:
    label = _WRITING_ROOM.sub("", span.text).rstrip() if _WRITING_ROOM.search(span.text) else span.text
    colon = "" if _LABEL_END.search(label) or _is_value(span) else ":"
    # Its end moves: the next field on the line belongs to the same label.
    return replace(span, text=f"{label}{colon} {one.value}", x1=max(span.x1, one.box[2]), spaces=(), raised=())


def _is_value(span: LineSpan) -> bool:
    """Return whether a value follows the label already, as the day before the month."""
    return ": " in span.text


def _insert_value(span: LineSpan, one: FormField) -> LineSpan:
    """Insert the value into the space that the form leaves for it, else before the word after its field."""
    middle = (one.box[0] + one.box[2]) / 2
    rooms = list(_WRITING_ROOM.finditer(span.text))
    if rooms:
        width = (span.x1 - span.x0) / max(len(span.text), 1)
        room = min(rooms, key=lambda room: abs(span.x0 + width * (room.start() + room.end()) / 2 - middle))
        before, after = span.text[: room.start()].rstrip(), span.text[room.end() :].lstrip()
    else:
        offset = next((offset for offset, _, begin in span.spaces if begin >= middle), len(span.text))
        before, after = span.text[:offset].rstrip(), span.text[offset:]
    return replace(span, text=f"{before} {one.value} {after}".strip(), spaces=(), raised=())


def _put_mark_before(span: LineSpan, mark: str, x0: float) -> LineSpan:
    spaces = tuple((place + len(mark), end, begin) for place, end, begin in span.spaces)
    return replace(span, text=f"{mark}{span.text}", x0=x0, spaces=spaces, raised=())


def _insert_tick(span: LineSpan, one: FormField) -> LineSpan:
    """Insert the tick before the word after its box; the positions of the words move with it."""
    tick = f"{_write_tick(one)} "
    offset = next((offset for offset, _, begin in span.spaces if begin >= one.box[0]), len(span.text))
    text = f"{span.text[:offset].rstrip()} {tick}{span.text[offset:]}".rstrip()
    spaces = tuple((place + len(tick) * (place >= offset), end, begin) for place, end, begin in span.spaces)
    return replace(span, text=text, spaces=spaces, raised=())
