"""The look of PDF text that tells watermarks and text on its side: its angle, its colour, and its marks."""

from __future__ import annotations

import ctypes
import math
from typing import Any, NamedTuple

_PALE = 150
"""Of 255: the brightness from which a colour is a watermark's rather than a text's."""
_OPAQUE = 160
"""Of 255: what is drawn with less lets the page show through."""


class Look(NamedTuple):
    """Degrees clockwise on the page as it is shown; a pale colour; a mark as header, footer or watermark."""

    angle: int = 0
    faint: bool = False
    artifact: bool = False


def look_of(handle: Any, index: int, turn: int) -> Look:
    """Return the look of a character of PDFium's text page, on a page that is turned by so many degrees."""
    import pypdfium2.raw as pdfium

    angle = round(math.degrees(pdfium.FPDFText_GetCharAngle(handle, index)) + turn) % 360
    red, green, blue, opaque = (ctypes.c_uint() for _ in range(4))
    faint = False
    if pdfium.FPDFText_GetFillColor(handle, index, *map(ctypes.byref, (red, green, blue, opaque))):
        light = 0.3 * red.value + 0.59 * green.value + 0.11 * blue.value
        faint = light >= _PALE or opaque.value < _OPAQUE
    return Look(angle, faint, _is_marked(pdfium, pdfium.FPDFText_GetTextObject(handle, index)))


def _is_marked(pdfium: Any, shape: Any) -> bool:
    """Tell whether the text stands in an artifact of a header, a footer or a watermark: no others have a subtype."""
    count = pdfium.FPDFPageObj_CountMarks(shape) if shape else 0
    for number in range(count):
        mark = pdfium.FPDFPageObj_GetMark(shape, number)
        length = ctypes.c_ulong()
        name = ctypes.create_string_buffer(64)
        pdfium.FPDFPageObjMark_GetName(mark, ctypes.cast(name, ctypes.POINTER(ctypes.c_ushort)), 64, length)
        if name.raw[: length.value].decode("utf-16-le", "replace").rstrip("\0") != "Artifact":
            continue
        # PDFium tells that there is one, but of names not which.
        if pdfium.FPDFPageObjMark_GetParamValueType(mark, b"Subtype"):
            return True
    return False
