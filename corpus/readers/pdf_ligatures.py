"""Ligatures that a PDF encodes as one of their letters (`signiicant`): detected by the drawn width."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

LIGATURE_WIDTHS = {"i": 0.36, "l": 0.36, "f": 0.52}
"""Font sizes: a letter drawn wider may be a ligature, and is checked."""
_MAX_SLIM_RATIO = 0.6
"""Share of a ligature's width that a letter of its font does not exceed."""
_THREE_LETTER_WIDTH = 0.62
"""Width of a ligature of two letters as a share of one of three."""
_MAX_LEVEL_RADIANS = 0.1
"""Radians that a text may be turned by."""
Place = Callable[[float, float, float, float], tuple[float, float, float, float]]


def read_font_name(handle: Any, index: int) -> bytes:
    """Return the font name of a character of PDFium's text page, in lower case."""
    import pypdfium2.raw as pdfium

    buffer = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(handle, index, buffer, 128, ctypes.byref(ctypes.c_int()))
    return bytes(buffer.value.lower())


class Ligatures:
    """The ligatures of one page: `handle` is PDFium's text page, `place` maps its coordinates to ours."""

    def __init__(self, handle: Any, count: int, place: Place) -> None:
        self._handle, self._count, self._place = handle, count, place
        self._slimmest: dict[tuple[bytes, str], float] = {}

    def restore_letters(self, index: int, char: str, width: float) -> str:
        """Return the letters drawn for a character `width` points wide; itself if its font draws it that wide."""
        import pypdfium2.raw as pdfium

        # Upright text is measured across; and the letters of one ligature all have its position.
        if pdfium.FPDFText_GetCharAngle(self._handle, index) > _MAX_LEVEL_RADIANS or self._is_in_ligature(index):
            return char
        size = self._read_size(index)
        font = read_font_name(self._handle, index)
        if (font, char) not in self._slimmest:
            self._slimmest[font, char] = self._measure_narrowest(font, char)
        slimmest = self._slimmest[font, char] * size
        if slimmest > _MAX_SLIM_RATIO * width:
            return char
        return f"f{char}" if char == "f" or width < _THREE_LETTER_WIDTH * size else f"ff{char}"

    def _measure_narrowest(self, font: bytes, char: str) -> float:
        """Return the least width of a character on the page, in font sizes."""
        import pypdfium2.raw as pdfium

        same = (index for index in range(self._count) if pdfium.FPDFText_GetUnicode(self._handle, index) == ord(char))
        return min(
            self._measure_width(index) / self._read_size(index)
            for index in same
            if read_font_name(self._handle, index) == font
        )

    def _is_in_ligature(self, index: int) -> bool:
        here = self._read_box(index)
        return any(0 <= other < self._count and self._read_box(other) == here for other in (index - 1, index + 1))

    def _measure_width(self, index: int) -> float:
        box = self._read_box(index)
        return box[2] - box[0]

    def _read_box(self, index: int) -> tuple[float, float, float, float]:
        import pypdfium2.raw as pdfium

        corners = [ctypes.c_double() for _ in range(4)]
        pdfium.FPDFText_GetCharBox(self._handle, index, *map(ctypes.byref, corners))
        left, right, bottom, top = (corner.value for corner in corners)
        return self._place(left, bottom, right, top)

    def _read_size(self, index: int) -> float:
        import pypdfium2.raw as pdfium

        size, matrix = float(pdfium.FPDFText_GetFontSize(self._handle, index)), pdfium.FS_MATRIX()
        if pdfium.FPDFText_GetMatrix(self._handle, index, ctypes.byref(matrix)):
            size *= max(abs(matrix.d), abs(matrix.b)) or 1.0
        return size or 1.0
