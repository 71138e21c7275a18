"""The lines of a PDF page, with their places and fonts, as PDFium sees the text."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

from argot.corpus.readers.pdf_ligatures import LIGATURE_WIDTHS, Ligatures, Place, read_font_name
from argot.corpus.readers.pdf_looks import Look, Looks
from argot.corpus.readers.pdf_spaces import GappedText, find_false_spaces

HYPHEN = "\x02"
"""PDFium's character for a hyphen at a line end that splits a word."""
# Maximum characters of one page. A page of text has some thousands; more is a drawing made of letters.
_MAX_CHARS = 200_000
_COLUMN_GAP_SIZES = 1.15
"""Gaps wider than this many font sizes separate cells; word spaces are 0.2 to 0.5, justified ones up to 1."""
_MAX_NUMBER_CHARS = 3  # of a step, with its mark
_POWER_SIGNS = {"2": "²", "3": "³"}
_UNIT_END = re.compile(r"(?<![^\W\d_])(?:[cdkm]?m|ft|in|yd|s)$")
_MIN_RAISED_SHARE = 0.25
"""In font sizes: how far a raised number ends above the line's lowest letters; and its maximum height."""
_MAX_RAISED_HEIGHT = 0.6
_SHORT_PIECE_CHARS = 2
_MOSTLY = 0.6
_MIN_GAPS = 3
_SPACED_GAP_SIZES = 2.2
"""Font sizes: the widest gap between words whose letters are spaced out."""
_MONO_FONTS = (b"courier", b"mono", b"consol", b"typewriter", b"menlo", b"cmtt")


@dataclass(frozen=True, slots=True)
class LineSpan:
    """A piece of text on one line without wide gaps. Points, origin in the top left corner."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool = False
    mono: bool = False
    raised: tuple[int, ...] = ()
    """Offset in the text of a small number above the line: a note's mark, or a power."""
    spaces: tuple[tuple[int, float, float], ...] = ()
    """Word beginnings after a space: offset in the text, end of the previous word, start of this one."""
    angle: int = 0
    """Degrees by which the text is turned clockwise on the page as shown."""
    faint: bool = False
    """Drawn in a pale colour, or partly transparent."""
    artifact: bool = False
    """Marked as a header, a footer or a watermark by the program that wrote the file."""

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2

    @property
    def marked_text(self) -> str:
        """The text with a caret before each note's mark, and squares and cubes of units as such."""
        text = self.text
        for place in reversed(self.raised):
            digits = re.match(r"\d*", text[place:])
            number = digits[0] if digits else ""
            before, after = text[:place], text[place + len(number) :]
            if number in _POWER_SIGNS and _UNIT_END.search(before):
                text = f"{before}{_POWER_SIGNS[number]}{after}"
            else:
                # The mark at a note itself may have its own dot.
                text = f"{before}^{number}{after}" if before else f"^{number} {after.lstrip('.) ')}"
        return text

    def cut_at(self, x: float) -> tuple[LineSpan, ...]:
        """Return the parts left and right of `x`, if it is between two words; else the whole span."""
        for number, (offset, end, begin) in enumerate(self.spaces):
            if end - 1 <= x <= begin + 1:
                after = tuple((place - offset, left, right) for place, left, right in self.spaces[number + 1 :])
                before = replace(self, text=self.text[:offset].rstrip(), x1=end, spaces=self.spaces[:number], raised=())
                return before, replace(self, text=self.text[offset:], x0=begin, spaces=after, raised=())
        return (self,)


@dataclass(frozen=True, slots=True)
class Line:
    """Text side by side: one span of prose, or the cells of a table row."""

    spans: tuple[LineSpan, ...]

    @property
    def text(self) -> str:
        return " ".join(span.text for span in self.spans)

    @property
    def marked_text(self) -> str:
        return " ".join(span.marked_text for span in self.spans)

    @property
    def mono(self) -> bool:
        """True where the whole line is set in a monospaced font, as code is."""
        return all(span.mono for span in self.spans)

    @property
    def x0(self) -> float:
        return min(span.x0 for span in self.spans)

    @property
    def x1(self) -> float:
        return max(span.x1 for span in self.spans)

    @property
    def y0(self) -> float:
        return min(span.y0 for span in self.spans)

    @property
    def y1(self) -> float:
        return max(span.y1 for span in self.spans)

    @property
    def size(self) -> float:
        return max(self.spans, key=lambda span: len(span.text)).size

    @property
    def bold(self) -> bool:
        return all(span.bold for span in self.spans)


def read_spans(page: Any) -> list[LineSpan]:
    """Return the pieces of text in the order of the page's content.

    That is the reading order in nearly every program's PDF.
    """
    textpage = page.get_textpage()
    try:
        return list(_iter_spans(page, textpage))
    finally:
        textpage.close()


