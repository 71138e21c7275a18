"""Spaces that PDFium detects inside spaced-out words: identified by the line's own gaps."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from argot.corpus.readers.pdf_ligatures import Place

_MIN_LETTERS = 5
_ADVANCE_TOLERANCE = 0.05
"""In usual steps from letter to letter: letters with such equal steps have one advance."""
_MIN_SAME_ADVANCE_SHARE = 0.7
_WORD_ADVANCE_RATIO = 1.5
_WORD_GAP_RATIO = 1.3
"""Ratio to the usual gap between letters from which it is a gap between words."""
_MIN_WORD_GAP = 0.12
"""In font sizes: the minimum difference."""
_MIN_SPACED_GAP = 0.06
"""In font sizes: letters with such a gap between them are spaced out."""
_MAX_GAP_SHARE = 0.3
"""Share of the gaps between letters that PDFium read as spaces: more than words have."""
_MIN_LETTER_SHARE = 0.8
"""Letters of a text that is judged only by its gaps."""


@dataclass(frozen=True, slots=True)
class GappedText:
    """The characters of a run, the index of each in the text page, and the places of spaces that the file lacks."""

    text: Sequence[str]
    indices: Sequence[int]
    gaps: Sequence[int]
    size: float


@dataclass(frozen=True, slots=True)
class _Step:
    """The step from one letter to the next; `place`: index of the space between them in the text, -1 without one."""

    gap: float
    advance: float
    place: int
    typed: bool


def find_false_spaces(run: GappedText, handle: Any, place: Place) -> set[int]:
    """Return the places of spaces that stand inside words.

    Spaces of the file itself separate words. Of the others those count whose gap is wide compared with the line's gaps
    between letters.
    """
    typed = run.text.count(" ") - len(run.gaps)
    letters = len(run.text) - run.text.count(" ")
    if letters < _MIN_LETTERS or (not typed and not _is_cut_often(run, letters)):
        return set()
    steps = _measure_steps(run, handle, place)
    inside = [step for step in steps if not step.typed]
    if not inside:
        return set()
    advance, gap = median(step.advance for step in inside), median(step.gap for step in inside)
    alike = sum(abs(step.advance - advance) <= _ADVANCE_TOLERANCE * advance for step in inside)
    # All figures of a font have equal steps, whatever the advance of its letters.
    words = sum(char.isalpha() for char in run.text)
    if advance > 0 and words > letters / 2 and alike >= _MIN_SAME_ADVANCE_SHARE * len(inside):
        return {step.place for step in inside if step.place >= 0 and step.advance < _WORD_ADVANCE_RATIO * advance}
    if gap < _MIN_SPACED_GAP * run.size:
        return set()
    border = max(_WORD_GAP_RATIO * gap, gap + _MIN_WORD_GAP * run.size)
    return {step.place for step in inside if step.place >= 0 and step.gap < border}


def _is_cut_often(run: GappedText, letters: int) -> bool:
    """Return whether so many gaps count as spaces that they can hardly all be; figures may well be separate."""
    return (
        len(run.gaps) >= _MAX_GAP_SHARE * (letters - 1)
        and sum(char.isalpha() for char in run.text) >= _MIN_LETTER_SHARE * letters
    )


def _measure_steps(run: GappedText, handle: Any, place: Place) -> list[_Step]:
    spaces = {number for number, char in enumerate(run.text) if char == " "}
    gaps = set(run.gaps)
    letters = [number for number in range(len(run.text)) if number not in spaces]
    boxes = [_measure_room(handle, run.indices[number], place) for number in letters]
    steps = []
    for (one, other), (box, next_box) in zip(pairwise(letters), pairwise(boxes), strict=True):
        between = other - 1 if other - one > 1 else -1
        steps.append(_Step(next_box[0] - box[1], next_box[0] - box[0], between, between >= 0 and between not in gaps))
    return steps


def _measure_room(handle: Any, index: int, place: Place) -> tuple[float, float]:
    """Return the left and right end of a character's advance: its width in its font, not the drawn one."""
    import pypdfium2.raw as pdfium

    room = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(handle, index, ctypes.byref(room))
    x0, _, x1, _ = place(room.left, room.bottom, room.right, room.top)
    return x0, x1
