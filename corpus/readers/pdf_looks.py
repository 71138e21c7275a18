"""Visual properties of PDF text that indicate watermarks and rotated text: its angle, its colour, and its marks."""

from __future__ import annotations

import ctypes
import math
from typing import Any, NamedTuple

_MIN_PALE_BRIGHTNESS = 150
"""Of 255: the brightness from which a colour indicates a watermark rather than text."""
_MIN_OPACITY = 160
"""Opacity, of 255: less lets the page show through."""


class Look(NamedTuple):
    """Degrees clockwise on the page as it is shown; a pale colour; a mark as header, footer or watermark."""

    angle: int = 0
    faint: bool = False
    artifact: bool = False


class Looks:
    """The looks of the characters of PDFium's text page, on a page that is turned by so many degrees."""

    def __init__(self, handle: Any, turn: int) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium, self._handle, self._turn = pdfium, handle, turn
        # For every piece of text: building them again takes longer than the query.
        self._colour = [ctypes.c_uint() for _ in range(4)]
        self._refs = [ctypes.byref(value) for value in self._colour]

    def of(self, index: int) -> Look:
        angle = round(math.degrees(self._pdfium.FPDFText_GetCharAngle(self._handle, index)) + self._turn) % 360
        faint = False
        if self._pdfium.FPDFText_GetFillColor(self._handle, index, *self._refs):
            red, green, blue, opaque = (value.value for value in self._colour)
            faint = 0.3 * red + 0.59 * green + 0.11 * blue >= _MIN_PALE_BRIGHTNESS or opaque < _MIN_OPACITY
        return Look(angle, faint, _is_marked(self._pdfium, self._pdfium.FPDFText_GetTextObject(self._handle, index)))


def _is_marked(pdfium: Any, shape: Any) -> bool:
    """Return whether the text is in an artifact of a header, a footer or a watermark: no others have a subtype."""
    count = pdfium.FPDFPageObj_CountMarks(shape) if shape else 0
    for number in range(count):
        mark = pdfium.FPDFPageObj_GetMark(shape, number)
        length = ctypes.c_ulong()
        name = ctypes.create_string_buffer(64)
        pdfium.FPDFPageObjMark_GetName(mark, ctypes.cast(name, ctypes.POINTER(ctypes.c_ushort)), 64, length)
        if name.raw[: length.value].decode("utf-16-le", "replace").rstrip("\0") != "Artifact":
            continue
        # PDFium reports that there is one, but not which name.
        if pdfium.FPDFPageObjMark_GetParamValueType(mark, b"Subtype"):
            return True
    return False