def _iter_spans(page: Any, textpage: Any) -> Iterator[LineSpan]:
    import pypdfium2.raw as pdfium

    handle = textpage.raw
    place = make_place(page)
    looks = Looks(handle, page.get_rotation())
    count = min(textpage.count_chars(), _MAX_CHARS)
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    refs = [ctypes.byref(value) for value in (left, right, bottom, top)]
    run = _Run()
    ligatures = Ligatures(handle, count, place)
    space = typed = broken = False
    for index in range(count):
        code = pdfium.FPDFText_GetUnicode(handle, index)
        # Broken fonts return numbers that are no characters.
        char = chr(code) if code < 0x110000 else "\ufffd"
        if code in (0x0D, 0x0A):
            if run.is_cut_short and _is_short_piece(pdfium, handle, index + 1):
                space = broken = True
                continue
            yield from _finish_run(run, handle, place)
            space = typed = False
            continue
        # PDFium's two marks for a hyphen at a line end.
        if code in (0xFFFE, 0x02):
            char = HYPHEN
        if char.isspace() or code == 0:
            # PDFium adds its own spaces where it detects a gap.
            typed = typed or not pdfium.FPDFText_IsGenerated(handle, index)
            space = True
            continue
        if not pdfium.FPDFText_GetCharBox(handle, index, *refs):
            continue
        box = place(left.value, bottom.value, right.value, top.value)
        if broken:
            broken = False
            if not run.is_continued_at(box):
                yield from _finish_run(run, handle, place)
                space = typed = False
        # Only where a break is likely, and every 32 characters.
        check = run.text and (space or index % 32 == 0 or not run.near(box))
        if check and run.is_broken_by(box, _COLUMN_GAP_SIZES * max(run.size, 4.0)) and run.is_broken_by(box, run.reach):
            yield from _finish_run(run, handle, place)
        # Many programs set the number of a step larger than the step.
        length = len(run.text)
        if length <= _MAX_NUMBER_CHARS and (not length or (run.is_number and (space or not char.isdigit()))):
            run.start(*_read_font(pdfium, handle, index, box), box[3])
        if not length:
            run.look = looks.of(index)
        if char in LIGATURE_WIDTHS and box[2] - box[0] > LIGATURE_WIDTHS[char] * run.size:
            char = ligatures.restore_letters(index, char, box[2] - box[0])
        run.add(char, box, index, space=space, typed=typed)
        space = typed = False
    yield from _finish_run(run, handle, place)


def _is_short_piece(pdfium: Any, handle: Any, index: int) -> bool:
    """Return whether PDFium separates hardly a letter from the following text, after the second character of a line
    end.
    """
    codes = (pdfium.FPDFText_GetUnicode(handle, index + ahead) for ahead in range(2, _SHORT_PIECE_CHARS + 2))
    return any(code in (0x0D, 0x0A, 0x20) for code in codes)


def _finish_run(run: _Run, handle: Any, place: Place) -> Iterator[LineSpan]:
    """Yield the run as a span, without the spaces that PDFium inserted within its words."""
    if run.gaps:
        run.drop_spaces(find_false_spaces(GappedText(run.text, run.indices, run.gaps, run.size), handle, place))
    yield from run.flush()


def _read_font(
    pdfium: Any, handle: Any, index: int, box: tuple[float, float, float, float]
) -> tuple[float, bool, bool]:
    """Return the size in points, True if it is bold, and True if it is monospaced.

    Many programs scale fonts of size 1 by a matrix: both count.
    """
    size = float(pdfium.FPDFText_GetFontSize(handle, index))
    matrix = pdfium.FS_MATRIX()
    if pdfium.FPDFText_GetMatrix(handle, index, ctypes.byref(matrix)):
        size *= max(abs(matrix.d), abs(matrix.b)) or 1.0
    bold = pdfium.FPDFText_GetFontWeight(handle, index) >= 600
    # Many fonts show their style only in their name.
    name = read_font_name(handle, index)
    bold = bold or b"bold" in name or b"black" in name or b"heavy" in name
    mono = any(part in name for part in _MONO_FONTS)
    # Rounded to half a point, so that rounding errors do not look like another size.
    return round(size * 2) / 2 or max(1.0, box[3] - box[1]), bold, mono


