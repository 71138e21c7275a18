"""Tables on a page: inside crossing rules, or where rows of text align."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from argot.corpus.readers.pdf_lines import Line, LineSpan, measure_line_step
from argot.corpus.readers.pdf_rules import Rule, Rules
from argot.corpus.readers.table_cells import find_grid_cells
from argot.corpus.readers.table_grid import NUMBER_LIKE, YEAR, Area, GridCell, TextRow, make_text_rows
from argot.corpus.readers.table_lines import CONTINUED_LINE, HALF_LINE_SIZES

_MAX_RULES = 600
"""Maximum of one page, in each direction: more is a drawing."""
_TOUCH_POINTS = 3.0
_MIN_CELLS = 4
_MAX_ORDER_GAP_LINES = 15
"""Lines between two cells of one row, in the order of the page: those of its other column are further apart."""
_MIN_PROSE_CHARS = 90
"""Characters from which a line is prose and no cell."""
_TYPED_RULE = re.compile(r"[-_=—–]{5,}")
_LEADING_SIZES = 1.45
"""From line to line of one text, in font sizes."""
_CAPTION = re.compile(r"(?:table|exhibit|figure|fig\.|tab\.)\s*[A-Z]?-?[\dIVX]", re.IGNORECASE)
_NOTE = re.compile(r"\(?(?:[a-z\d]|\*{1,3}|[†‡§])\)?")
_MAX_SHORT_NOTE_CHARS = 30
_MIN_PROSE_LINES = 3
_MIN_PROSE_WIDTH_POINTS = 150.0
_MIN_NARROW_PROSE_POINTS = 110.0


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table, its position in points from the top left corner, and its spans, by line and by position."""

    cells: Sequence[GridCell]
    area: Area
    spans: frozenset[tuple[int, int]]
    bold_head: bool = False
    """True where its first row is set in bold."""


def find_page_tables(lines: Sequence[Line], rules: Rules) -> list[PageTable]:
    """Return the tables of a page, those with crossing rules first. No span belongs to two of them."""
    place = {id(span): (number, index) for number, line in enumerate(lines) for index, span in enumerate(line.spans)}
    spans = [span for line in lines for span in line.spans if not _TYPED_RULE.fullmatch(span.text)]
    typed = [span for line in lines for span in line.spans if _TYPED_RULE.fullmatch(span.text)]
    rules = Rules((*rules.level, *(Rule(span.middle, span.x0, span.x1) for span in typed)), rules.upright)
    found: list[PageTable] = []

    def add(inside: Sequence[LineSpan], rules: Rules, area: Area) -> None:
        cells = find_grid_cells(inside, rules, area) if inside else []
        if _is_grid(cells):
            held = [*inside, *(span for span in typed if area.holds(span.x0, span.middle))]
            bold = all(span.bold for span in make_text_rows(inside)[0])
            found.append(PageTable(cells, area, frozenset(place[id(span)] for span in held), bold))

    for frame in _find_framed_areas(rules):
        area = _extend_open_rows(frame, spans, rules.level)
        inside = [span for span in spans if area.holds((span.x0 + span.x1) / 2, span.middle)]
        add(inside, _filter_grid_rules(_select_rules(rules, area), area), area)
        spans = _remove_spans(spans, found[-1:], place)
    line_of = {id(span): place[id(span)][0] for span in spans}
    for rows in _find_aligned_rows(spans, line_of, _find_prose(lines), rules.level, measure_line_step(lines)):
        inside = [span for row in rows for span in row]
        area = _measure_area(inside)
        add(inside, _select_rules(rules, area), area)
    return found


def _is_grid(cells: Sequence[GridCell]) -> bool:
    """Return True for a table; False for a framed paragraph or picture, and a chart with text across its columns."""
    wide = sum(cell.last_row > cell.row and cell.last_column > cell.column and cell.row > 0 for cell in cells)
    wide += any(c.last_row > c.row + 2 and c.last_column > c.column for c in cells if c.row == 0)
    rows, columns = {cell.row for cell in cells}, {cell.column for cell in cells}
    return len(cells) >= _MIN_CELLS and len(rows) > 1 and len(columns) > 1 and not wide


def _remove_spans(
    spans: Sequence[LineSpan], tables: Sequence[PageTable], place: Mapping[int, tuple[int, int]]
) -> list[LineSpan]:
    return [span for span in spans if not any(place[id(span)] in table.spans for table in tables)]