def make_place(page: Any) -> Place:
    """Return a function from PDF coordinates (origin bottom left, unrotated) to points from the shown top left."""
    x_left, y_bottom, x_right, y_top = page.get_cropbox()
    turn = page.get_rotation()

    def place(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        if turn == 90:
            return y0 - y_bottom, x0 - x_left, y1 - y_bottom, x1 - x_left
        if turn == 180:
            return x_right - x1, y0 - y_bottom, x_right - x0, y1 - y_bottom
        if turn == 270:
            return y_top - y1, x_right - x1, y_top - y0, x_right - x0
        return x0 - x_left, y_top - y1, x1 - x_left, y_top - y0

    return place


class _Run:
    """Characters that follow each other on one line."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.spaces: list[tuple[int, float, float]] = []
        self.raised: list[int] = []
        self.indices: list[int] = []
        """Index of each character in the text page; a space has that of the next character."""
        self.gaps: list[int] = []
        """Offsets in the text of spaces that PDFium inserted."""
        self.look = Look()
        self.size, self.bold, self.mono = 10.0, False, False
        self.x0 = self.y0 = self.x1 = self.y1 = 0.0

    def start(self, size: float, bold: bool, mono: bool, bottom: float) -> None:
        # A number before larger letters is a note's mark, if it ends above them.
        if self.text and size > 1.2 * self.size and self.y1 < bottom - 0.1 * size and not self.raised:
            self.raised.append(0)
        self.size, self.bold, self.mono = size, bold, mono

    @property
    def is_number(self) -> bool:
        return all(char.isdigit() or char in ".)" for char in self.text)

    @property
    def is_cut_short(self) -> bool:
        """Return whether PDFium ends a line here after hardly a letter, as it does if each was placed separately."""
        pieces = "".join(self.text).split()
        short = sum(len(piece) <= _SHORT_PIECE_CHARS for piece in pieces)
        last = pieces[-1] if pieces else ""
        return last.isalpha() and len(last) <= _SHORT_PIECE_CHARS and short > _MOSTLY * len(pieces)

    @property
    def reach(self) -> float:
        """Maximum points to the next letter of the run."""
        spaced = len(self.gaps) >= max(_MIN_GAPS, (len(self.text) - len(self.gaps)) / 2)
        return (_SPACED_GAP_SIZES if spaced else _COLUMN_GAP_SIZES) * max(self.size, 4.0)

    def is_continued_at(self, box: tuple[float, float, float, float]) -> bool:
        return abs(box[3] - self.y1) < 0.3 * self.size and -0.3 * self.size < box[0] - self.x1 < self.reach

    def near(self, box: tuple[float, float, float, float]) -> bool:
        return -0.5 * self.size < box[0] - self.x1 < 0.5 * self.size

    def is_broken_by(self, box: tuple[float, float, float, float], gap: float) -> bool:
        middle = (box[1] + box[3]) / 2
        off_line = not self.y0 - 0.4 * self.size <= middle <= self.y1 + 0.4 * self.size
        # A wide gap to the right is the next cell, a jump back to the left the next line or column.
        return off_line or box[0] - self.x1 > gap or box[0] < self.x0 - self.size

    def add(self, char: str, box: tuple[float, float, float, float], index: int, *, space: bool, typed: bool) -> None:
        if not self.text:
            self.x0, self.y0, self.x1, self.y1 = box
        else:
            if space:
                if not typed:
                    self.gaps.append(len(self.text))
                self.text.append(" ")
                self.indices.append(index)
                self.spaces.append((len(self.text), self.x1, box[0]))
            if "0" <= char <= "9" and self._is_raised(box):
                self.raised.append(len(self.text))
            x0, y0, x1, y1 = box
            # For every character of a document: `min` and `max` take several times as long.
            self.x0 = x0 if x0 < self.x0 else self.x0
            self.y0 = y0 if y0 < self.y0 else self.y0
            self.x1 = x1 if x1 > self.x1 else self.x1
            self.y1 = y1 if y1 > self.y1 else self.y1
        self.text.append(char)
        self.indices.append(index)

    def drop_spaces(self, places: Set[int]) -> None:
        """Remove the spaces at these offsets from the text."""
        if not places:
            return

        def move_offset(offset: int) -> int:
            return offset - sum(place < offset for place in places)

        self.spaces = [
            (move_offset(offset), end, begin) for offset, end, begin in self.spaces if offset - 1 not in places
        ]
        self.raised = [move_offset(offset) for offset in self.raised]
        self.text = [char for place, char in enumerate(self.text) if place not in places]

    def _is_raised(self, box: tuple[float, float, float, float]) -> bool:
        """Return True for the first digit of a number that is set small and high."""
        high = box[3] < self.y1 - _MIN_RAISED_SHARE * self.size and box[3] - box[1] < _MAX_RAISED_HEIGHT * self.size
        # Letters of a text that runs upwards are high, too, but not beside each other.
        return high and box[0] > self.x1 - 1 and not (self.raised and self.text[-1].isdigit())

    def flush(self) -> Iterator[LineSpan]:
        if self.text:
            box = (self.x0, self.y0, self.x1, self.y1)
            text = "".join(self.text)
            marks = tuple(self.raised), tuple(self.spaces)
            angle, faint, artifact = self.look
            yield LineSpan(text, *box, self.size, self.bold, self.mono, *marks, angle, faint, artifact)
            self.text, self.spaces, self.raised, self.indices, self.gaps = [], [], [], [], []


def measure_body_size(lines: list[Line]) -> float:
    """Return the font size of most characters, in points."""
    weights: dict[float, int] = {}
    for line in lines:
        weights[line.size] = weights.get(line.size, 0) + len(line.text)
    return max(weights, key=lambda size: weights[size], default=10.0)


def measure_line_step(lines: Sequence[Line]) -> float:
    """Return the usual distance from one line to the next, in points."""
    steps = [after.y0 - before.y0 for before, after in pairwise(lines)]
    # Leaves out lines side by side and jumps to the next column or block.
    steps = [step for step in steps if 2 < step < 40]
    return median(steps) if steps else 12.0