def _select_rules(rules: Rules, area: Area) -> Rules:
    level = [r for r in rules.level if area.y0 - 3 <= r.at <= area.y1 + 3 and r.start < area.x1 and r.end > area.x0]
    upright = [r for r in rules.upright if area.x0 - 3 <= r.at <= area.x1 + 3 and r.start < area.y1 and r.end > area.y0]
    return Rules(tuple(level), tuple(upright))


def _filter_grid_rules(rules: Rules, area: Area) -> Rules:
    """Return the rules that end at other rules, as in a grid; edges of patches behind single lines do not."""
    xs = [area.x0, area.x1, *(rule.at for rule in rules.upright)]
    ys = [area.y0, area.y1, *(rule.at for rule in rules.level)]
    return Rules(
        tuple(rule for rule in rules.level if _is_ended_at(rule, xs)),
        tuple(rule for rule in rules.upright if _is_ended_at(rule, ys)),
    )


def _is_ended_at(rule: Rule, places: Sequence[float]) -> bool:
    return all(any(abs(end - place) <= _TOUCH_POINTS for place in places) for end in (rule.start, rule.end))


def _measure_area(spans: Sequence[LineSpan]) -> Area:
    return Area(min(s.x0 for s in spans), min(s.y0 for s in spans), max(s.x1 for s in spans), max(s.y1 for s in spans))


# -- with crossing rules --------------------------------------------------------------------------------------------


def _find_framed_areas(rules: Rules) -> Iterator[Area]:
    """Yield the areas, top to bottom, where crossing rules may separate columns."""
    if len(rules.level) > _MAX_RULES or len(rules.upright) > _MAX_RULES:
        return
    areas = []
    for level, upright in _group_connected(rules):
        x0, x1 = min(r.start for r in level), max(r.end for r in level)
        x0, x1 = min(x0, *(r.at for r in upright)), max(x1, *(r.at for r in upright))
        y0, y1 = min(r.start for r in upright), max(r.end for r in upright)
        y0, y1 = min(y0, *(r.at for r in level)), max(y1, *(r.at for r in level))
        inner = any(x0 + _TOUCH_POINTS < r.at < x1 - _TOUCH_POINTS for r in upright)
        if len(level) > 1 and inner:
            areas.append(Area(x0, y0, x1, y1))
    yield from sorted(areas, key=lambda area: (area.y0, area.x0))


def _extend_open_rows(area: Area, spans: Sequence[LineSpan], level: Sequence[Rule]) -> Area:
    """Return the area with the rows below its last rule that stand as close as rows of a table do."""
    below = [s for s in spans if area.x0 - 2 <= s.x0 and s.x1 <= area.x1 + 2 and area.y1 < s.middle < area.y1 + 200]
    for row in make_text_rows(below):
        top, bottom = min(span.y0 for span in row), _measure_bottom(row)
        closed = any(area.y1 - 2 < r.at < top + 2 and r.end - r.start > 0.8 * (area.x1 - area.x0) for r in level)
        if len(row) < 2 or closed or top - area.y1 > row[0].size or not any(NUMBER_LIKE.match(s.text) for s in row[1:]):
            break
        area = replace(area, y1=bottom)
    return area


def _group_connected(rules: Rules) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield groups of level and upright rules that meet, directly or through others."""
    open_level, open_upright = list(rules.level), list(rules.upright)
    while open_upright:
        level: list[Rule] = []
        upright = [open_upright.pop()]
        new_level, new_upright = level, list(upright)
        while new_upright:
            new_level = [one for one in open_level if any(_is_crossing(one, other) for other in new_upright)]
            open_level = [one for one in open_level if one not in new_level]
            new_upright = [one for one in open_upright if any(_is_crossing(other, one) for other in new_level)]
            open_upright = [one for one in open_upright if one not in new_upright]
            level, upright = level + new_level, upright + new_upright
        if level:
            yield level, upright


def _is_crossing(level: Rule, upright: Rule) -> bool:
    return level.covers(upright.at) and upright.covers(level.at)


# -- aligned --------------------------------------------------------------------------------------------------------


def _find_aligned_rows(
    spans: Sequence[LineSpan], line_of: Mapping[int, int], prose: Collection[int], level: Sequence[Rule], step: float
) -> Iterator[list[TextRow]]:
    """Yield runs of rows that look like a table."""
    rows = list(_make_rows([span for span in spans if line_of[id(span)] not in prose], line_of))
    used: set[int] = set()
    for start, row in enumerate(rows):
        if start in used or len(row) < 2:
            continue
        run = _trim_run(_find_run(rows, start, used, line_of, step), rows)
        run = _add_heads(run, rows, used, level)
        if _is_table([rows[number] for number in run]):
            used.update(run)
            yield [rows[number] for number in run]


def _make_rows(spans: Sequence[LineSpan], line_of: Mapping[int, int]) -> Iterator[TextRow]:
    """Yield rows of text; spans side by side in two columns of the page are two rows."""
    for row in make_text_rows(spans):
        part: TextRow = []
        for span in row:
            far = part and abs(line_of[id(span)] - line_of[id(part[-1])]) > _MAX_ORDER_GAP_LINES
            if far and not NUMBER_LIKE.match(span.text):
                yield part
                part = []
            part.append(span)
        yield part


def _trim_run(run: list[int], rows: Sequence[TextRow]) -> list[int]:
    """Return the run without titles above and notes below: they reach from the left over most columns."""
    widest = max((rows[number] for number in run), key=len)

    def is_above(row: TextRow) -> bool:
        lone = len(row) == 1 and row[0].x0 < widest[0].x0 + row[0].size
        return lone or _is_beside(row, widest) or _CAPTION.match(row[0].text) is not None

    while run and is_above(rows[run[0]]):
        run = run[1:]

    def is_note(row: TextRow) -> bool:
        return len(row) == 2 and _NOTE.fullmatch(row[0].text) is not None and len(row[1].text) > _MAX_SHORT_NOTE_CHARS

    while run and (_is_beside(rows[run[-1]], widest) or is_note(rows[run[-1]])):
        run = run[:-1]
    return run


def _is_beside(row: TextRow, columns: TextRow) -> bool:
    """Return True where a row does not fit the columns: it begins at the left and reaches over most of them."""
    over = sum(span.x0 < row[0].x1 - 2 for span in columns)
    at_left = row[0].x0 < columns[0].x0 + row[0].size
    return at_left and over > max(1, len(columns) / 2) and not NUMBER_LIKE.match(row[0].text)


def _add_heads(run: list[int], rows: Sequence[TextRow], used: set[int], level: Sequence[Rule]) -> list[int]:
    """Return the run with the close lines above that begin column names, or stand over several, but not at the left."""
    while run:
        first = rows[run[0]]
        x0, x1 = min(rows[number][0].x0 for number in run), max(rows[number][-1].x1 for number in run)
        above = next((n for n in range(run[0] - 1, -1, -1) if rows[n][0].x0 < x1 and rows[n][-1].x1 > x0), None)
        if above is None or above in used:
            break
        row = rows[above]
        down = min(span.y0 for span in first) - min(span.y0 for span in row)
        ruled = any(
            _measure_bottom(row) - 2 < r.at < first[0].middle and r.covers((row[0].x0 + row[-1].x1) / 2) for r in level
        )
        # Text centred over the whole table is its title.
        seconds = [rows[number][1].x0 for number in run if len(rows[number]) > 1 and rows[number][0].x0 < x0 + 20]
        left = max(x0 + 2 * row[0].size, min(seconds, default=x0) - 3 * row[0].size)
        inside = row[0].x0 > left and row[-1].x1 < x1 + row[0].size
        larger = row[0].size > 1.1 * first[0].size
        if not inside or larger or down > (_LEADING_SIZES + ruled) * row[0].size:
            break
        run = [above, *run]
    return run


def _find_prose(lines: Sequence[Line]) -> set[int]:
    """Return the lines of paragraphs: several lines of nearly one width below each other, with nothing beside them."""
    found: set[int] = set()
    run: list[int] = []
    for number, line in enumerate(lines):
        if run and not _is_same_paragraph(lines[run[-1]], line):
            found.update(_select_prose(run, lines))
            run = []
        if len(line.spans) == 1:
            run.append(number)
    found.update(_select_prose(run, lines))
    return found


def _is_same_paragraph(above: Line, line: Line) -> bool:
    down = line.y0 - above.y0
    return len(line.spans) == 1 and 0 < down < 2.2 * line.size and abs(line.x0 - above.x0) < 2.5 * line.size


def _select_prose(run: Sequence[int], lines: Sequence[Line]) -> Sequence[int]:
    widths = [lines[number].x1 - lines[number].x0 for number in run]
    if len(run) < _MIN_PROSE_LINES or max(widths) < _MIN_NARROW_PROSE_POINTS or median(widths) < 0.7 * max(widths):
        return ()
    if max(widths) < _MIN_PROSE_WIDTH_POINTS:
        # A cell may wrap as well, but seldom so often in the middle of a sentence.
        going_on = sum(lines[number].text[:1].islower() for number in run[1:])
        return run if len(run) > 2 * _MIN_PROSE_LINES and going_on >= 0.5 * (len(run) - 1) else ()
    return run


def _find_run(
    rows: Sequence[TextRow], start: int, used: set[int], line_of: Mapping[int, int], step: float
) -> list[int]:
    """Return the rows from `start` on without a wide gap between them, up to the last one with several cells."""
    run, last_full, x0, x1, bottom = [start], 0, rows[start][0].x0, rows[start][-1].x1, _measure_bottom(rows[start])
    for number in range(start + 1, len(rows)):
        row = rows[number]
        far = abs(line_of[id(row[0])] - line_of[id(rows[run[-1]][0])]) > _MAX_ORDER_GAP_LINES
        if number in used or (far and (row[0].x0 > x1 or row[-1].x1 < x0)):
            continue
        gap = min(span.y0 for span in row) - bottom
        if gap > 3 * step or _is_next_table(row, [rows[n] for n in run], x0, gap, step):
            break
        if len(row) > 1:
            last_full = len(run)
        elif _is_table_end(row, rows[run[last_full]], len(run) - last_full):
            break
        run.append(number)
        x0, x1, bottom = min(x0, row[0].x0), max(x1, row[-1].x1), max(bottom, _measure_bottom(row))
    tail = run[last_full + 1 : last_full + 2]
    return run[: last_full + 1] + [number for number in tail if _is_name_end(rows[run[last_full]], rows[number][0], x0)]


def _is_table_end(row: TextRow, full: TextRow, lone: int) -> bool:
    """Return True if a single line is prose after the table: long, or one of many that are in no column.

    Some short ones may belong to a cell that wraps, or name the rows below.
    """
    most = 2 if row[0].x1 > full[-1].x0 else 4
    return lone > most or len(row[0].text) > _MIN_PROSE_CHARS or _is_beside(row, full)


def _is_name_end(above: TextRow, span: LineSpan, x0: float) -> bool:
    """Return True where a lone last line is the end of the name of the row above it."""
    down = (span.y1 - above[0].y1) / span.size
    near = down < HALF_LINE_SIZES or (down < _LEADING_SIZES and CONTINUED_LINE.match(span.text) is not None)
    return near and abs(span.x0 - x0) < span.size


def _is_next_table(row: TextRow, run: Sequence[TextRow], x0: float, gap: float, step: float) -> bool:
    """Return True for the first row of the next table: years, or a heading over columns behind a blank line."""
    if len(row) > 2 and all(YEAR.fullmatch(span.text) for span in row[1:]):
        return sum(_has_figures(above) for above in run) > 1
    indented = row[0].x0 > x0 + 2 * row[0].size
    return gap > 1.2 * step and len(row) == 1 and indented and not _has_figures(row) and len(run[-1]) > 1


def _has_figures(row: TextRow) -> bool:
    return any(NUMBER_LIKE.fullmatch(span.text) and not YEAR.fullmatch(span.text) for span in row)


def _measure_bottom(row: TextRow) -> float:
    return max(span.y1 for span in row)


def _is_table(rows: Sequence[TextRow]) -> bool:
    full = [row for row in rows if len(row) > 1]
    texts = [span.text for row in full for span in row]
    # Two columns of prose are aligned too, but their cells are long.
    wordy = sum(len(text) > 60 for text in texts) > 0.35 * len(texts)
    figures = sum(1 for text in texts if NUMBER_LIKE.match(text))
    # Words alone must be in columns throughout: those of a drawing are side by side only here and there.
    lengths = Counter(map(len, full))
    scattered = not figures and max(lengths.values(), default=0) < 0.6 * len(rows)
    few = len(full) == 2 and (figures < 2 or max(lengths) < 3)
    return len(full) >= 2 and not wordy and not scattered and not few
